// The race of one player alone on a sealed deal, as the page knows it, with the checks of each entry, as `fairest` makes
// them. Races are values; nothing changes them.
//
// Every card comes with the key to its envelope, and the envelopes are fixed with the first entry.
import { cardOf, legalMoves } from "./board.js";
import { Cheated } from "./cheated.js";
import { makeDeal, sealDeal } from "./deal.js";
import DATA from "./record_data.js";
import { afterEntry, betweenMatches } from "./scene.js";
import { makeEnvelope } from "./seal.js";

/** In the place of the bytes of seat 1, where nobody sits. */
export const NO_BYTES = "00".repeat(32);

export const demand = (condition, sentence) => {
  if (!condition) throw new Cheated(sentence);
};
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
export const nameOf = ([pass, position]) => (pass ? `position ${position + 1} of redeal ${pass}` : `position ${position + 1}`);

export const ownOf = ({ scene }) => scene.seats[0];
export const boardOf = (game) => ownOf(game).board;

/**
 * Return the race with which these entries begin, as {what, rules, round, scene}: on `what`, the deal in a sentence, in
 * the round with this id. Throws `Cheated`.
 */
export function beginSolo(what, rules, round, entries) {
  const kinds = entries.slice(0, 3).map(({ type }) => type);
  demand(isSame(kinds, ["dealt", "started", "turned"]), `The server does not begin ${what} with its cards.`);
  checkNotDealt(what, entries.slice(3));
  checkDealt(what, rules, entries[0]);
  const scene = { ...betweenMatches({ options: { rules }, seats: [{}, {}] }), round };
  return entries.reduce(afterSoloEntry, { what, rules, round, scene });
}

/** Return the race after the entries of a move. Throws `Cheated`. */
export function afterSolo(game, entries) {
  checkNotDealt(game.what, entries);
  return entries.reduce(afterSoloEntry, game);
}

/** Return whether two scores are the same; one may be null. */
export const isSameScore = (one, other) => isSame(scoreOf(one), scoreOf(other));
const scoreOf = (score) => score && [score.won, score.placed, score.direct, score.time_ms];

/** Return the deal of a seed by the usual numbers of a variant. */
export const usualDeal = (rules, seed) => makeDeal(rules, DATA.variants[rules].defaults.redeals, seed);

/** Return the envelopes of the deal of a seed. */
export const sealedDeck = (rules, seed, round) => sealDeal(usualDeal(rules, seed), seed, round);

/** Return the pass and the position of the first envelope that another deal has, null if none is. */
export function firstWrongEnvelope(shown, dealt) {
  for (const [pass, envelopes] of shown.slice(0, dealt.length).entries()) {
    const position = envelopes.findIndex((envelope, at) => at < dealt[pass].length && envelope !== dealt[pass][at]);
    if (position >= 0) return [pass, position];
  }
  return null;
}

function checkNotDealt(what, entries) {
  const isDealt = entries.some(({ type }) => type === "dealt" || type === "started");
  demand(!isDealt, `The server deals ${what} a second time.`);
}

/** Check what does not depend on the seed, before a card is turned. */
function checkDealt(what, rules, { layout, starters, markers, envelopes, piles, redeals }) {
  const { defaults, rolled } = DATA.variants[rules];
  const usual = usualDeal(rules, NO_BYTES);
  const lengths = Array.from({ length: usual.sealedPasses }, () => usual.orders[0].length);
  demand(isSame(envelopes.map(({ length }) => length), lengths), "The server showed more or fewer envelopes than its deal has.");
  const steps = (foundations) => foundations.map(({ start, step, length }) => [start, step, length]);
  const isUsual = isSame([steps(layout), starters, markers], [steps(usual.layout), usual.starters, usual.markers]);
  demand(rolled || isUsual, "Starters, steps or markers are not those of the rules.");
  const isOwn = piles === defaults.piles && redeals === defaults.redeals;
  demand(isOwn, `The piles and redeals of ${what} are not those of its variant.`);
}

function afterSoloEntry(game, entry) {
  const { type, seat } = entry;
  demand(!["turned", "moved"].includes(type) || seat === 0, `The server shows the seat of another player in ${game.what}.`);
  if (type === "turned") checkTurned(game, entry);
  else if (type === "moved") checkMoved(game, entry);
  else if (type !== "dealt" && type !== "started") return game;
  return { ...game, scene: afterEntry(game.scene, entry) };
}

function checkTurned(game, { turn, card, salt }) {
  const [pass, position] = turn;
  const { turn: last, board } = ownOf(game);
  const isLater = last === null || pass > last[0] || (pass === last[0] && position > last[1]);
  const isOfThisPass = pass === DATA.variants[game.rules].defaults.redeals - board.redeals;
  demand(isLater && isOfThisPass, `The card at ${nameOf(turn)} was turned out of its order.`);
  const isNext = pass > 0 || position === (last === null ? 0 : last[1] + 1);
  demand(isNext, `The card at ${nameOf(turn)} was turned, and not the one before it.`);
  demand(board.turned === null && board.stock > 0, `The card at ${nameOf(turn)} was turned while there is none to turn.`);
  const { envelopes } = game.scene;
  const sealed = Math.min(pass, envelopes.length - 1);
  demand(position < envelopes[sealed].length, `There is no card at ${nameOf(turn)}.`);
  const isOpened = makeEnvelope(game.round, sealed, position, card, salt) === envelopes[sealed][position];
  demand(isOpened, `The card at ${nameOf(turn)} does not belong to its envelope.`);
}

function checkMoved(game, { number, move, card }) {
  const { moves, board } = ownOf(game);
  demand(number === moves + 1, `The server shows our move ${number} behind move ${moves}.`);
  const moved = move === "stop" ? null : (cardOf(board, move) ?? null);
  const isLegal = (move === "stop" || legalMoves(board).includes(move)) && (card ?? null) === moved;
  demand(isLegal, `The server shows a move of ours that cannot be made: ${move}.`);
}
