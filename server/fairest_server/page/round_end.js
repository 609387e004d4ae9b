// How a round ended for a page that was bound to it: proved, explained by what it was shown, or an alarm.
//
// Each function returns the explanation, which is empty for an end that is proved, or throws `Cheated`. The table of all
// ways out is in docs/fairness.md ("Every way out of a round"), the sentences are those of `fairest`.
import { Cheated } from "./cheated.js";

/** How much earlier than by our clock a time may be over for the server: messages are late, and clocks differ a little. */
const TOLERANCE_MS = 5000;
const PROVED = "";

const DEEDS = {
  left: "The server put you out of the room without being asked",
  seat_freed: "The server freed a seat",
  room_closed: "The operator broke off the round and closed the room",
  refused: "The server does not let you back into the room",
  replaced: "The server says that another connection of yours took the seat; if you opened none, it lies",
  banned: "The operator broke off the round by a ban",
  bad_token: "The server says that it does not know your token any more",
  closed: "The server ended the connection for good",
  contradiction: "The server contradicted itself",
  quit: "Broken off, not proved: the server did not answer any more",
};
/** Ways out that an honest server has for a client that comes back too late. */
const AFTER_ABSENCE = ["refused", "bad_token", "closed"];

const alarm = (sentence) => {
  throw new Cheated(sentence);
};
const least = (seconds) => 1000 * seconds - TOLERANCE_MS;
const inSeconds = (ms) => {
  const count = (ms / 1000).toFixed(1).replace(/\.0$/, "");
  return `${count} second${count === "1" ? "" : "s"}`;
};

/** Judge a way out without a result. `detail` has the server's words; `absent_ms` is how long we have been cut off. */
export function judgeWayOut(evidence, wayOut, detail, absent_ms) {
  const { grace_seconds: grace } = evidence.options;
  if (evidence.hasGivenUp) return "You left before the round was over, so its deal was not proved to you.";
  if (wayOut === "quit" && !absent_ms) return "Broken off, not proved: your client ended before the round was over.";
  if (AFTER_ABSENCE.includes(wayOut) && absent_ms && absent_ms >= least(grace)) {
    return `You were cut off for ${inSeconds(absent_ms)}, and the seat waits ${inSeconds(1000 * grace)}: the round may be `
      + "over. Its end was not proved to you.";
  }
  const knows = evidence.dealing_ms !== null
    ? "Both players were bound to the round, and it never opened its commitment."
    : "You were bound to the round, and it never opened its commitment.";
  return alarm(`${DEEDS[wayOut]}${detail ? ` (${detail})` : ""}. ${knows}`);
}

/** Judge the end of a round to which both players were committed, and of which we were shown nothing. */
export function judgeMissed(evidence, absent_ms) {
  if (absent_ms && absent_ms >= least(evidence.options.grace_seconds)) {
    return `You were cut off for ${inSeconds(absent_ms)}, and the room has gone on since. The end of the round was not `
      + "proved to you; the record of its match has it.";
  }
  return alarm("The server has dropped a round to which both players were committed, and never showed its secret. Unless "
    + "its Redis has lost the round, the server did not like the deck.");
}

/** Judge a round that was called off, and whose commitment was opened as it should be. */
export function judgeVoid(evidence) {
  if (evidence.dealing_ms !== null) alarm("The server calls off a round to which both players were committed.");
  return "The round was called off before both players were ready, so there was no deck.";
}

/** Judge the endings in a result. Its deal, moves and counts were checked before, as far as there are any. */
export function judgeFinish(evidence, { scores }, now_ms) {
  if (!evidence.isDealt && evidence.revealed.every(Boolean))
    alarm("Both players had shown their bytes, so the server knew the deck; it ended the round undealt.");
  if (evidence.isDealt && scores.some(({ ending }) => ending === "not_revealed"))
    alarm("The server says that a player did not show its bytes; it had dealt the cards from them.");
  const reasons = scores.map(({ ending }, seat) => judgeSeat(evidence, seat, ending, now_ms));
  if (evidence.isDealt && !evidence.isComplete)
    reasons.push("Your client missed a part of this round: only the record of the match proves the counts.");
  return [...new Set(reasons.filter((reason) => reason !== PROVED))].join(" ");
}

function judgeSeat(evidence, seat, ending, now_ms) {
  const isOwn = seat === evidence.seat;
  if (evidence.stopped_ms[seat] !== null && ["out_of_time", "round_over"].includes(ending))
    alarm(`The server had shown that the race of seat ${seat + 1} was over, and says that it ended later.`);
  const judge = {
    resigned: isOwn ? judgeOwnResignation : judgeResignation,
    not_revealed: isOwn ? judgeOwnSilence : judgeSilence,
    away: isOwn ? judgeOwnAbsence : judgeAbsence,
    out_of_time: judgeTime,
  }[ending];
  if (ending === "stopped" && isOwn && evidence.isOwnPastKnown && !evidence.hasSaidStop)
    alarm("The server says that you stopped. You did not.");
  // Won, stuck, stopped and round_over follow from the moves: replayed, or else `judgeFinish` says so.
  return judge ? judge(evidence, seat, now_ms) : PROVED;
}

