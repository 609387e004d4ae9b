// The WebSocket to the server that this page came from: its signs of life, and the pauses before it is opened again.

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15000;
/** The longest pause after a server that is full or restarts (1013). */
const MAX_FULL_PAUSE_MS = 60000;
/** Without a message for this long, the page asks for a sign of life. A browser cannot send WebSocket pings. */
const PING_MS = 10000;
const SILENT_MS = 22000;
/** The close code for a token that the server does not know. */
export const BAD_TOKEN = 4407;

/** Return whether another socket would be closed for the same reason as one that was closed with this code. */
export const isClosedForGood = (code) => code >= 4000 || code === 1003 || code === 1009;

/** Return the URL of the WebSocket of the server that the page came from; with a room, the address of that room. */
export const socketUrl = (room = null) => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/${room ? `r/${room}` : ""}`;

/** A line to the server. It is lost at most once each time that it is opened, also if the server falls silent. */
export class SocketLine {
  #socket = null;
  #pause = FIRST_PAUSE_MS;
  #timers = new Set();
  #heardAt = 0;
  /** How often it was opened since the server served us last. */
  #openings = 0;
  #on;

  /**
   * `on` has `open()`, `text(text)`, `lost(code, reason)`, `beat()`, which asks for a sign of life, and `room()`, which returns the
   * code of the room that we are about to enter, if we know it.
   */
  constructor(on) {
    this.#on = on;
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  open() {
    // Every second time at the server's own: the process that does not answer may be that of our room.
    const socket = new WebSocket(socketUrl(this.#openings % 2 ? null : this.#on.room()), "fairest.v1");
    this.#openings += 1;
    this.#socket = socket;
    this.#heardAt = Date.now();
    socket.onopen = () => this.#on.open();
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.#heardAt = Date.now();
      this.#on.text(data);
    };
    socket.onclose = ({ code, reason }) => this.#lose(socket, code, reason);
    this.later(PING_MS, () => this.#beat(socket));
  }

  /** Open it again after a pause, which grows with each attempt that leads nowhere. `code` is that of the close. */
  openAgain(code) {
    this.later(this.#pause * (0.5 + Math.random() / 2), () => this.open());
    this.#pause = Math.min(2 * this.#pause, code === 1013 ? MAX_FULL_PAUSE_MS : MAX_PAUSE_MS);
  }

  /** Note that the server serves us: the next pause is short again. */
  serves() {
    this.#pause = FIRST_PAUSE_MS;
    this.#openings = 0;
  }

  send(message) {
    this.#socket.send(JSON.stringify(message));
  }

  /** Do a work after some time, unless the line is ended before. */
  later(wait_ms, work) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, wait_ms);
    this.#timers.add(timer);
  }

  /** Close it for good. */
  end() {
    for (const timer of this.#timers) clearTimeout(timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  /** Ask for a sign of life, or take the line for lost if there was none. */
  #beat(socket) {
    if (socket !== this.#socket) return;
    if (Date.now() - this.#heardAt > SILENT_MS) {
      socket.close();
      this.#lose(socket, 1006, "");
      return;
    }
    this.#on.beat();
    this.later(PING_MS, () => this.#beat(socket));
  }

  #lose(socket, code, reason) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#on.lost(code, reason);
  }
}
