// Cards as pictures of our own: a large index in the corner, the suit below it, and one large suit in the middle.
import { makeSvg } from "./dom.js";
import { cardSign } from "./texts.js";

/** Columns and lines of a card in its own units. */
export const CARD = { width: 100, height: 140 };
/** The height of the strip that shows the index of a card which lies below another one. */
export const STRIP = 36;

/** Return the attributes that draw the two digits of a ten as wide as other ranks nearly are. */
const narrowed = (sign, width) => (sign.length > 1 ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {});
const suitOf = (card) => card[1].toLowerCase();

/** Return the picture of a card as an element `g` of SVG at the height `y`. */
export function cardPicture(card, y = 0) {
  const suit = suitOf(card);
  const sign = cardSign(card);
  return makeSvg(
    "g",
    { class: `card suit-${suit}`, transform: `translate(0 ${y})` },
    makeSvg("rect", { class: "face", x: 1.5, y: 1.5, width: CARD.width - 3, height: CARD.height - 3, rx: 9 }),
    makeSvg("text", { class: "index", x: 11, y: 30, ...narrowed(sign, 34) }, sign),
    makeSvg("use", { href: `#suit-${suit}`, x: sign.length > 1 ? 49 : 37, y: 8, width: 24, height: 24 }),
    makeSvg("use", { href: `#suit-${suit}`, x: 27, y: 56, width: 46, height: 58 }),
    makeSvg("text", { class: "index", x: 89, y: 132, "text-anchor": "end", ...narrowed(sign, 34) }, sign),
  );
}

/** Return the outline of a place without a card. */
export const emptyPlace = (label = "") =>
  makeSvg(
    "g",
    {},
    makeSvg("rect", { class: "place", x: 3, y: 3, width: CARD.width - 6, height: CARD.height - 6, rx: 9 }),
    makeSvg("text", { class: "place-label", x: 50, y: 82, "text-anchor": "middle" }, label),
  );

/** Return the back of the stock. */
export const cardBack = () =>
  makeSvg(
    "g",
    {},
    makeSvg("rect", { class: "back", x: 1.5, y: 1.5, width: CARD.width - 3, height: CARD.height - 3, rx: 9 }),
    makeSvg("path", { class: "back-lines", d: "M12 12h76v116h-76zM12 70l38-58 38 58-38 58z" }),
  );

/** Return the drawing of a fan of cards, the bottom one first: each shows its index, the top one is whole. */
export function fan(cards, label) {
  const height = CARD.height + STRIP * Math.max(0, cards.length - 1);
  const drawing = makeSvg("svg", { viewBox: `0 0 ${CARD.width} ${height}`, class: "fan", "aria-hidden": "true" });
  if (!cards.length) drawing.append(emptyPlace(label));
  cards.forEach((card, place) => drawing.append(cardPicture(card, STRIP * place)));
  return drawing;
}

/** Return the drawing of one card, of the stock's back for null, or of an empty place for undefined. */
export function single(card, label = "") {
  const drawing = makeSvg("svg", { viewBox: `0 0 ${CARD.width} ${CARD.height}`, class: "single", "aria-hidden": "true" });
  drawing.append(card ? cardPicture(card) : card === null ? cardBack() : emptyPlace(label));
  return drawing;
}