function judgeOwnResignation({ hasGivenUp, isOwnPastKnown }) {
  if (hasGivenUp) return PROVED;
  if (!isOwnPastKnown) return "The server says that you resigned, before this client was started again.";
  return alarm("The server says that you resigned. You did not.");
}

function judgeResignation({ resigned, hasLeft, isComplete }, seat) {
  if (resigned[seat] || hasLeft[seat] || !isComplete)
    return "The server says that the other player resigned; only that player's client can check this.";
  return alarm("The server says that the other player resigned, and has shown neither a resignation nor a leaving.");
}

function judgeOwnSilence(evidence, seat, now_ms) {
  const deed = "The server says that you did not show your bytes in time.";
  const { dealing_ms: dealing, reveal_sent_ms: sent, arrived_ms: arrived, longest_absence_ms: absent_ms } = evidence;
  const { reveal_seconds: limit } = evidence.options;
  if (evidence.revealed[seat]) alarm(`${deed} It had shown them to everybody.`);
  if (dealing === null) {
    if (absent_ms >= least(limit)) return `${deed} Your connection was down for ${inSeconds(absent_ms)}.`;
    alarm(`${deed} It had not even shown you that the other player was ready.`);
  }
  if (now_ms - dealing < least(limit))
    alarm(`${deed} You had only ${inSeconds(now_ms - dealing)} of ${inSeconds(1000 * limit)}.`);
  if (arrived !== null && arrived - dealing <= 500 * limit)
    alarm(`${deed} It had them after ${inSeconds(arrived - dealing)}: it answered a ping that was sent behind them.`);
  if (sent !== null && sent - dealing <= 500 * limit)
    alarm(`${deed} You sent them after ${inSeconds(sent - dealing)}, over a connection that has been up since.`);
  if (absent_ms) return `${deed} Your connection was down for ${inSeconds(absent_ms)}.`;
  return `${deed} Your client sent them late or not at all.`;
}

function judgeSilence({ revealed, dealing_ms: dealing, options }, seat, now_ms) {
  const deed = "The server says that the other player did not show its bytes in time";
  if (revealed[seat]) alarm(`${deed}. It had shown them to everybody.`);
  if (dealing === null) alarm(`${deed}. It had not shown that this player was ready.`);
  if (now_ms - dealing < least(options.reveal_seconds))
    alarm(`${deed}, ${inSeconds(now_ms - dealing)} into the ${inSeconds(1000 * options.reveal_seconds)} for that.`);
  return `${deed}; only that player's client can check this.`;
}

function judgeOwnAbsence({ longest_absence_ms: absent_ms, options }) {
  if (absent_ms && absent_ms >= least(options.grace_seconds))
    return `Your connection was down for ${inSeconds(absent_ms)}, so your race ended.`;
  const longest = absent_ms ? `was down for ${inSeconds(absent_ms)} at most` : "was up all the time";
  return alarm(`The server says that you were away for ${inSeconds(1000 * options.grace_seconds)}. Your connection ${longest}.`);
}

function judgeAbsence({ away_ms, isComplete, options }, seat, now_ms) {
  const [deed, away] = ["The server says that the other player was away too long", away_ms[seat]];
  if (away === null && isComplete) alarm(`${deed}, and has not shown that this player was gone.`);
  if (away !== null && now_ms - away < least(options.grace_seconds))
    alarm(`${deed}: ${inSeconds(now_ms - away)} of the ${inSeconds(1000 * options.grace_seconds)} that the seat waits.`);
  return `${deed}; only that player's client can check this.`;
}

function judgeTime({ options, started_ms: started, stopped_ms: stopped, closing }, seat, now_ms) {
  let left_ms = null;
  if (started !== null) {
    const chases = stopped.filter((at) => at !== null).map((at) => Math.max(started, at) + 1000 * options.chase_seconds);
    left_ms = Math.min(started + 1000 * options.limit_seconds, ...chases) - now_ms;
    if (left_ms <= TOLERANCE_MS) return PROVED;
  }
  if (closing !== null) {
    return `The round was broken off by the operator after the deck was fixed${closing ? `: ${closing}` : "."} The deal is `
      + "proved, and the cards placed until then decide.";
  }
  if (left_ms === null) return alarm("The server says that time ran out. The race had not started.");
  return alarm(`The server says that time ran out. By your clock, ${inSeconds(left_ms)} were left.`);
}
