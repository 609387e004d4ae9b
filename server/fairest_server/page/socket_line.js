// The WebSocket to the server that this page came from: its signs of life, and the pauses before it is opened again.

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15000;
/** The longest pause after a server that is full or restarts (1013). */
const MAX_FULL_PAUSE_MS = 60000;
/** Without a message for this long, the page asks for a sign of life. A browser cannot send WebSocket pings. */
const PING_MS = 10000;
const SILENT_MS = 22000;
/** A move to another socket that has not shown our seat after this long is given up. */
const MOVE_MS = 5000;
/** Once our seat is asked for on another socket, nothing is sent or shown for this long at most. */
const RESUME_MS = 2000;
const REPLACED = 4409;
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
  /** The other socket to which we try to move, and whether it was tried on the present one. */
  #other = null;
  #hasTried = false;
  /** What waits for the answer to the request for our seat on the other socket: works, in order. Otherwise null. */
  #held = null;
  /** Whether our seat was asked for on another socket, and not shown there. */
  #hasAskedElsewhere = false;
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
    this.#hasTried = this.#hasAskedElsewhere = false;
    socket.onopen = () => this.#on.open();
    this.#use(socket);
  }

  /**
   * Open another socket at the address of our room, and go on over it once our seat is shown there. Until then, and if anything
   * fails, we stay on the present one. Once for each socket. `hello` is our greeting, and `nextRequest(welcome)` returns the request
   * for our seat, or null to stay.
   */
  tryMove(hello, nextRequest) {
    if (this.#hasTried || !this.isOpen) return;
    this.#hasTried = true;
    const before = this.#socket;
    const other = (this.#other = new WebSocket(socketUrl(this.#on.room()), "fairest.v1"));
    const stay = () => this.#stay(other);
    other.onopen = () => other.send(JSON.stringify(hello));
    other.onclose = stay;
    other.onmessage = ({ data }) => {
      const message = parsed(data);
      if (message?.type === "welcome" && !this.#held) {
        const request = before === this.#socket ? nextRequest(message) : null;
        if (!request) return stay();
        this.#held = [];
        this.#hasAskedElsewhere = true;
        this.later(RESUME_MS, stay);
        other.send(JSON.stringify(request));
      } else if (this.#held && ["view", "snapshot"].includes(message?.type)) this.#move(other, data);
      else if (["refused", "error", undefined].includes(message?.type)) stay();
    };
    this.later(MOVE_MS, stay);
  }

  /** Read and lose this socket from now on. */
  #use(socket) {
    this.#socket = socket;
    this.#heardAt = Date.now();
    socket.onmessage = ({ data }) => this.#orHold(() => {
      if (socket !== this.#socket) return;
      this.#heardAt = Date.now();
      this.#on.text(data);
    });
    socket.onclose = ({ code, reason }) => this.#orHold(() => this.#lose(socket, code, reason));
    this.later(PING_MS, () => this.#beat(socket));
  }

  /** Do a work now, or when the request for our seat on another socket is answered. */
  #orHold(work) {
    if (this.#held) this.#held.push(work);
    else work();
  }

  /** Go on over the other socket, on which our seat was shown with this text. What the first one has shown meanwhile is passed over. */
  #move(other, text) {
    const before = this.#socket;
    const held = this.#held;
    this.#other = this.#held = null;
    this.#hasAskedElsewhere = false;
    this.#use(other);
    before.close();
    this.#on.text(text);
    for (const work of held) work();
  }

  /** Go on where we are. */
  #stay(other) {
    if (other !== this.#other) return;
    const held = this.#held ?? [];
    this.#other = this.#held = null;
    other.close();
    for (const work of held) work();
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
    this.#orHold(() => this.isOpen && this.#socket.send(JSON.stringify(message)));
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
    const sockets = [this.#socket, this.#other];
    this.#socket = this.#other = this.#held = null;
    for (const socket of sockets) socket?.close();
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
    // A seat that a move of ours has taken, and that failed then, is a lost connection.
    const isOurs = code === REPLACED && this.#hasAskedElsewhere;
    this.#on.lost(isOurs ? 1006 : code, isOurs ? "" : reason);
  }
}

const parsed = (data) => {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
};
