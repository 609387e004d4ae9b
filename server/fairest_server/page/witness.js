// What this page knows of a room, folded over the server's messages, with the checks that hold the server to its seal and
// to the round. It knows no socket and no clock: times come in as milliseconds of the page's own clock.
import { Binding } from "./binding.js";
import { cardOf, goalOf, legalMoves, placedOn } from "./board.js";
import { Cheated } from "./cheated.js";
import { checkBoards, checkLedger, checkStanding, checkUndealtOutcome, checkWinner } from "./outcome_check.js";
import DATA from "./record_data.js";
import { afterEntry } from "./scene.js";
import { SealCheck } from "./seal_check.js";

/** The id of a ping that is sent behind our bytes, with the round behind it. */
export const REVEAL_PING = "reveal-";

/** Raised for a message that cannot follow what the server sent before. */
export class Contradiction extends Error {}

/** A room as far as the server has shown it. `key` is the server's. Methods throw `Cheated` and `Contradiction`. */
export class Witness {
  room = null;
  /** Our seat, null for a spectator. */
  seat = null;
  scene = null;
  /** The counts of the last tick, which may be ahead of the boards. */
  placed = null;
  /** The number of spectators that the server counted last. */
  watching = 0;
  /** Moves that were sent and are not answered yet, as {number, move}. */
  sent = [];
  position = 0;
  tag = null;
  check;
  binding = new Binding();

  /** `entropies` are our bytes by round, `ownHashes` the hashes of those that are not known any more. */
  constructor(key, entropies, ownHashes = {}) {
    this.check = Object.assign(new SealCheck(key), { key, entropies, ownHashes });
  }

  /** Take a message of the server. */
  hear(message, now_ms) {
    if (!["snapshot", "view"].includes(message.type)) this.binding.alive(now_ms);
    const take = {
      snapshot: () => this.#snapshot(message, now_ms),
      view: () => this.#view(message, now_ms),
      placed: () => (this.placed = message.placed),
      watching: () => (this.watching = message.watching),
      accepted: () => this.#answered(message.number),
      pong: () => this.#pong(message, now_ms),
      left: () => this.wayOut("left", "", now_ms),
    }[message.type];
    try {
      take?.();
    } catch (fault) {
      // A message without the fields of its type, or of a board that is not there.
      if (fault instanceof TypeError || fault instanceof RangeError) throw new Contradiction(fault.message);
      throw fault;
    }
  }

  /** Note a message of ours that is sent. */
  said(message, now_ms) {
    if (message.type === "play" && !this.sent.some(({ number }) => number === message.number))
      this.sent.push({ number: message.number, move: message.move });
    this.binding.said(message, now_ms);
  }

  /** We leave the room, or are put out of it; return the explanation. */
  wayOut(kind, detail, now_ms) {
    const explanation = this.binding.wayOut(kind, detail, now_ms);
    this.binding.outside();
    return explanation;
  }

  /** The server refused a move, so the moves behind it as well; their numbers can be used again. */
  refuse(number) {
    this.sent = this.sent.filter((each) => each.number < number);
  }

