// The credit for distance, as docs/protocol.md says ("Credit for distance"): round trips, corrected times, last chances.
import { goalOf, placedOn } from "./board.js";
import DATA from "./record_data.js";

const { round_trip_us: MOST_US, uncertain_part: PART } = DATA.credit;

/** Return the times of a seat at the start of a race; `rttUs` is its round trip in microseconds. Nothing changes them. */
export const startTimes = (rttUs) => ({ rttUs, turnedMs: 0, answers: [], arrivalMs: null });

/** Return the times after a move of the seat, of which `was` and `now` are the racers before and after it. */
export function timesAfter(times, was, now, move, atMs) {
  const takes = move[0] === "s" && move.length === 2;
  const isProof = takes && /[1-8]/.test(move[1]) && was.pass === 0 && was.ahead.length > 0;
  return {
    ...times,
    answers: takes ? [...times.answers, { waitedMs: atMs - times.turnedMs, isProof }] : times.answers,
    turnedMs: now.seen === was.seen ? times.turnedMs : atMs,
    arrivalMs: placedOn(now.board) === goalOf(now.board) ? atMs : times.arrivalMs,
  };
}

const believedUs = ({ rttUs, answers }) =>
  Math.max(0, Math.min(rttUs, MOST_US, ...answers.filter(({ isProof }) => isProof).map(({ waitedMs }) => 1000 * waitedMs)));

function creditMs(times) {
  const believed = believedUs(times);
  return Math.floor(times.answers.reduce((sum, { waitedMs }) => sum + Math.min(believed, 1000 * waitedMs), 0) / 1000);
}

/** Return the row of a seat in the ledger. */
export function timingOf(times) {
  const [arrivalMs, credit] = [times.arrivalMs, creditMs(times)];
  return {
    arrival_ms: arrivalMs, rtt_us: times.rttUs, credit_ms: credit,
    corrected_ms: arrivalMs === null ? null : arrivalMs - credit,
  };
}

/** Return the milliseconds up to which a difference of corrected times is a dead heat. */
export const uncertaintyMs = (first, second) => Math.floor((first + second) / PART);

/** Return the seat that was first by corrected time, of two that placed every card; null for a dead heat. */
export function firstByCorrection([first, second]) {
  const ahead = second.corrected_ms - first.corrected_ms;
  if (Math.abs(ahead) <= uncertaintyMs(first.credit_ms, second.credit_ms)) return null;
  return ahead > 0 ? 0 : 1;
}

/** Return until when a seat with these times, which has a card turned or not, may still be first. */
export function lastChanceMs(winner, times, hasTurned) {
  const credit = creditMs(times) + (hasTurned ? Math.floor(believedUs(times) / 1000) + 1 : 0);
  return winner.corrected_ms + credit + uncertaintyMs(winner.credit_ms, credit);
}
