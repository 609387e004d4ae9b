// A tournament as a player or a spectator follows it: asked for once a second, over any number of sockets. Every request may be
// sent again: to enter, to get ready and to show our bytes lead to the same state, and a move has its number.
import { drawHex } from "./bytes.js";
import { STATUS } from "./connection.js";
import {
  afterShown, hasEntered, isEnded, isRaceDealt, isReadyWanted, isRevealDue, knownTournament, newestOf, withEntropy,
} from "./known_tournament.js";
import { RequestConnection } from "./request_connection.js";
import { ownOf } from "./solo_game.js";
import { keepEntropy, readEntropies } from "./storage.js";
import { afterRace, beginRace, withRace } from "./tournament_game.js";
import { keepNote, readNote } from "./tournament_note.js";
import { commitEntrant } from "./tournament_rounds.js";

const ASK_MS = 1000;
/** Time until a race is asked for again that has not started by the server's clock. */
const EARLY_MS = 500;
const ENTROPY_BYTES = 32;
/** Refusals after which our race is read again: its time is over, or another page of ours has made a move. */
const STALE = ["race_over", "number_repeated", "number_old"];
/** Refusals of what may be asked for a time only: the next look shows what has become of it. */
const TOO_LATE = ["wrong_phase", "wrong_round", "not_entered"];

/** A tournament, and our race in it. `known` is null until the server has shown the tournament. */
export class TournamentConnection extends RequestConnection {
  known = null;
  /** Our race in the newest round in which we have begun one. */
  game = null;
  /** The cards placed in the races under way, by the names of their players, as {placed, ended}. */
  counts = new Map();
  /** Why the last request of the player was refused; empty if it was not. */
  refusal = "";
  #code;
  #drawn = {};
  /** The number of a round in which the server has refused us a race. */
  #refusedRace = 0;
  #kept = "";

  /** `onChange()` is called after each change. */
  constructor(code, onChange) {
    super("tournaments", null, onChange);
    this.#code = code;
    this.#watch();
  }

  /** Whether a move can be sent: the one before is answered. */
  get mayMove() {
    const isAsking = this.isAsking("race_tournament") || this.isAsking("play_tournament");
    return this.game !== null && !this.game.result && !isAsking && this.status !== STATUS.ENDED;
  }

  /** Enter the tournament, with another name if one is given. */
  enter(name) {
    this.refusal = "";
    const join = () => this.#request({ type: "join_tournament" });
    if (!name || name === this.name) {
      join();
      return;
    }
    this.introduce(name, () => {
      join();
      this.#watch();
    }, (sentence) => {
      this.refusal = sentence;
      this.#watch();
    });
  }

  /** Leave the tournament: for good, once it has begun. */
  leave() {
    this.#request({ type: "leave_tournament" });
  }

  /** Start the tournament, which we have created. */
  start() {
    this.#request({ type: "start_tournament" });
  }

  /** Get ready for the newest round, bound to bytes of ours, which are kept before their hash is sent. */
  getReady() {
    if (!isReadyWanted(this.known) || this.isAsking("ready_tournament")) return;
    const { round, number } = newestOf(this.known);
    const entropy = this.#entropyOf(round) ?? drawHex(ENTROPY_BYTES);
    this.#drawn[round] = entropy;
    keepEntropy(round, entropy);
    const request = { type: "ready_tournament", round: number, entropy_hash: commitEntrant(round, this.known.name, entropy) };
    this.#request(request, () => (this.known = withEntropy(this.known, number, entropy)));
  }

  /** Make a legal move in our race. */
  play(move) {
    if (!this.mayMove) return;
    this.sentence = "";
    const request = { type: "play_tournament", tournament: this.#code, round: this.game.number, number: ownOf(this.game).moves + 1, move };
    this.ask(request, (answer) => this.#race(afterRace(this.game, answer)), ({ code, sentence }) => {
      if (STALE.includes(code)) this.#askRace(this.game.number);
      else this.sentence = sentence;
    });
  }

