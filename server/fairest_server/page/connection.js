// One connection to the server this page came from, which is opened again when it drops. Its witness keeps what was shown
// of the room and checks it; `onChange` is called behind each message.
import { drawHex } from "./bytes.js";
import { Cheated } from "./cheated.js";
import { commitEntropy } from "./seal.js";
import { ownClock } from "./own_clock.js";
import { Receipt } from "./receipts.js";
import { compareServer } from "./server_past.js";
import { SocketLine, isClosedForGood, socketUrl } from "./socket_line.js";
import { TEXT } from "./texts.js";
import {
  forgetToken, hasOtherToken, isOtherTabLast, keepCommitment, keepToken, noteTab, readEntropies, readToken,
} from "./storage.js";
import { Contradiction, REVEAL_PING, Witness } from "./witness.js";

const CAPABILITIES = ["certified", "credit"];
const LEAVE_ID = "leave";
/** How long to wait before a request that Redis could not take is sent again. */
const RETRY_MS = 300;

/** The phases in which leaving gives up no race. */
const LEFT_AT_NO_COST = ["waiting", "ready", "finished"];

/** The ways out of a room that a close code is, for `round_end.js`. */
const WAYS_OUT = { 4407: "bad_token", 4409: "replaced", 4410: "banned" };

/** The states of a connection: `status` is one of them. */
export const STATUS = { CONNECTING: "connecting", CONNECTED: "connected", LOST: "lost", ENDED: "ended" };

