// An attempt at a daily deal as the page knows it, with the checks that hold the server to the sealed deal, as `fairest`
// makes them. Attempts are values; nothing changes them.
//
// Every card comes with the key to its envelope, and the envelopes are fixed with the first answer. The secret is shown
// when the day is over: `checkOpening` then deals the deck again.
import { goalOf, placedOn } from "./board.js";
import { toBytes } from "./bytes.js";
import { drandFault, isDrand } from "./drand_beacon.js";
import { commitSecret, hash, makeSeed } from "./seal.js";
import { NO_BYTES, afterSolo, beginSolo, demand, isSame, isSameScore, ownOf, sealedDeck } from "./solo_game.js";

const WHAT = "the daily deal";
/** The time that an attempt has, of which pauses of the server are no part. */
export const LIMIT_MS = 1200000;
/** By this much our clock may differ from the server's when a day begins. */
const CLOCK_MS = 600000;

const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);

const sealOf = ({ round, commitment, beacon_number, beacon, drand }) => [round, commitment, beacon_number, beacon, drand ?? null];

/** Return the round id of the daily deal of a day and a variant. */
export const dailyRound = (day, rules) => hash("daily", toBytes(day), toBytes(rules)).slice(0, 32);

/**
 * Return the attempt that the answer to `daily` shows: the race with its `day`, `seal`, `until_ms` and `result`. `known` is
 * the same attempt as it was shown before, or null. Throws `Cheated`.
 */
export function beginDaily(rules, view, known = null) {
  const { seal, day, entries, until_ms } = view;
  demand(view.rules === rules && seal, "The server shows another daily deal than the one that was asked for.");
  demand(seal.round === dailyRound(day, rules), "The round of the daily deal is not that of its day and its variant.");
  checkBeacon(day, seal);
  const game = withResult({ ...beginSolo(WHAT, rules, seal.round, entries), day, seal, until_ms, result: null }, view);
  if (known) checkAgainst(known, game);
  return game;
}

/** Return the attempt after the answer to a move of ours. Throws `Cheated`. */
export function afterView(game, view) {
  demand(view.day === game.day && view.rules === game.rules, "The server answers a move with another daily deal.");
  return withResult({ ...afterSolo(game, view.entries), until_ms: view.until_ms }, view);
}

/**
 * Check that the server shows the deal of the day that was asked for, null for today by our clock `now`. Throws `Cheated`: the
 * deck of a day that is over is known.
 */
export function checkDay(day, asked, now) {
  const days = asked === null ? [-CLOCK_MS, CLOCK_MS].map((shift) => dayOf(now + shift)) : [asked];
  const wanted = asked ?? `${dayOf(now)}, which it is by the clock of this machine`;
  demand(days.includes(day), `The server shows the daily deal of ${day} for that of ${wanted}.`);
}

/** Check a beacon that is a drand round. Throws `Cheated`. */
export function checkBeacon(day, seal) {
  const fault = isDrand(seal) ? drandFault(day, seal) : "";
  demand(!fault, fault);
}

/** Deal the deck of a day that is over again; compare it with `envelopes`, those that we were shown, or null. */
export function checkOpening(seal, rules, secret, envelopes = null) {
  const isOwn = commitSecret(seal.round, secret) === seal.commitment;
  demand(isOwn, "The secret of the daily deal does not belong to its commitment.");
  if (!envelopes) return;
  const seed = makeSeed(secret, [seal.beacon, NO_BYTES], seal.round);
  demand(isSame(sealedDeck(rules, seed, seal.round), envelopes), "The envelopes of the daily deal hold another deal's cards.");
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
