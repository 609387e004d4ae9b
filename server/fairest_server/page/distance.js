// The credit for distance, as docs/protocol.md says ("Credit for distance"): round trips, corrected times, last chances.
import DATA from "./record_data.js";

const { round_trip_us: MOST_US, uncertain_part: PART } = DATA.credit;

/** Return the times of a seat at the start of a race; `rttUs` is its round trip in microseconds. Nothing changes them. */
export const startTimes = (rttUs) => ({ rttUs, turnedMs: 0, answers: [], arrivalMs: null });

/**
 * Return the times after a move of the seat, of which `was` and `now` are the racers before and after it: the `pass`, the
 * cards `ahead`, the number of cards `seen`, and the `ending`.
 */
export function timesAfter(times, was, now, move, atMs) {
  const takes = move[0] === "s" && move.length === 2;
  const isProof = takes && /[1-8]/.test(move[1]) && was.pass === 0 && was.ahead.length > 0;
  return {
    ...times,
    answers: takes ? [...times.answers, { waitedMs: atMs - times.turnedMs, isProof }] : times.answers,
    turnedMs: now.seen === was.seen ? times.turnedMs : atMs,
    arrivalMs: now.ending === "won" ? atMs : times.arrivalMs,
  };
}

const believedUs = ({ rttUs, answers }) =>
  Math.max(0, Math.min(rttUs, MOST_US, ...answers.filter(({ isProof }) => isProof).map(({ waitedMs }) => 1000 * waitedMs)));

function creditMs(times) {
  const believed = believedUs(times);
  return Math.floor(times.answers.reduce((sum, { waitedMs }) => sum + Math.min(believed, 1000 * waitedMs), 0) / 1000);
}

// The row of a seat in the ledger.
function timingOf(times) {
  const [arrivalMs, credit] = [times.arrivalMs, creditMs(times)];
  return {
    arrival_ms: arrivalMs, rtt_us: times.rttUs, credit_ms: credit,
    corrected_ms: arrivalMs === null ? null : arrivalMs - credit,
  };
}

// The milliseconds up to which a difference of corrected times is a dead heat.
const uncertaintyMs = (first, second) => Math.floor((first + second) / PART);

/** Return the seat that was first by corrected time, of two that placed every card; null for a dead heat. */
export function firstByCorrection([first, second]) {
  const ahead = second.corrected_ms - first.corrected_ms;
  if (Math.abs(ahead) <= uncertaintyMs(first.credit_ms, second.credit_ms)) return null;
  return ahead > 0 ? 0 : 1;
}

/** Return the ledger of two seats with these times, or undefined if none has placed every card. */
export const ledgerOf = (times) =>
  times.some(({ arrivalMs }) => arrivalMs !== null) ? times.map(timingOf) : undefined;

/**
 * Return whether a seat with these times, which has a card turned or not, can no longer be first: the other seat has placed
 * every card, and the last chance has passed, or the limit of the race.
 */
export function isTooLate(timesOfOther, times, hasTurned, limitMs, atMs) {
  const other = timingOf(timesOfOther);
  if (other.arrival_ms === null || atMs === null) return false;
  const credit = creditMs(times) + (hasTurned ? Math.floor(believedUs(times) / 1000) + 1 : 0);
  const lastChanceMs = other.corrected_ms + credit + uncertaintyMs(other.credit_ms, credit);
  return atMs >= Math.min(lastChanceMs, limitMs);
}