/** A viewer's or a player's way into one room. */
export class RoomConnection {
  status = STATUS.CONNECTING;
  /** Why the connection has ended for good, or what the server refused last. */
  sentence = "";
  clockAhead = 0;
  /** While we wait in the queue, the last `queued` of the server; otherwise null. */
  queued = null;
  /** What contradicts what this server has shown to this browser before, in words; empty if nothing does. */
  warning = "";
  #receipt = null;
  #witness = null;
  #entry;
  /** The request with which we began: that of the queue comes again when an opponent does not arrive. */
  queueing;
  #onChange;
  #line = new SocketLine({
    open: () => this.#greet(),
    text: (text) => this.#take(text),
    room: () => this.#entry.room,
    lost: (code, reason) => this.#lost(code, reason),
    beat: () => this.status === STATUS.CONNECTED && this.#send({ type: "ping" }),
  });
  #hasAskedRecord = false;
  #name;
  /** The token with which we said hello last, or the one that the server has given us. */
  #token = null;
  #asked = null;
  /** Whether the player leaves this room for the next opponent: after a drop, the seat is given up all the same. */
  leavesForNext = false;

  /**
   * `entry` is the request that leads into the room: `watch`, `join`, `create` or `queue`. `onChange(connection, message)` is
   * called behind each message, and with null when the status changes.
   */
  constructor(entry, onChange, { name = null } = {}) {
    this.#entry = this.queueing = entry;
    this.#onChange = onChange;
    this.#name = name;
    this.#line.open();
  }

  /** End the connection for good. */
  close() {
    this.#end("");
  }

  // What the server has shown of the room; see `Witness`.
  get room() {
    return this.#witness?.room ?? null;
  }

  get seat() {
    return this.#witness?.seat ?? null;
  }

  get scene() {
    return this.#witness?.scene ?? null;
  }

  get placed() {
    return this.#witness?.placed ?? null;
  }

  get watching() {
    return (this.status === STATUS.CONNECTED && this.#witness?.watching) || 0;
  }

  get sent() {
    return this.#witness?.sent ?? [];
  }

  get check() {
    return this.#witness?.check ?? null;
  }

  /** What rests on the server's word in the end of the newest round, in words; empty if the end was proved. */
  get explanation() {
    return this.#witness?.binding.lastEnd?.explanation ?? "";
  }

  /** The server's clock now, in milliseconds. */
  get now() {
    return Date.now() + this.clockAhead;
  }

  /** Whether the room waits for our `ready`. */
  get isReadyWanted() {
    return this.status === STATUS.CONNECTED && this.scene?.phase === "ready" && this.seat !== null
      && this.scene.seats[this.seat].entropy_hash === null;
  }

  getReady() {
    if (!this.isReadyWanted) return;
    const { round } = this.scene;
    this.check.entropies[round] ??= drawHex(32);
    this.#send({ type: "ready", round, entropy_hash: this.#commit(null) });
  }

  /** Keep what we commit to in this round, with the hash of the other player, null before we reveal; return our hash. */
  #commit(otherHash) {
    const { seat, scene: { round, commitment } } = this;
    const entropy = this.check.entropies[round];
    const hash = commitEntropy(round, seat, entropy);
    keepCommitment({ round_id: round, commitment, seat, entropy, entropy_hash: hash, other_hash: otherHash });
    return hash;
  }

  /** Send a move. It stays in `sent` until the view or a refusal answers it. */
  play(move) {
    const number = this.scene.seats[this.seat].moves + this.sent.length + 1;
    this.#send({ type: "play", number, move });
  }

  askRematch() {
    this.#send({ type: "rematch" });
  }

  /** Wait for an opponent no longer. If we are on the way into a room already, the room comes. */
  leaveQueue() {
    this.#send({ type: "leave_queue", id: LEAVE_ID });
  }

  leave() {
    this.#send({ type: "leave" });
  }

  leaveForNext() {
    this.leavesForNext = true;
    this.leave();
  }

  get #hello() {
    return { type: "hello", token: this.#token, name: this.#name, client: "fairest page", capabilities: CAPABILITIES };
  }

  /** Whether nothing is at stake: we wait for an opponent, or have not got ready yet. */
  get #mayMove() {
    const own = this.seat === null ? null : this.scene?.seats[this.seat];
    if (!own || own.entropy_hash) return false;
    return this.scene.phase === "waiting" || (this.scene.phase === "ready" && !this.check.entropies[this.scene.round]);
  }

  #greet() {
    this.#token = readToken();
    this.#send(this.#hello);
    // Not behind the answer: that would cost the first board another round trip.
    this.#asked = this.#entry;
    this.#send(this.#entry);
  }

  #lost(code, reason) {
    if (this.status === STATUS.ENDED) return;
    // A token that another tab has renewed is no way out of the round: the new one leads back to our seat.
    const mayForget = !this.#witness?.binding.isBound || hasOtherToken(this.#token);
    if (WAYS_OUT[code] === "bad_token" && mayForget) forgetToken(this.#token);
    else if (WAYS_OUT[code] === "replaced" && isOtherTabLast()) {
      this.#end(TEXT.otherTab);
      return;
    } else if (isClosedForGood(code)) {
      const sentence = this.sentence || TEXT.closedBy(code, reason);
      this.#out(WAYS_OUT[code] ?? "closed", sentence);
      return;
    }
    this.#noteDrop();
    this.#become(STATUS.LOST);
    this.#line.openAgain(code);
  }

  #noteDrop() {
    const binding = this.#witness?.binding;
    if (binding && !binding.isDown) this.#receipt.note({ dropped: { alive_ms: Math.round(binding.alive_ms) } }, ownClock());
    binding?.drop();
  }

  /** End the connection for good in a way that the server has chosen, which must be explained by what it has shown. */
  #out(kind, sentence) {
    this.#judged(() => {
      this.#receipt?.note({ ended: { way_out: kind, detail: sentence } }, ownClock());
      const explanation = this.#witness?.wayOut(kind, sentence, ownClock()) ?? "";
      this.#end(`${sentence} ${explanation}`.trim());
    });
  }

  /** Do a work that may find that the server cheats; then stop everything. */
  #judged(work) {
    try {
      work();
    } catch (fault) {
      if (!(fault instanceof Cheated)) throw fault;
      this.cheated = fault.message;
      this.#end(fault.message);
    }
  }

  #end(sentence) {
    this.sentence = sentence;
    this.#line.end();
    this.#become(STATUS.ENDED);
  }

  #become(status) {
    if (this.status === status) return;
    this.status = status;
    this.#onChange(this, null);
  }

  #send(message) {
    if (!this.#line.isOpen) return;
    const at_ms = ownClock();
    this.#receipt?.said(message, at_ms);
    this.#witness?.said(message, at_ms);
    if (["create", "join", "resume", "queue"].includes(message.type)) noteTab();
    this.#line.send(message);
  }

  #take(text) {
    let message = null;
    this.#judged(() => {
      try {
        message = JSON.parse(text);
        if (this.#witness) this.#hear(message, ownClock());
        this.#apply(message);
      } catch (fault) {
        if (!(fault instanceof Contradiction || fault instanceof SyntaxError)) throw fault;
        this.#out("contradiction", fault.message);
      }
    });
    if (this.status !== STATUS.ENDED) this.#onChange(this, message);
  }

  /** Let the witness take a message. The receipt has it first, so that it also holds one that breaks the seal. */
  #hear(message, at_ms) {
    const { binding } = this.#witness;
    if (binding.isSilent(at_ms)) this.#noteDrop();
    const isBack = message.type === "pong" && binding.isDown;
    this.#receipt.heard(message, this.#witness, at_ms);
    this.#witness.hear(message, at_ms);
    if (isBack) this.#receipt.note({ returned: {} }, at_ms);
    const arrived = message.type === "pong" && message.id?.startsWith(REVEAL_PING) ? message.id.slice(REVEAL_PING.length) : null;
    if (arrived && binding.isBoundTo(arrived)) this.#receipt.note({ arrived: { round: arrived } }, at_ms);
  }

  #apply(message) {
    const handle = {
      welcome: () => this.#welcome(message),
      snapshot: () => this.#show(message),
      view: () => this.#entered(),
      elsewhere: () => this.#line.tryMove(this.#hello, ({ key }) => (key === this.check?.key && this.#mayMove ? this.#entry : null)),
      refused: () => this.#refused(message),
      queued: () => this.#waits(message),
      left_queue: () => this.#end(message.id === LEAVE_ID ? TEXT.leftQueue : TEXT.takenFromQueue),
      error: () => (this.sentence = message.sentence),
      left: () => this.#end(`${this.sentence || TEXT.hasLeft} ${this.explanation}`.trim()),
    }[message.type];
    handle?.();
    if (message.type === "snapshot" || message.type === "view") this.#goOn();
  }

  #welcome({ token, key, now_ms, rounds }) {
    if (token) keepToken((this.#token = token));
    this.clockAhead = now_ms - Date.now();
    if (this.check && this.check.key !== key) throw new Cheated("The server has another key than before.");
    this.#witness ??= new Witness(key, readEntropies());
    this.#receipt ??= new Receipt(socketUrl(), key);
    this.warning = compareServer(key, rounds, now_ms);
  }

  /** We wait in the queue, or again, if the opponent did not arrive: then the room is gone for us. */
  #waits(message) {
    if (this.scene) {
      const { key } = this.check;
      this.#judged(() => this.#witness.wayOut("left", "", ownClock()));
      if (this.status === STATUS.ENDED) return;
      this.#witness = new Witness(key, readEntropies());
      this.#receipt = new Receipt(socketUrl(), key);
      this.#entry = this.queueing;
    }
    this.queued = message;
    this.#asked = this.#entry;
    this.status = STATUS.CONNECTED;
    this.#line.serves();
  }

  #show({ now_ms }) {
    this.queued = null;
    this.clockAhead = now_ms - Date.now();
    this.#hasAskedRecord = false;
    this.#entered();
  }

  /** A drop from now on is answered by coming back to what was seen. Moves that may be lost are sent again. */
  #entered() {
    this.#line.serves();
    this.sentence = "";
    if (this.queueing.type === "queue" && this.scene.round === null) {
      // A room in which the queue has led nobody to us is given up with the connection.
      this.#entry = this.queueing;
    } else if (this.seat === null) this.#entry = { type: "watch", room: this.room };
    else this.#entry = { type: "resume", room: this.room, position: this.#witness.position, tag: this.#witness.tag };
    if (this.#asked) {
      this.#asked = null;
      this.status = STATUS.CONNECTED;
      for (const { number, move } of this.sent) this.#send({ type: "play", number, move });
      // The player was ready for this round, and the server may never have heard it.
      if (this.check?.entropies[this.scene.round]) this.getReady();
      if (this.leavesForNext && LEFT_AT_NO_COST.includes(this.scene.phase)) this.leave();
    }
  }

  /** Show our bytes, if they are due. */
  #reveal() {
    const { phase, round, seats } = this.scene;
    const entropy = this.check.entropies[round];
    if (this.seat === null || phase !== "dealing" || !entropy || seats[this.seat].entropy) return;
    this.#commit(seats[1 - this.seat].entropy_hash);
    this.#send({ type: "reveal", round, entropy });
    // Its answer proves that the server has our bytes.
    this.#send({ type: "ping", id: REVEAL_PING + round });
  }

  #goOn() {
    const { phase, match_is_over: isOver } = this.scene;
    this.#reveal();
    const wantsRecord = phase === "finished" && isOver;
    if (wantsRecord && !this.#hasAskedRecord) this.#send({ type: "get_record" });
    this.#hasAskedRecord = wantsRecord;
    if (phase === "closed") this.#end(`${TEXT.roomClosed} ${this.explanation}`.trim());
  }

  /** Of each request that a button or a phase has led to: what sends it again, if it is still due. */
  #again = {
    ready: () => this.getReady(),
    reveal: () => this.#reveal(),
    rematch: () => this.scene?.phase === "finished" && this.askRematch(),
    leave: () => this.leave(),
  };

  #refused({ to, code, sentence, number }) {
    this.sentence = sentence;
    if (code === "try_again" || code === "in_doubt") {
      const again = to === "play" ? this.sent.find((each) => each.number === number) : null;
      if (again) this.#line.later(RETRY_MS, () => this.#send({ type: "play", ...again }));
      else if (Object.hasOwn(this.#again, to)) this.#line.later(RETRY_MS, this.#again[to]);
      else if (to === this.#asked?.type) this.#line.later(RETRY_MS, () => this.#send(this.#asked));
    } else if (code === "already_seated" && this.#asked?.room) {
      // The player of this browser has a seat here: this page takes it.
      this.#asked = { type: "join", room: this.#asked.room };
      this.#send(this.#asked);
    } else if (to === "play") this.#witness.refuse(number);
    else if (to === "hello" || to === this.#asked?.type) this.#out("refused", sentence);
  }
}
