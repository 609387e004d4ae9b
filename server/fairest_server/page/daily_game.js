// An attempt at a daily deal as the page knows it, with the checks that hold the server to the sealed deal, as `fairest`
// makes them. Attempts are values; nothing changes them.
//
// Every card comes with the key to its envelope, and the envelopes are fixed with the first answer. The secret is shown
// when the day is over: `checkOpening` then deals the deck again.
import { cardOf, goalOf, legalMoves, placedOn } from "./board.js";
import { toBytes } from "./bytes.js";
import { Cheated } from "./cheated.js";
import { makeDeal, sealDeal } from "./deal.js";
import DATA from "./record_data.js";
import { afterEntry, betweenMatches } from "./scene.js";
import { commitSecret, hash, makeEnvelope, makeSeed } from "./seal.js";

/** The time that an attempt has, of which pauses of the server are no part. */
export const LIMIT_MS = 1200000;
/** In the place of the bytes of seat 1, where nobody sits. */
export const NO_BYTES = "00".repeat(32);

const demand = (condition, sentence) => {
  if (!condition) throw new Cheated(sentence);
};
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const nameOf = ([pass, position]) => (pass ? `position ${position + 1} of redeal ${pass}` : `position ${position + 1}`);
const sealOf = ({ round, commitment, beacon_number, beacon }) => [round, commitment, beacon_number, beacon];

/** Return the round id of the daily deal of a day and a variant. */
export const dailyRound = (day, rules) => hash("daily", toBytes(day), toBytes(rules)).slice(0, 32);

export const ownOf = ({ scene }) => scene.seats[0];
export const boardOf = (game) => ownOf(game).board;

/**
 * Return the attempt that the answer to `daily` shows, as {rules, day, seal, scene, until_ms, result}. `known` is the same
 * attempt as it was shown before, or null. Throws `Cheated`.
 */
export function beginDaily(rules, view, known = null) {
  const { seal, day, entries, until_ms } = view;
  demand(view.rules === rules && seal, "The server shows another daily deal than the one that was asked for.");
  demand(seal.round === dailyRound(day, rules), "The round of the daily deal is not that of its day and its variant.");
  const kinds = entries.slice(0, 3).map(({ type }) => type);
  demand(isSame(kinds, ["dealt", "started", "turned"]), "The server does not begin the daily deal with its cards.");
  const isDealtAgain = entries.slice(3).some(({ type }) => type === "dealt" || type === "started");
  demand(!isDealtAgain, "The server deals the daily deal a second time.");
  checkDealt(rules, entries[0]);
  const scene = { ...betweenMatches({ options: { rules }, seats: [{}, {}] }), round: seal.round };
  const game = withResult(entries.reduce(afterDailyEntry, { rules, day, seal, scene, until_ms, result: null }), view);
  if (known) checkAgainst(known, game);
  return game;
}

/** Return the attempt after the answer to a move of ours. Throws `Cheated`. */
export function afterView(game, view) {
  demand(view.day === game.day && view.rules === game.rules, "The server answers a move with another daily deal.");
  const isDealt = view.entries.some(({ type }) => type === "dealt" || type === "started");
  demand(!isDealt, "The server deals the daily deal a second time.");
  return withResult(view.entries.reduce(afterDailyEntry, { ...game, until_ms: view.until_ms }), view);
}

/** Deal the deck of a day that is over again; compare it with `envelopes`, those that we were shown, or null. */
export function checkOpening(seal, rules, secret, envelopes = null) {
  const isOwn = commitSecret(seal.round, secret) === seal.commitment;
  demand(isOwn, "The secret of the daily deal does not belong to its commitment.");
  if (!envelopes) return;
  const seed = makeSeed(secret, [seal.beacon, NO_BYTES], seal.round);
  const dealt = sealDeal(makeDeal(rules, DATA.variants[rules].defaults.redeals, seed), seed, seal.round);
  demand(isSame(dealt, envelopes), "The envelopes of the daily deal hold another deal's cards.");
}

