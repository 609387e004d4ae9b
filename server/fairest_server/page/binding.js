// The round to which this page is bound, whether its connection is up, and how the last round ended.
import { Cheated } from "./cheated.js";
import {
  LONG_AGO_MS, beginEvidence, evidenceAfter, evidenceAfterAbsence, evidenceAfterArrival, evidenceAfterDrop,
  evidenceAfterSaid, evidenceAfterSnapshot, resumeEvidence,
} from "./evidence.js";
import { judgeFinish, judgeMissed, judgeVoid, judgeWayOut } from "./round_end.js";

/** A socket that is silent for longer, although it is pinged, belonged to a machine that was asleep. */
const SILENCE_MS = 15000;

/** Holds a server to the rounds to which this page is bound, over all its sockets. Methods throw `Cheated`. */
export class Binding {
  /** How the newest round ended, as {round, explanation}; the explanation is empty if the end was proved. */
  lastEnd = null;
  #evidence = null;
  #alive_ms = LONG_AGO_MS;
  #down_since_ms = LONG_AGO_MS;

  /** Whether a round is under way that the server must end rightly. */
  get isBound() {
    return this.#evidence !== null;
  }

  /** Whether this page has sent all that was sent for the round to which it is bound. */
  get isOwnPastKnown() {
    return this.#evidence?.isOwnPastKnown ?? false;
  }

  /** The round to which this page is bound, or undefined. */
  get round() {
    return this.#evidence?.round;
  }

  /** Whether the connection is down, and when it was last known to be up. */
  get isDown() {
    return this.#down_since_ms !== null;
  }

  get alive_ms() {
    return this.#alive_ms;
  }

  isBoundTo(round) {
    return this.#evidence?.round === round;
  }

  /** Return what an end of this page now, in the middle of the round, would be: {explanation} or {alarm}, a sentence. */
  judgeQuit(now_ms) {
    try {
      return { explanation: judgeWayOut(this.#evidence, "quit", "", this.#absent(now_ms)) };
    } catch (fault) {
      if (!(fault instanceof Cheated)) throw fault;
      return { alarm: fault.message };
    }
  }

  /** The server has shown that the connection is up. */
  alive(now_ms) {
    this.#alive_ms = now_ms;
  }

  /** Whether a message that comes now follows a silence that no living connection has: then it was down. */
  isSilent(now_ms) {
    return this.#down_since_ms === null && now_ms - this.#alive_ms > SILENCE_MS;
  }

  /** Our socket has ended; `alive_ms` is when the connection was last known to be up. */
  drop(alive_ms = this.#alive_ms) {
    this.#alive_ms = alive_ms;
    if (this.#evidence) this.#evidence = evidenceAfterDrop(this.#evidence);
    this.#down_since_ms ??= alive_ms;
  }

  /** The server has answered a ping in the room: after a silence, we are back. */
  pong(now_ms) {
    if (this.#evidence) this.#evidence = evidenceAfterAbsence(this.#evidence, this.#absent(now_ms));
    this.#returned(now_ms);
  }

  /** The server has answered a ping that was sent behind our bytes for this round. */
  arrived(round, now_ms) {
    if (this.#evidence) this.#evidence = evidenceAfterArrival(this.#evidence, round, now_ms);
  }

  said(message, now_ms) {
    if (this.#evidence) this.#evidence = evidenceAfterSaid(this.#evidence, message, now_ms);
  }

  /** An entry led to `scene`. The end of a round is judged with the entries that follow it in the same message. */
  afterEntry(entry, scene, seat, now_ms) {
    const at_ms = now_ms - this.#absent(now_ms);
    if (entry.type === "round_opened") this.settle(now_ms);
    else if (this.#evidence) this.#evidence = evidenceAfter(this.#evidence, entry, scene, at_ms);
    else if (entry.type === "player_ready" && entry.seat === seat) this.#evidence = beginEvidence(scene, seat, at_ms);
  }

  afterSnapshot(scene, seat, now_ms) {
    const at_ms = now_ms - this.#absent(now_ms);
    const evidence = this.#evidence;
    const isBound = seat !== null && scene.round !== null && scene.seats[seat].entropy_hash !== null;
    if (evidence && evidence.round !== scene.round && evidence.dealing_ms !== null)
      this.#end(judgeMissed(evidence, this.#absent(now_ms)));
    if (this.isBoundTo(scene.round) && this.#evidence) this.#evidence = evidenceAfterSnapshot(evidence, scene, at_ms);
    else this.#evidence = isBound && scene.secret === null ? resumeEvidence(scene, seat, at_ms) : null;
  }

  /** Judge a round that the entries up to here have ended. */
  settle(now_ms) {
    if (!this.#evidence) return;
    this.#evidence = evidenceAfterAbsence(this.#evidence, this.#absent(now_ms));
    const { isVoided, outcome, closing, isFreed } = this.#evidence;
    if (isVoided) this.#end(judgeVoid(this.#evidence));
    else if (outcome !== null) this.#end(judgeFinish(this.#evidence, outcome, now_ms));
    else if (closing !== null) this.#end(judgeWayOut(this.#evidence, "room_closed", closing, 0));
    else if (isFreed) this.#end(judgeWayOut(this.#evidence, "seat_freed", "", 0));
  }

  /** A whole message was taken: ended rounds are judged, and we are back in the room. */
  settleAndReturn(now_ms) {
    this.settle(now_ms);
    this.#returned(now_ms);
  }

  /** The room was left in a way that is no entry of the view; return the explanation. */
  wayOut(kind, detail, now_ms) {
    if (!this.#evidence) return "";
    this.#end(judgeWayOut(this.#evidence, kind, detail, this.#absent(now_ms)));
    return this.lastEnd.explanation;
  }

  /** A room that is entered now is no return. */
  outside() {
    this.#down_since_ms = LONG_AGO_MS;
  }

  #absent(now_ms) {
    return this.#down_since_ms === null ? 0 : now_ms - this.#down_since_ms;
  }

  #returned(now_ms) {
    [this.#alive_ms, this.#down_since_ms] = [now_ms, null];
  }

  #end(explanation) {
    this.lastEnd = { round: this.#evidence.round, explanation };
    this.#evidence = null;
  }
}
