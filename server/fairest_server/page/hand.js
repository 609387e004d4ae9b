// From keys and clicks to moves: a slot is `s` (the turned card), `a` to `h` (piles) or `1` to `8` (foundations).
import { PILES, cardOf, legalMoves } from "./board.js";
import { TEXT } from "./texts.js";

/** Return the slots to which the card of a slot may go. */
export const targetsOf = (board, source) =>
  legalMoves(board).filter((move) => move !== "redeal" && move[0] === source).map((move) => move[1]);

/**
 * Return what a click on a slot does, as {move, picked, sentence}, while the slot `picked` is picked up (or null).
 *
 * A click on the turned card or on a pile picks it up; with one picked up, a click on a slot makes the move.
 */
export function click(board, picked, slot) {
  if (picked === slot) return { picked: null };
  if (picked !== null && legalMoves(board).includes(picked + slot)) return { move: picked + slot, picked: null };
  if (/[1-8]/.test(slot)) {
    const fitting = legalMoves(board).filter((move) => move[1] === slot);
    if (picked === null && fitting.length === 1) return { move: fitting[0], picked: null };
    return { picked, sentence: picked ? TEXT.fitsNothing(cardOf(board, picked)) : "" };
  }
  const card = cardOf(board, slot);
  if (!card) return slot === "s" && legalMoves(board).includes("redeal") ? { move: "redeal", picked: null } : { picked };
  return { picked: slot, sentence: TEXT.picked(card) };
}

/** Return what a key does, in the form of `click`; undefined for a key that has no meaning in a race. */
export function press(board, picked, key, isShifted) {
  const slot = key.toLowerCase();
  if (key === "Escape") return picked === null ? undefined : { picked: null };
  if (/^[1-8]$/.test(slot)) return placeOn(board, picked ?? "s", slot);
  if (!PILES.includes(slot) || slot.length !== 1 || PILES.indexOf(slot) >= board.piles.length) return undefined;
  if (!isShifted) return placeOn(board, "s", slot);
  const targets = targetsOf(board, slot);
  if (targets.length === 1) return { move: slot + targets[0], picked: null };
  if (targets.length) return { picked: slot, sentence: TEXT.whichFoundation };
  const card = cardOf(board, slot);
  return { picked: null, sentence: card ? TEXT.fitsNothing(card) : "" };
}

function placeOn(board, source, target) {
  const move = source + target;
  if (legalMoves(board).includes(move)) return { move, picked: null };
  const card = cardOf(board, source);
  return { picked: null, sentence: card ? TEXT.fitsNothing(card) : "" };
}
