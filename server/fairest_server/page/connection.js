// One connection to the server this page came from, which is opened again when it drops. It keeps the scene of the
// room that it is in, checks every entry, and calls `onChange` behind each message.
import { afterEntry } from "./scene.js";
import { Cheated, SealCheck } from "./seal_check.js";
import { commitEntropy } from "./seal.js";
import { toHex } from "./bytes.js";

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15000;
/** Without a message for this long, the page asks for a sign of life. A browser cannot send WebSocket pings. */
const PING_MS = 10000;
const SILENT_MS = 22000;
const TOKEN_NAME = "fairest.token";

/** Return the URL of the WebSocket of the server that the page came from. */
const socketUrl = () => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`;

/** The states of a connection: `status` is one of them. */
export const STATUS = { CONNECTING: "connecting", CONNECTED: "connected", LOST: "lost", ENDED: "ended" };

/** A viewer's or a player's way into one room. */
export class RoomConnection {
  status = STATUS.CONNECTING;
  room = null;
  /** Our seat, null for a spectator. */
  seat = null;
  scene = null;
  /** The counts of the last tick, which may be ahead of the boards. */
  placed = null;
  /** Moves that were sent and are not answered yet, as {number, move}. */
  sent = [];
  /** Why the connection has ended for good, or what the server refused last. */
  sentence = "";
  check = null;
  clockAhead = 0;
  #entry;
  #onChange;
  #socket = null;
  #pause = FIRST_PAUSE_MS;
  #position = 0;
  #tag = null;
  #timers = new Set();
  #heardAt = 0;
  #hasAskedRecord = false;
  #name;
  #asked = null;

  /**
   * `entry` is the request that leads into the room: `watch`, `join` or `create`. `onChange(connection, message)` is
   * called behind each message, and with null when the status changes.
   */
  constructor(entry, onChange, { name = null } = {}) {
    this.#entry = entry;
    this.#onChange = onChange;
    this.#name = name;
    this.#open();
  }

  /** End the connection for good. */
  close() {
    this.#end("");
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
    const entropy = (this.check.entropies[round] ??= toHex(crypto.getRandomValues(new Uint8Array(32))));
    keepEntropy(round, entropy);
    this.#send({ type: "ready", round, entropy_hash: commitEntropy(round, this.seat, entropy) });
  }

  /** Send a move. It stays in `sent` until the view or a refusal answers it. */
  play(move) {
    const number = this.scene.seats[this.seat].moves + this.sent.length + 1;
    this.sent.push({ number, move });
    this.#send({ type: "play", number, move });
  }

  askRematch() {
    this.#send({ type: "rematch" });
  }

  leave() {
    this.#send({ type: "leave" });
  }

  #open() {
    this.#socket = new WebSocket(socketUrl(), "fairest.v1");
    const socket = this.#socket;
    this.#heardAt = Date.now();
    socket.onopen = () => this.#send({ type: "hello", token: readToken(), name: this.#name, client: "fairest page" });
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket) this.#take(JSON.parse(data));
    };
    socket.onclose = ({ code, reason }) => {
      if (socket === this.#socket) this.#lost(code, reason);
    };
    this.#later(PING_MS, () => this.#beat(socket));
  }

  #later(wait_ms, work) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, wait_ms);
    this.#timers.add(timer);
  }

  /** Ask for a sign of life, or take the connection for lost if there was none. */
  #beat(socket) {
    if (socket !== this.#socket) return;
    if (Date.now() - this.#heardAt > SILENT_MS) {
      socket.close();
      this.#lost(1006, "");
      return;
    }
    if (this.status === STATUS.CONNECTED) this.#send({ type: "ping" });
    this.#later(PING_MS, () => this.#beat(socket));
  }

  #lost(code, reason) {
    this.#socket = null;
    if (this.status === STATUS.ENDED) return;
    if (code === 4407) forgetToken();
    else if (code >= 4000 || code === 1003 || code === 1009) {
      this.#end(this.sentence || `The server closed the connection: ${code} ${reason}`);
      return;
    }
    this.#become(STATUS.LOST);
    this.#later(this.#pause * (0.5 + Math.random() / 2), () => this.#open());
    this.#pause = Math.min(2 * this.#pause, code === 1013 ? 60000 : MAX_PAUSE_MS);
  }

  #end(sentence) {
    this.sentence = sentence;
    for (const timer of this.#timers) clearTimeout(timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#become(STATUS.ENDED);
  }

  #become(status) {
    if (this.status === status) return;
    this.status = status;
    this.#onChange(this, null);
  }

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #take(message) {
    this.#heardAt = Date.now();
    try {
      this.#apply(message);
    } catch (fault) {
      if (!(fault instanceof Cheated)) throw fault;
      this.cheated = fault.message;
      this.#end(fault.message);
      return;
    }
    if (this.status !== STATUS.ENDED) this.#onChange(this, message);
  }

  #apply(message) {
    const handle = {
      welcome: () => this.#welcome(message),
      snapshot: () => this.#show(message),
      view: () => this.#view(message),
      placed: () => (this.placed = message.placed),
      accepted: () => this.#answered(message.number),
      refused: () => this.#refused(message),
      error: () => (this.sentence = message.sentence),
      left: () => this.#end(this.sentence || "You have left the room."),
    }[message.type];
    handle?.();
    if (message.type === "snapshot" || message.type === "view") this.#goOn();
  }

  #welcome({ token, key, now_ms }) {
    if (token) keepToken(token);
    this.clockAhead = now_ms - Date.now();
    if (this.check && this.check.key !== key) throw new Cheated("The server has another key than before.");
    this.check ??= Object.assign(new SealCheck(key), { key, entropies: readEntropies() });
    this.#asked = this.#entry;
    this.#send(this.#entry);
  }

  #show(snapshot) {
    this.check.afterSnapshot(this.scene, snapshot.scene, snapshot.seat);
    this.clockAhead = snapshot.now_ms - Date.now();
    Object.assign(this, { room: snapshot.room, seat: snapshot.seat, scene: snapshot.scene, placed: null });
    [this.#position, this.#tag, this.#hasAskedRecord] = [snapshot.position, snapshot.tag, false];
    this.#entered();
  }

  #view({ entries, position, tag }) {
    for (const entry of entries) {
      this.check.afterEntry(this.scene, entry);
      this.scene = afterEntry(this.scene, entry);
      if (entry.type === "moved" && entry.seat === this.seat) this.#answered(entry.number);
      if (entry.type === "round_opened") [this.sent, this.placed] = [[], null];
      if (entry.type === "round_finished") this.placed = null;
    }
    [this.#position, this.#tag] = [position, tag];
    this.#entered();
  }

  /** A drop from now on is answered by coming back to what was seen. Moves that may be lost are sent again. */
  #entered() {
    this.#pause = FIRST_PAUSE_MS;
    this.sentence = "";
    this.#entry = this.seat === null
      ? { type: "watch", room: this.room }
      : { type: "resume", room: this.room, position: this.#position, tag: this.#tag };
    if (this.#asked) {
      this.#asked = null;
      this.status = STATUS.CONNECTED;
      const known = this.seat === null ? 0 : this.scene.seats[this.seat].moves;
      this.sent = this.sent.filter(({ number }) => number > known);
      for (const { number, move } of this.sent) this.#send({ type: "play", number, move });
    }
  }

  #goOn() {
    const { phase, round, match_is_over: isOver } = this.scene;
    if (this.seat !== null && phase === "dealing" && this.check.entropies[round] && !this.scene.seats[this.seat].entropy)
      this.#send({ type: "reveal", round, entropy: this.check.entropies[round] });
    const wantsRecord = phase === "finished" && isOver;
    if (wantsRecord && !this.#hasAskedRecord) this.#send({ type: "get_record" });
    this.#hasAskedRecord = wantsRecord;
    if (phase === "closed") this.#end("The room is closed.");
  }

  #answered(number) {
    this.sent = this.sent.filter((each) => each.number > number);
  }

  #refused({ to, code, sentence, number }) {
    this.sentence = sentence;
    if (code === "try_again" || code === "in_doubt") {
      const again = to === "play" ? this.sent.find((each) => each.number === number) : null;
      if (again) this.#later(300, () => this.#send({ type: "play", ...again }));
      else if (to === this.#asked?.type) this.#later(300, () => this.#send(this.#asked));
    } else if (code === "already_seated") {
      // The player of this browser has a seat here: this page takes it.
      this.#asked = { type: "join", room: this.#asked.room };
      this.#send(this.#asked);
    } else if (to === "play") this.sent = this.sent.filter((each) => each.number < number);
    else if (to === "hello" || to === this.#asked?.type) this.#end(sentence);
  }
}

/** What a page keeps is read by this origin only. Without storage a page forgets its seat when it is closed. */
const storage = (() => {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
})();
const readToken = () => storage?.getItem(TOKEN_NAME) ?? null;
const keepToken = (token) => storage?.setItem(TOKEN_NAME, token);
const forgetToken = () => storage?.removeItem(TOKEN_NAME);

const ENTROPY_NAME = "fairest.entropies";
const MAX_ENTROPIES = 20;
const readEntropies = () => JSON.parse(storage?.getItem(ENTROPY_NAME) ?? "{}");

/** Keep our bytes of a round, for the case that the page is loaded again before they are revealed. */
function keepEntropy(round, entropy) {
  const kept = Object.entries({ ...readEntropies(), [round]: entropy }).slice(-MAX_ENTROPIES);
  storage?.setItem(ENTROPY_NAME, JSON.stringify(Object.fromEntries(kept)));
}
