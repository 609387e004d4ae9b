// The evidence of one round: what this page was shown and has sent, and when, by its own clock. Evidence is a value.
//
// A page is bound to a round from the moment at which the server shows that it has taken the page's `ready`. From then
// on `round_end.js` judges every way out of the round by this evidence alone, as docs/fairness.md says.
import { changed } from "./board.js";

/** The time of everything that happened before this page was opened. */
export const LONG_AGO_MS = 0;

/** Return the evidence of a page whose own hash has just been shown by an entry, which led to `scene`. */
export function beginEvidence(scene, seat, at_ms) {
  const isAway = scene.seats[1 - seat].until_ms !== null;
  return {
    ...empty(scene, seat),
    dealing_ms: scene.phase === "dealing" ? at_ms : null,
    away_ms: changed([null, null], 1 - seat, () => (isAway ? LONG_AGO_MS : null)),
  };
}

/** Return the evidence of a page that was opened again, and finds itself bound to the round of a snapshot. */
export const resumeEvidence = (scene, seat, at_ms) =>
  evidenceAfterSnapshot({ ...empty(scene, seat), isOwnPastKnown: false }, scene, at_ms);

/**
 * Times are milliseconds of the page's own clock, the earliest at which a thing may have happened, null if it has not.
 * `reveal_sent_ms` is when our bytes were first sent on the present socket, `arrived_ms` when the server was known to
 * have them, since it had answered a ping that was sent behind them.
 */
const empty = ({ round, options }, seat) => ({
  round, seat, options, isComplete: true, isOwnPastKnown: true, isDealt: false, revealed: [false, false],
  dealing_ms: null, reveal_sent_ms: null, arrived_ms: null, hasGivenUp: false, hasSaidStop: false, started_ms: null, stopped_ms: [null, null],
  away_ms: [null, null], longest_absence_ms: 0, resigned: [false, false], hasLeft: [false, false], isVoided: false,
  isFreed: false, outcome: null, closing: null,
});

/** Return the evidence after an entry; `scene` is the scene after it, `at_ms` its earliest possible time. */
export function evidenceAfter(evidence, entry, scene, at_ms) {
  const { seat } = entry;
  const at = (list, value) => changed(list, seat, () => value);
  // A player whose race was ended since it was away may come back, and go again.
  const hasRaced = () => evidence.stopped_ms[seat] !== null || evidence.outcome !== null;
  const change = {
    revealed: () => ({ revealed: at(evidence.revealed, true) }),
    player_ready: () => (scene.phase === "dealing" && evidence.dealing_ms === null ? { dealing_ms: at_ms } : {}),
    dealt: () => ({ isDealt: true }),
    started: () => ({ started_ms: at_ms }),
    stopped: () => ({ stopped_ms: at(evidence.stopped_ms, at_ms) }),
    detached: () => (hasRaced() ? {} : { away_ms: at(evidence.away_ms, at_ms) }),
    attached: () => (hasRaced() ? {} : { away_ms: at(evidence.away_ms, null) }),
    moved: () => (entry.move === "resign" ? { resigned: at(evidence.resigned, true) } : {}),
    seat_freed: () => ({ hasLeft: at(evidence.hasLeft, entry.reason === "left"), isFreed: true }),
    round_voided: () => ({ isVoided: true }),
    round_finished: () => ({ outcome: entry.outcome }),
    room_closed: () => ({ closing: entry.reason ?? "" }),
  }[entry.type];
  return change ? { ...evidence, ...change() } : evidence;
}

/**
 * Return the evidence after a snapshot of the same round, which stands for entries that were missed.
 *
 * A room that waits for a player, or is closed, still shows the result of its last round, without its cards. That both
 * players were ready, that the cards were dealt and that the race began are never taken back.
 */
export function evidenceAfterSnapshot(evidence, { seats, phase, envelopes, outcome, secret }, at_ms) {
  const later = (known, holds) => (holds ? (known ?? at_ms) : null);
  const kept = (known, holds) => known ?? (holds ? at_ms : null);
  const isDealing = outcome !== null || seats.every((each) => each.entropy_hash !== null);
  const hasStarted = phase === "racing" || (outcome !== null && envelopes.length > 0);
  const isOut = phase === "waiting" || phase === "closed";
  return {
    ...evidence,
    isComplete: false,
    isDealt: evidence.isDealt || envelopes.length > 0,
    // Bytes that were shown stay shown: no server takes back that it knew the deck.
    revealed: seats.map(({ entropy }, seat) => evidence.revealed[seat] || entropy !== null),
    dealing_ms: kept(evidence.dealing_ms, isDealing),
    started_ms: kept(evidence.started_ms, hasStarted),
    // The end of a round stops both seats, so its scene does not show whether one had stopped before.
    stopped_ms: phase === "finished" || isOut ? evidence.stopped_ms
      : seats.map(({ has_stopped: hasStopped }, seat) => later(evidence.stopped_ms[seat], hasStopped)),
    away_ms: seats.map(({ until_ms }, seat) => later(evidence.away_ms[seat], until_ms !== null)),
    outcome,
    isVoided: isOut && outcome === null && secret !== null,
    isFreed: isOut && secret === null,
  };
}

/** Return the evidence after a message of ours was sent. */
export function evidenceAfterSaid(evidence, { type, round, move }, at_ms) {
  if (type === "reveal" && round === evidence.round && evidence.reveal_sent_ms === null)
    return { ...evidence, reveal_sent_ms: at_ms };
  if (type === "play" && move === "stop") return { ...evidence, hasSaidStop: true };
  const givesUp = type === "leave" || (type === "play" && move === "resign");
  return givesUp ? { ...evidence, hasGivenUp: true } : evidence;
}

/** Return the evidence after our socket ended: bytes that were sent over it may have been lost. */
export const evidenceAfterDrop = (evidence) => ({ ...evidence, reveal_sent_ms: null });

/** Return the evidence after the server has answered a ping that was sent behind our bytes for this round. */
export const evidenceAfterArrival = (evidence, round, at_ms) =>
  (round === evidence.round ? { ...evidence, arrived_ms: evidence.arrived_ms ?? at_ms } : evidence);

/** Return the evidence after our connection was down for `absent_ms`. */
export const evidenceAfterAbsence = (evidence, absent_ms) =>
  ({ ...evidence, longest_absence_ms: Math.max(evidence.longest_absence_ms, absent_ms) });
