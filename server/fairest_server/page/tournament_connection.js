// The connection of a spectator of a tournament: it asks for the tournament once a second, over any number of sockets.
import { STATUS } from "./connection.js";
import { compareServer } from "./server_past.js";
import { BAD_TOKEN, SocketLine, isClosedForGood } from "./socket_line.js";
import { forgetToken, keepToken, readToken } from "./storage.js";
import { TEXT } from "./texts.js";
import { faultOf } from "./tournament_rounds.js";

const ASK_MS = 1000;
const ENDED = ["over", "cancelled"];

/** A tournament that is watched. `shown` is null until the server has shown it. */
export class TournamentConnection {
  status = STATUS.CONNECTING;
  /** Why the connection has ended, if the server has refused it. */
  sentence = "";
  /** What contradicts what this server has shown to this browser before, in words. */
  warning = "";
  /** What the server was caught at; empty if nothing. */
  cheated = "";
  shown = null;
  /** The cards placed in the races under way, by the names of their players, as {placed, ended}. */
  counts = new Map();
  #code;
  #onChange;
  #clockAhead = 0;
  #line = new SocketLine({
    open: () => this.#line.send({ type: "hello", token: readToken(), name: null, client: "fairest page", capabilities: ["tournaments"] }),
    text: (text) => this.#take(JSON.parse(text)),
    lost: (code, reason) => this.#lost(code, reason),
    beat: () => this.#line.isOpen && this.#line.send({ type: "ping" }),
    room: () => null,
  });

  /** `onChange()` is called after each change. */
  constructor(code, onChange) {
    this.#code = code;
    this.#onChange = onChange;
    this.#line.open();
  }

  /** The server's clock now, in milliseconds. */
  get now() {
    return Date.now() + this.#clockAhead;
  }

  #ask() {
    if (this.#line.isOpen && this.status === STATUS.CONNECTED)
      this.#line.send({ type: "watch_tournament", tournament: this.#code, version: this.shown?.version ?? 0 });
  }

  #take(message) {
    const { type, code, version, now_ms: now } = message;
    if (type === "welcome") this.#welcome(message);
    else if (type === "error") this.sentence = message.sentence;
    else if (type === "refused") this.#refused(message);
    else if ((type === "tournament" || type === "tournament_tick") && code === this.#code) {
      this.#clockAhead = now - Date.now();
      if (type === "tournament_tick") this.counts = new Map(message.counts.map(({ name, ...count }) => [name, count]));
      else if (version >= (this.shown?.version ?? 0)) this.#show(message);
      if (this.status === STATUS.CONNECTED) this.#line.later(ASK_MS, () => this.#ask());
    } else return;
    this.#onChange();
  }

  #welcome({ token, key, now_ms: now, rounds }) {
    if (token) keepToken(token);
    this.#clockAhead = now - Date.now();
    this.warning = compareServer(key, rounds, now);
    this.#line.serves();
    this.status = STATUS.CONNECTED;
    this.#ask();
  }

  #show(shown) {
    this.cheated = faultOf(this.shown, shown);
    this.shown = shown;
    this.counts = new Map();
    if (this.cheated || ENDED.includes(shown.phase)) this.#end(this.cheated);
  }

  #refused({ to, code, sentence }) {
    if (code === "try_again") this.#line.later(ASK_MS, () => this.#ask());
    else if (to === "hello" || to === "watch_tournament") this.#end(sentence);
  }

  #lost(code, reason) {
    if (this.status === STATUS.ENDED) return;
    if (code === BAD_TOKEN) forgetToken();
    else if (isClosedForGood(code)) {
      this.#end(this.sentence || TEXT.closedBy(code, reason));
      this.#onChange();
      return;
    }
    this.status = STATUS.LOST;
    this.#line.openAgain(code);
    this.#onChange();
  }

  #end(sentence) {
    this.sentence = sentence;
    this.status = STATUS.ENDED;
    this.#line.end();
  }
}
