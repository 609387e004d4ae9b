// A connection of requests and answers, outside of any room: each request is sent until it is answered, over any number of
// sockets. So every request must be safe to send again.
import { Cheated } from "./cheated.js";
import { STATUS } from "./connection.js";
import { compareServer } from "./server_past.js";
import { BAD_TOKEN, SocketLine, isClosedForGood } from "./socket_line.js";
import { forgetToken, keepToken, readToken } from "./storage.js";
import { TEXT } from "./texts.js";

const RETRY_MS = 500;
/** Refusals after which the very same request is sent again. */
const SEND_AGAIN = ["try_again", "in_doubt"];

/** Our requests to a server. It is opened with the first one. */
export class RequestConnection {
  status = STATUS.CONNECTING;
  /** Why the connection has ended for good, or why the last request was refused. */
  sentence = "";
  /** What contradicts what this server has shown to this browser before, in words. */
  warning = "";
  /** What the server was caught at; empty if nothing. */
  cheated = "";
  /** Our name, and the server's key in hexadecimal digits, once the server has welcomed us. */
  name = "";
  key = "";
  #capability;
  #wantedName;
  #onChange;
  #clockAhead = 0;
  #count = 0;
  /** The requests that wait for an answer, by their ids: {request, answered, refused}. */
  #waiting = new Map();
  #isOpened = false;
  /** While we greet with another name: `welcomed()` and `refused(sentence)`, one of which is called. Otherwise null. */
  #introduction = null;
  #line = new SocketLine({
    open: () => this.#greet(),
    text: (text) => this.#take(text),
    lost: (code, reason) => this.#lost(code, reason),
    beat: () => this.#line.isOpen && this.#line.send({ type: "ping" }),
    room: () => null,
  });

  /** `name` is that of our player, null for the one that it has. `onChange()` is called after each change. */
  constructor(capability, name, onChange) {
    [this.#capability, this.#wantedName, this.#onChange] = [capability, name, onChange];
  }

  /** The server's clock now, in milliseconds. */
  get now() {
    return Date.now() + this.#clockAhead;
  }

  /** Whether a request of this type waits for its answer. */
  isAsking(type) {
    return [...this.#waiting.values()].some(({ request }) => request.type === type);
  }

  /** Send a request until it is answered: `answered(answer)` or `refused({code, sentence})` is called then, once. */
  ask(request, answered, refused) {
    this.#count += 1;
    const id = `d${this.#count}`;
    this.#waiting.set(id, { request: { ...request, id }, answered, refused });
    if (!this.#isOpened) {
      this.#isOpened = true;
      this.#line.open();
    } else this.#send(id);
  }

  /** Take another name, by a greeting on another socket. If it is refused, we keep ours. */
  introduce(name, welcomed, refused) {
    [this.#wantedName, this.#introduction] = [name, { welcomed, refused }];
    this.#line.end();
    this.status = STATUS.CONNECTING;
    this.#line.open();
  }

  /** Do a work after some time, unless the connection is ended before. */
  later(wait_ms, work) {
    this.#line.later(wait_ms, work);
  }

  /** End the connection for good, since the server was caught at what the sentence says. */
  accuse(sentence) {
    this.cheated = sentence;
    this.end(sentence);
    this.#onChange();
  }

  end(sentence) {
    this.sentence = sentence;
    this.status = STATUS.ENDED;
    this.#waiting.clear();
    this.#line.end();
  }

  #send(id) {
    const waiting = this.#waiting.get(id);
    if (waiting && this.status === STATUS.CONNECTED) this.#line.send(waiting.request);
  }

  #greet() {
    this.#line.send({ type: "hello", token: readToken(), name: this.#wantedName, client: "fairest page", capabilities: [this.#capability] });
  }

  #take(text) {
    try {
      const message = JSON.parse(text);
      const waiting = this.#waiting.get(message.id);
      if (message.type === "welcome") this.#welcome(message);
      else if (message.type === "error") this.sentence = message.sentence;
      else if (message.type === "refused" && message.to === "hello") this.#refusedHello(message);
      else if (!waiting) return;
      else if (message.type === "refused" && SEND_AGAIN.includes(message.code)) this.later(RETRY_MS, () => this.#send(message.id));
      else {
        this.#waiting.delete(message.id);
        if (message.now_ms !== undefined) this.#clockAhead = message.now_ms - Date.now();
        if (message.type === "refused") waiting.refused(message);
        else waiting.answered(message);
      }
    } catch (fault) {
      // A message without the fields of its type, or of a board that is not there.
      const isBroken = [SyntaxError, TypeError, RangeError].some((kind) => fault instanceof kind);
      if (!(fault instanceof Cheated) && !isBroken) throw fault;
      this.accuse(fault.message);
      return;
    }
    this.#onChange();
  }

  #welcome({ token, name, key, now_ms: now, rounds }) {
    if (token) keepToken(token);
    [this.name, this.key] = [name, key];
    this.#clockAhead = now - Date.now();
    this.warning = compareServer(key, rounds, now);
    this.#line.serves();
    this.status = STATUS.CONNECTED;
    for (const id of this.#waiting.keys()) this.#send(id);
    const introduction = this.#introduction;
    this.#introduction = null;
    introduction?.welcomed();
  }

  #refusedHello({ code, sentence }) {
    if (SEND_AGAIN.includes(code)) this.later(RETRY_MS, () => this.#greet());
    else if (this.#introduction) {
      const { refused } = this.#introduction;
      this.#wantedName = this.#introduction = null;
      refused(sentence);
      this.#greet();
    } else this.end(sentence);
  }

  #lost(code, reason) {
    if (this.status === STATUS.ENDED) return;
    if (code === BAD_TOKEN) forgetToken();
    else if (isClosedForGood(code)) {
      this.end(this.sentence || TEXT.closedBy(code, reason));
      this.#onChange();
      return;
    }
    this.status = STATUS.LOST;
    this.#line.openAgain(code);
    this.#onChange();
  }
}