  #entropyOf(round) {
    return this.#drawn[round] ?? readEntropies()[round];
  }

  /** Ask what is answered by the tournament. `taken()` is called before the answer is looked at. */
  #request(request, taken = () => null) {
    this.refusal = "";
    this.ask({ ...request, tournament: this.#code }, (shown) => {
      taken();
      this.#show(shown);
    }, ({ code, sentence }) => {
      const isLate = ["ready_tournament", "reveal_tournament"].includes(request.type) && TOO_LATE.includes(code);
      if (!isLate) this.refusal = sentence;
    });
  }

  #watch() {
    if (this.isAsking("watch_tournament") || this.status === STATUS.ENDED) return;
    const request = { type: "watch_tournament", tournament: this.#code, version: this.known?.shown.version ?? 0 };
    this.ask(request, (news) => {
      this.later(ASK_MS, () => this.#watch());
      if (news.type === "tournament") this.#show(news);
      else {
        this.counts = new Map(news.counts.map(({ name, ...count }) => [name, count]));
        this.#goOn();
      }
    }, ({ sentence }) => this.end(sentence));
  }

  #show(shown) {
    const known = this.known ?? this.#begin(shown);
    // A player who has not entered may have taken another name since.
    this.known = afterShown(hasEntered({ ...known, shown }) ? known : { ...known, name: this.name }, shown);
    this.counts = new Map();
    const own = newestOf(this.known)?.ready.find(({ name }) => name === this.known.name);
    const entropy = own && this.#entropyOf(newestOf(this.known).round);
    if (entropy && own.entropy_hash === commitEntrant(newestOf(this.known).round, own.name, entropy))
      this.known = withEntropy(this.known, newestOf(this.known).number, entropy);
    this.#keep();
    this.#goOn();
    if (isEnded(this.known)) this.end("");
  }

  /** Return the tournament as this browser was shown it before. */
  #begin({ tournament }) {
    const note = readNote(tournament, this.key, this.name);
    return note ? { ...knownTournament(note.name, note.rounds), taken: note.taken } : knownTournament(this.name);
  }

  #keep() {
    if (!hasEntered(this.known)) return;
    const { name, rounds, taken, shown: { tournament } } = this.known;
    const note = { tournament, key: this.key, name, rounds, taken };
    const text = JSON.stringify(note);
    if (text !== this.#kept) keepNote(note);
    this.#kept = text;
  }

  /** Do what the tournament waits for without our player: show our bytes, and begin the race. */
  #goOn() {
    const newest = newestOf(this.known);
    const entropy = newest && this.#entropyOf(newest.round);
    if (isRevealDue(this.known, entropy) && !this.isAsking("reveal_tournament"))
      this.#request({ type: "reveal_tournament", round: newest.number, entropy });
    if (!isRaceDealt(this.known) || this.game?.number === newest.number || this.#refusedRace === newest.number) return;
    if (newest.started_ms <= this.now) this.#askRace(newest.number);
    else this.later(newest.started_ms - this.now, () => this.#goOn());
  }

  /** Begin our race in a round, or come back to it. */
  #askRace(number) {
    if (this.isAsking("race_tournament")) return;
    const begun = (answer) => {
      const before = this.game?.number === number ? this.game : null;
      this.#race(beginRace(this.known.shown.rules, this.known.rounds[number], answer, before));
    };
    this.ask({ type: "race_tournament", tournament: this.#code, round: number }, begun, ({ code, sentence }) => {
      if (code === "race_not_started") this.later(EARLY_MS, () => this.#goOn());
      else [this.#refusedRace, this.refusal] = [number, sentence];
    });
  }

  #race(game) {
    this.game = game;
    const { rounds } = this.known;
    this.known = { ...this.known, rounds: { ...rounds, [game.number]: withRace(rounds[game.number], game) } };
    this.#keep();
  }
}
