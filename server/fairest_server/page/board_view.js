// One board on the page: foundations with the rank that each wants, the turned card, and the piles as fans. A slot is
// drawn anew only if its cards have changed.
import { PILES, nextRanks, sequenceOf } from "./board.js";
import { fan, single } from "./cards.js";
import { isMotionReduced, make, setText } from "./dom.js";
import { TEXT, rankSign } from "./texts.js";

const NEXT_SHOWN = 4;
const FLASH_MS = 450;

/** A board in an element. `onSlot(slot)` is called for a click on `1`, `a` or `s`; without it, slots are no buttons. */
export class BoardView {
  element = make("div", { class: "board" });
  #onSlot;
  #slots = new Map();
  #shown = new Map();

  constructor(onSlot = null) {
    this.#onSlot = onSlot;
  }

  /** Draw a board. `picked` is the slot that is picked up, or null; `fitting` are slots that a card may go to. */
  draw(board, { picked = null, fitting = [] } = {}) {
    if (!this.#slots.size) this.#build(board);
    const wanted = nextRanks(board);
    board.layout.forEach((foundation, place) => {
      const cards = board.foundations[place];
      const label = TEXT.foundationLabel(place, board, wanted[place], cards.at(-1));
      this.#fill(`${place + 1}`, `${cards.length} ${cards.at(-1)}`, label, () => foundationParts(foundation, cards, wanted[place]));
    });
    board.piles.forEach((cards, place) => {
      const letter = PILES[place];
      this.#fill(letter, cards.join(), TEXT.pileLabel(letter, cards), () => [
        make("span", { class: "slot-head" }, letter, make("small", {}, cards.length ? ` ${cards.length}` : "")),
        fan(cards, letter),
      ]);
    });
    const turned = board.turned ?? (board.stock ? null : undefined);
    this.#fill("s", `${turned} ${board.stock}`, TEXT.turnedLabel(board.turned, board.stock), () => [
      make("span", { class: "slot-head" }, make("small", {}, TEXT.stockCount(board.stock))),
      single(turned),
    ]);
    for (const [name, slot] of this.#slots) {
      slot.classList.toggle("picked", name === picked);
      slot.classList.toggle("fits", fitting.includes(name));
    }
  }

  #build(board) {
    const [foundations, table] = [make("div", { class: "foundations" }), make("div", { class: "table" })];
    const add = (name, kind, parent) => {
      const tag = this.#onSlot ? "button" : "div";
      const properties = this.#onSlot ? { type: "button", onclick: () => this.#onSlot(name) } : {};
      const slot = make(tag, { class: `slot ${kind}`, "data-slot": name, ...properties });
      this.#slots.set(name, slot);
      parent.append(slot);
    };
    board.layout.forEach((_, place) => add(`${place + 1}`, "foundation", foundations));
    add("s", "stock", table);
    board.piles.forEach((_, place) => add(PILES[place], "pile", table));
    this.element.style.setProperty("--foundations", Math.min(4, board.layout.length));
    this.element.style.setProperty("--piles", board.piles.length + 1);
    this.element.append(foundations, table);
  }

  #fill(name, key, label, parts) {
    if (this.#shown.get(name) === key) return;
    const [slot, isFirst] = [this.#slots.get(name), !this.#shown.has(name)];
    this.#shown.set(name, key);
    // The label says all of it; a screen reader need not read the parts as well.
    slot.replaceChildren(make("span", { class: "hidden label" }, label), ...parts().map(withoutVoice));
    if (!isFirst && name !== "s" && !isMotionReduced())
      slot.animate([{ filter: "brightness(1.5)" }, { filter: "none" }], { duration: FLASH_MS });
  }
}

function withoutVoice(part) {
  part.setAttribute("aria-hidden", "true");
  return part;
}

function foundationParts(foundation, cards, wanted) {
  const after = sequenceOf(foundation).slice(cards.length + 1, cards.length + 1 + NEXT_SHOWN);
  const bar = make("span", { class: "bar" }, make("span", { class: "bar-full" }));
  bar.firstChild.style.width = `${(100 * cards.length) / foundation.length}%`;
  return [
    make("span", { class: "slot-head" }, make("small", {}, `by ${foundation.step}`)),
    single(cards.at(-1)),
    make("span", { class: "wants" }, wanted ? `▸ ${rankSign(wanted)}` : "✓"),
    make("span", { class: "after" }, after.map(rankSign).join(" ")),
    bar,
  ];
}

/** The head of a board: the player's name, its count, and a line about its state. */
export class SeatHead {
  #name = make("strong");
  #count = make("span", { class: "count" });
  #state = make("span", { class: "state" });
  element = make("div", { class: "seat-head" }, this.#name, this.#count, this.#state);

  draw(name, count, state) {
    setText(this.#name, name);
    setText(this.#count, count);
    setText(this.#state, state);
  }
}
