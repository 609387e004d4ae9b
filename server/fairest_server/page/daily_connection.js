// Our attempt at a daily deal, over the network. Every request may be sent again: a second `daily` leads to the same attempt,
// and a move has its number.
import { STATUS } from "./connection.js";
import { afterView, beginDaily, checkDay } from "./daily_game.js";
import { RequestConnection } from "./request_connection.js";
import { ownOf } from "./solo_game.js";
import { keepDailyNote, readDailyNote } from "./storage.js";

/** Refusals after which the attempt is read again: its time is over, or another page of ours has made a move. */
const STALE = ["race_over", "number_repeated", "number_old"];

/** Our attempt at the daily deal of a variant. `game` is null until the server has shown it. */
export class DailyConnection extends RequestConnection {
  game = null;
  #rules;

  /** `day` is that of an attempt which was begun before, null for today's. `onChange()` is called after each change. */
  constructor(rules, day, name, onChange) {
    super("daily", name, onChange);
    this.#rules = rules;
    this.#begin(day);
  }

  /** Whether a move can be sent: the one before is answered. */
  get mayMove() {
    return this.game !== null && !this.game.result && !this.isAsking("daily") && !this.isAsking("play_daily") && this.status !== STATUS.ENDED;
  }

  play(move) {
    if (!this.mayMove) return;
    const { rules, day } = this.game;
    this.sentence = "";
    const request = { type: "play_daily", rules, day, number: ownOf(this.game).moves + 1, move };
    this.ask(request, (view) => this.#show(afterView(this.game, view)), ({ code, sentence }) => {
      if (STALE.includes(code)) this.#begin(day);
      else this.sentence = sentence;
    });
  }

  #begin(day) {
    const begun = (view) => {
      checkDay(view.day, day, Date.now());
      this.#show(beginDaily(this.#rules, view, this.#known(view)));
    };
    this.ask({ type: "daily", rules: this.#rules, day }, begun, ({ sentence }) => this.end(sentence));
  }

  #show(game) {
    this.game = game;
    const { rules, day, seal, until_ms, result, scene } = game;
    const by_our_clock = until_ms - this.now + Date.now();
    keepDailyNote({ rules, day, name: this.name, seal, until_ms: by_our_clock, result, envelopes: scene.envelopes, moves: ownOf(game).moves });
  }

  /** Return what this browser was shown of the attempt before, or null. */
  #known({ rules, day }) {
    const note = readDailyNote(rules, day);
    return note?.name === this.name ? note : null;
  }
}