/** Check that the rows of a whole table are in order, and ranked by it. Throws `Cheated`. */
export function checkTable(rows) {
  rows.forEach((row, place) => {
    const before = rows[place - 1] ?? null;
    const order = before ? compareScores(before, row) : 1;
    demand(order >= 0, `The table is not in order: ${row.name} stands behind ${before?.name}.`);
    const wanted = order === 0 ? before.rank : place + 1;
    demand(row.rank === wanted, `${row.name} has rank ${row.rank} in the table, where ${wanted} is due.`);
  });
}

/** Return the row of our attempt. Throws `Cheated` if the table has none with the score that we were shown. */
export function findOwnRow(rows, name, result) {
  const own = rows.find((row) => row.name === name && isSameScore(row, result));
  demand(own, "Your attempt is not in the table with the score that the server has shown to you.");
  return own;
}

/** Return whether two seals of a daily deal are the same. */
export const isSameSeal = (one, other) => isSame(sealOf(one), sealOf(other));

/** Return a positive number if the first score is the better one, 0 if both are equal. */
const compareScores = (one, other) =>
  one.won - other.won || one.placed - other.placed || one.direct - other.direct || other.time_ms - one.time_ms;

/** Return whether two scores are the same. */
export const isSameScore = (one, other) => compareScores(one, other) === 0;

/** Check what does not depend on the seed, before a card is turned. */
function checkDealt(rules, { layout, starters, markers, envelopes, piles, redeals }) {
  const { defaults, rolled } = DATA.variants[rules];
  const usual = makeDeal(rules, defaults.redeals, NO_BYTES);
  const lengths = Array.from({ length: usual.sealedPasses }, () => usual.orders[0].length);
  demand(isSame(envelopes.map(({ length }) => length), lengths), "The server deals another number of envelopes than the rules have cards.");
  const steps = (foundations) => foundations.map(({ start, step, length }) => [start, step, length]);
  const isUsual = isSame([steps(layout), starters, markers], [steps(usual.layout), usual.starters, usual.markers]);
  demand(rolled || isUsual, "Starters, steps or markers are not those of the rules.");
  const isOwn = piles === defaults.piles && redeals === defaults.redeals;
  demand(isOwn, "The piles and redeals of the daily deal are not those of its variant.");
}

function afterDailyEntry(game, entry) {
  const { type, seat } = entry;
  demand(!["turned", "moved"].includes(type) || seat === 0, "The server shows the seat of another player in the daily deal.");
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
  const isOpened = makeEnvelope(game.seal.round, sealed, position, card, salt) === envelopes[sealed][position];
  demand(isOpened, `The card at ${nameOf(turn)} does not belong to its envelope.`);
}

function checkMoved(game, { number, move, card }) {
  const { moves, board } = ownOf(game);
  demand(number === moves + 1, `The server shows our move ${number} behind move ${moves}.`);
  const isLegal = move === "stop" || (legalMoves(board).includes(move) && (card ?? null) === (cardOf(board, move) ?? null));
  demand(isLegal, `The server shows a move of ours that cannot be made: ${move}.`);
}

/** Return the game with the result that the server shows, which has to be that of our board. */
function withResult(game, { moves, result }) {
  const { moves: shown, board } = ownOf(game);
  demand(moves === shown, `The server counts ${moves} moves of ours, and has shown ${shown}.`);
  if (!result) return game;
  const [placed, goal] = [placedOn(board), goalOf(board)];
  const told = [result.won, result.placed, result.goal, result.direct];
  demand(isSame(told, [placed === goal, placed, goal, board.direct]), "The result of the daily deal is not that of our board.");
  const isPossible = result.time_ms <= LIMIT_MS && result.rank <= result.ended;
  demand(isPossible, "The result of the daily deal has a time or a rank that cannot be.");
  return { ...game, result };
}

function checkAgainst(known, shown) {
  const isKnown = known.day === shown.day && isSameSeal(known.seal, shown.seal) && isSame(known.envelopes, shown.scene.envelopes);
  demand(isKnown, "The server shows another daily deal than before.");
  const { moves } = ownOf(shown);
  demand(moves >= known.moves, `The server has lost our moves behind number ${moves}.`);
}
