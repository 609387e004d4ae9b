// A race of ours, alone on a sealed deal: the board, the time that is left, and the result.
import { alarm } from "./alarm.js";
import { cardOf, goalOf, mayRedeal, placedOn } from "./board.js";
import { BoardView, SeatHead } from "./board_view.js";
import { STATUS } from "./connection.js";
import { announce, make, setText } from "./dom.js";
import { click, press, targetsOf } from "./hand.js";
import { boardOf } from "./solo_game.js";
import { TEXT, clock } from "./texts.js";

const TICK_MS = 250;

/** The race that a connection plays: it has `game`, `mayMove`, `play(move)`, and what a `RequestConnection` has. */
export class SoloRaceView {
  #connection;
  #words;
  #picked = null;
  #isSure = false;
  #offered = "";
  #board = new BoardView((slot) => this.#may && this.#apply(click(boardOf(this.#connection.game), this.#picked, slot)));
  #head = new SeatHead();
  #status = make("p", { class: "status" });
  #sentence = make("p", { class: "sentence", role: "status" });
  #warning = make("p", { class: "warning", role: "alert" });
  #buttons = make("div", { class: "actions" });
  #result = make("div", { class: "daily-result" });
  #alarm = make("div");
  #timer = setInterval(() => this.#tick(), TICK_MS);
  #listening = new AbortController();
  element = make(
    "div", {}, this.#alarm, this.#warning, this.#status, this.#sentence, this.#result, this.#buttons,
    make("div", { class: "seat practice" }, this.#head.element, this.#board.element), make("p", { class: "hint" }, TEXT.keys));

  /**
   * `words` has `stop`, the label of the button that ends the race, `result(game)`, the sentences about a race that is over, and
   * `others()`, what is known of other races on this deal.
   */
  constructor(connection, words) {
    [this.#connection, this.#words] = [connection, words];
    document.addEventListener("keydown", (event) => this.#key(event), { signal: this.#listening.signal });
  }

  get #may() {
    return this.#connection.mayMove;
  }

  /** Draw no more, and listen to no more keys. */
  close() {
    clearInterval(this.#timer);
    this.#listening.abort();
  }

  update() {
    const { game, cheated, warning, sentence, status } = this.#connection;
    if (cheated) {
      this.#alarm.replaceChildren(alarm(cheated));
      return;
    }
    setText(this.#warning, warning);
    if (sentence && (status === STATUS.ENDED || this.#may)) setText(this.#sentence, sentence);
    this.#tick();
    if (!game) return;
    const board = boardOf(game);
    const fitting = this.#picked ? targetsOf(board, this.#picked) : [];
    this.#board.draw(board, { picked: this.#picked, fitting });
    this.#head.draw(TEXT.you, TEXT.count(placedOn(board), goalOf(board)), this.#words.others());
    this.#offer(game, board);
    if (game.result && !this.#result.firstChild) {
      setText(this.#sentence, "");
      const sentences = this.#words.result(game);
      this.#result.replaceChildren(...sentences.map((each) => make("p", {}, each)));
      announce(sentences.join(" "));
    }
  }

  /** Draw the buttons anew only when another one is to be there, so that a button keeps the focus. */
  #offer(game, board) {
    const offered = `${game.result !== null} ${mayRedeal(board)} ${this.#isSure}`;
    if (offered === this.#offered) return;
    this.#offered = offered;
    const button = (label, work) => make("button", { type: "button", onclick: work }, label);
    this.#buttons.replaceChildren(...(game.result ? [] : [
      ...(mayRedeal(board) ? [button(TEXT.redeal, () => this.#may && this.#apply({ move: "redeal", picked: null }))] : []),
      button(this.#isSure ? TEXT.sure : this.#words.stop, () => this.#stop())]));
  }

  #tick() {
    const { game, status, now } = this.#connection;
    const byStatus = { [STATUS.CONNECTING]: TEXT.connecting, [STATUS.LOST]: TEXT.lost };
    const left = game && !game.result ? TEXT.left(clock(game.until_ms - now)) : "";
    setText(this.#status, byStatus[status] ?? left);
  }

  /** Ask once more before the race is ended. */
  #stop() {
    if (!this.#may) return;
    if (this.#isSure) this.#connection.play("stop");
    this.#isSure = !this.#isSure;
    this.update();
    this.#buttons.lastChild?.focus();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    const result = this.#may ? press(boardOf(this.#connection.game), this.#picked, event.key, event.shiftKey) : undefined;
    if (!result) return;
    this.#apply(result);
    event.preventDefault();
  }

  #apply({ move, picked, sentence }) {
    this.#picked = picked;
    this.#isSure = false;
    setText(this.#sentence, sentence ?? (move ? TEXT.youMoved(move, cardOf(boardOf(this.#connection.game), move)) : ""));
    if (move) this.#connection.play(move);
    this.update();
  }
}