  #snapshot({ room, seat, scene, position, tag }, now_ms) {
    const hasOptions = this.room === room && this.scene;
    if (hasOptions && JSON.stringify(this.scene.options) !== JSON.stringify(scene.options))
      throw new Cheated("The server has changed the rules of the room.");
    this.check.afterSnapshot(this.scene, scene, seat);
    if (seat !== null && scene.seats[seat].name === null) throw new Contradiction("it shows us a seat of ours that is free");
    if (this.binding.isBoundTo(scene.round) && scene.outcome) {
      this.#checkCounts(scene, scene.outcome);
      checkLedger(scene.outcome, scene.options);
      this.#checkOwnScore(scene.outcome);
    }
    this.binding.afterSnapshot(scene, seat, now_ms);
    Object.assign(this, { room, seat, scene, position, tag, placed: null, watching: 0 });
    this.binding.settleAndReturn(now_ms);
    this.#dropMadeMoves();
  }

  #view({ entries, position, tag }, now_ms) {
    const first = position - entries.length + 1;
    if (!this.scene || first > this.position + 1)
      throw new Contradiction(`entry ${first} of the view follows entry ${this.position}`);
    for (const entry of entries.slice(this.position + 1 - first)) this.#entry(entry, now_ms);
    if (position >= this.position) [this.position, this.tag] = [position, tag];
    this.binding.settleAndReturn(now_ms);
    this.#dropMadeMoves();
  }

  #entry(entry, now_ms) {
    const before = this.scene;
    this.#checkOwnMove(entry);
    // A room that is closed is the operator's deed, which the binding names; the rest the seal has to judge.
    if (entry.type !== "room_closed") this.check.afterEntry(before, entry);
    if (entry.type === "round_opened") checkBeginsMatch(entry, before);
    if (entry.type === "round_opened" || entry.type === "started") this.placed = null;
    if (entry.type === "moved") checkMoved(before, entry);
    this.scene = afterEntry(before, entry);
    if (entry.type === "round_finished") {
      this.placed = null;
      checkStanding(before, entry);
      checkLedger(entry.outcome, before.options);
      if (!this.check.shown || !before.envelopes.length) this.#checkCounts(before, entry.outcome);
    }
    this.binding.afterEntry(entry, this.scene, this.seat, now_ms);
    if (entry.type === "room_closed") {
      this.binding.settle(now_ms);
      this.check.afterEntry(before, entry);
    }
  }

  /** Frames arrive in order, so a server that answers a ping has what was sent ahead of it. */
  #pong({ id }, now_ms) {
    if (this.scene) this.binding.pong(now_ms);
    if (id?.startsWith(REVEAL_PING)) this.binding.arrived(id.slice(REVEAL_PING.length), now_ms);
  }

  /** Compare our part of a result that a snapshot shows with our moves, of which the last may be unanswered. */
  #checkOwnScore({ scores }) {
    const board = this.seat === null ? null : this.scene?.seats[this.seat].board;
    if (!board || !this.binding.isOwnPastKnown) return;
    const [{ placed, ending }, more] = [scores[this.seat], this.sent.length];
    if (placed < placedOn(board) || placed > placedOn(board) + more)
      throw new Cheated("The server counts other cards for us than we have placed.");
    const hasEnded = placedOn(board) === goalOf(board) || !legalMoves(board).length;
    if (!more && ["won", "stuck"].includes(ending) && !hasEnded)
      throw new Cheated(`The server says that our race has ended as ${ending}. It has not.`);
  }

  #checkCounts({ envelopes, options, seats, phase }, outcome) {
    if (!Object.hasOwn(DATA.variants, options.rules)) return;
    // In a room that waits or is closed a seat was freed since, and the cards went with it.
    if (envelopes.length && ["waiting", "closed"].includes(phase)) checkWinner(outcome, options.direct_breaks_ties);
    else if (envelopes.length) checkBoards(seats.map(({ board }) => board), outcome, options.direct_breaks_ties);
    else checkUndealtOutcome(options, outcome);
  }

  /** A page that was opened again does not know the moves that it sent before. */
  #checkOwnMove({ type, seat, number, move }) {
    if (type !== "moved" || seat !== this.seat || !this.check.shown) return;
    const isOurs = this.sent.some((each) => each.number === number && each.move === move);
    if (!isOurs) throw new Cheated(`The server made the move ${move} in our name.`);
  }

  #answered(number) {
    this.sent = this.sent.filter((each) => each.number > number);
  }

  #dropMadeMoves() {
    const own = this.seat === null ? null : this.scene.seats[this.seat];
    if (own && this.scene.phase === "racing") this.#answered(own.moves);
    else this.sent = [];
  }
}

/** A move that is shown must be the next one of its seat, within the rules, and of the card that its board has there. */
function checkMoved({ seats }, { seat, number, move, card }) {
  if (move === "stop" || move === "resign") return;
  const { board, moves } = seats[seat];
  if (!legalMoves(board).includes(move)) throw new Contradiction(`move ${move} of seat ${seat} is against the rules`);
  if (number !== moves + 1 || (card ?? null) !== (cardOf(board, move) ?? null))
    throw new Contradiction(`move ${move} of seat ${seat} moves another card, or comes out of turn`);
}

/** A round begins a match just when the one before is over; a seat that was freed ends a match too. */
function checkBeginsMatch({ round_number: number }, { phase, match_is_over: isOver }) {
  const begins = phase !== "finished" || isOver;
  if (begins && number > 1) throw new Cheated(`The server opens round ${number} of a match that is over, or has not begun.`);
  if (!begins && number === 1) throw new Cheated("The server begins another match, and the one before is not over.");
}
