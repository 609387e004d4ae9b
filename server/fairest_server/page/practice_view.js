// The table for one player alone, without the server: the same board and keys as in a race, and moves can be taken back.
import { cardOf, goalOf, legalMoves, mayRedeal, placedOn } from "./board.js";
import { BoardView, SeatHead } from "./board_view.js";
import { make, setText } from "./dom.js";
import { click, press, targetsOf } from "./hand.js";
import { boardOf, endingOf, newSeed, playMove, redo, startPractice, undo } from "./practice.js";
import DATA from "./record_data.js";
import { TEXT } from "./texts.js";

/** A practice game of a variant on the deal of a seed; both are what the address of the page says, if it says them. */
export class PracticeView {
  #game;
  #picked = null;
  #board = null;
  #place = make("div", { class: "seat practice" });
  #head = new SeatHead();
  #sentence = make("p", { class: "sentence", role: "status" });
  #buttons = make("div", { class: "actions" });
  #rules = make("select", { "aria-label": TEXT.variant }, ...DATA.terms.rules.map((name) => make("option", { value: name }, name)));
  element;

  constructor(query) {
    const asked = new URLSearchParams(query);
    const rules = DATA.terms.rules.includes(asked.get("rules")) ? asked.get("rules") : DATA.terms.rules[0];
    this.#rules.value = rules;
    this.#rules.addEventListener("change", () => this.#start(this.#rules.value, newSeed()));
    this.element = make(
      "section", { class: "room" },
      make("h1", {}, TEXT.practiceTitle), make("label", { class: "check" }, TEXT.variant, this.#rules), this.#sentence,
      this.#buttons, this.#place, make("p", { class: "hint" }, TEXT.keys), make("p", { class: "hint" }, TEXT.practiceKeys));
    document.addEventListener("keydown", (event) => this.#key(event));
    this.#start(rules, asked.get("seed") || newSeed());
  }

  #start(rules, seed) {
    this.#game = startPractice(rules, seed);
    this.#picked = null;
    this.#board = new BoardView((slot) => this.#apply(click(boardOf(this.#game), this.#picked, slot)));
    this.#place.replaceChildren(this.#head.element, this.#board.element);
    history.replaceState(null, "", `/practice?${new URLSearchParams({ rules, seed })}`);
    this.#say(TEXT.practiceStarted(seed));
    this.#draw();
  }

  #draw() {
    const [board, ending] = [boardOf(this.#game), endingOf(this.#game)];
    const fitting = this.#picked ? targetsOf(board, this.#picked) : [];
    this.#board.draw(board, { picked: this.#picked, fitting });
    this.#head.draw(TEXT.you, TEXT.count(placedOn(board), goalOf(board)), TEXT.undos(this.#game.undos));
    const button = (label, work, isOff = false) => make("button", { type: "button", onclick: work, disabled: isOff }, label);
    this.#buttons.replaceChildren(
      button(TEXT.undo, () => this.#go(undo), this.#game.positions.length === 1),
      button(TEXT.redo, () => this.#go(redo), !this.#game.undone.length),
      ...(mayRedeal(board) ? [button(TEXT.redeal, () => this.#apply({ move: "redeal", picked: null }))] : []),
      button(TEXT.again, () => this.#start(this.#game.rules, this.#game.seed)),
      button(TEXT.newDeal, () => this.#start(this.#game.rules, newSeed())));
    if (ending) this.#say(ending === "won" ? TEXT.practiceWon(this.#game.undos) : TEXT.practiceStuck);
  }

  #say(sentence) {
    setText(this.#sentence, sentence);
  }

  /** Take a move back, or make it again. */
  #go(change) {
    this.#game = change(this.#game);
    this.#picked = null;
    this.#say(TEXT.count(placedOn(boardOf(this.#game)), goalOf(boardOf(this.#game))));
    this.#draw();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    const { rules, seed } = this.#game;
    const work = {
      u: () => this.#go(undo), y: () => this.#go(redo), z: () => this.#start(rules, seed), n: () => this.#start(rules, newSeed()),
    }[event.key.toLowerCase()];
    const result = work ? null : press(boardOf(this.#game), this.#picked, event.key, event.shiftKey);
    if (work) work();
    else if (result) this.#apply(result);
    else return;
    event.preventDefault();
  }

  #apply({ move, picked, sentence }) {
    const board = boardOf(this.#game);
    this.#picked = picked;
    const isLegal = move && legalMoves(board).includes(move);
    this.#say(isLegal ? TEXT.youMoved(move, cardOf(board, move)) : (sentence ?? ""));
    if (isLegal) this.#game = playMove(this.#game, move);
    this.#draw();
  }
}
