// A practice game: one player alone with a deal, who takes moves back. Games are values; nothing changes them.
import { legalMoves } from "./board.js";
import { drawHex, toBytes, toHex } from "./bytes.js";
import { makeDeal } from "./deal.js";
import { after, startRace } from "./race.js";
import DATA from "./record_data.js";
import { sha256 } from "./sha2.js";

const SEED_BYTES = 4;

/** Return the seed for a typed text as `fairest practice` reads it: 64 hexadecimal digits, or the SHA-256 of any other. */
export const readSeed = (text) => (/^[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : toHex(sha256(toBytes(text))));

/** Return a random seed that is short enough to type again. */
export const newSeed = () => drawHex(SEED_BYTES);

/** Return a new game of a variant, with as many piles and redeals as is usual, on the deal of a typed seed. */
export function startPractice(rules, seed) {
  const { piles, redeals } = DATA.variants[rules].defaults;
  const race = startRace(makeDeal(rules, redeals, readSeed(seed)), piles, redeals);
  return { rules, seed, positions: [race], undone: [], undos: 0 };
}

/** Return the board of the present position. */
export const boardOf = ({ positions }) => positions.at(-1).racers[0].board;

/** Return how the game has ended: `won` or `stuck`, null if it has not. */
export const endingOf = ({ positions }) => positions.at(-1).racers[0].ending;

/** Return the game after a move; the same game for one that the rules do not allow. */
export function playMove(game, move) {
  if (endingOf(game) || !legalMoves(boardOf(game)).includes(move)) return game;
  const race = after(game.positions.at(-1), { type: "move", seat: 0, move });
  return { ...game, positions: [...game.positions, race], undone: [] };
}

/** Return the game without its last move; the same game at its start. */
export function undo(game) {
  if (game.positions.length === 1) return game;
  const [last] = game.positions.slice(-1);
  return { ...game, positions: game.positions.slice(0, -1), undone: [...game.undone, last], undos: game.undos + 1 };
}

/** Return the game with the move that was taken back last; the same game if there is none. */
export function redo(game) {
  if (!game.undone.length) return game;
  return { ...game, positions: [...game.positions, game.undone.at(-1)], undone: game.undone.slice(0, -1) };
}
