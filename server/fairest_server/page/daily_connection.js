// The connection of an attempt at a daily deal: each request is sent until it is answered, over any number of sockets.
// Every request may be sent again: a second `daily` leads to the same attempt, and a move has its number.
import { Cheated } from "./cheated.js";
import { STATUS } from "./connection.js";
import { afterView, beginDaily, ownOf } from "./daily_game.js";
import { compareServer } from "./server_past.js";
import { BAD_TOKEN, SocketLine, isClosedForGood } from "./socket_line.js";
import { forgetToken, keepDailyNote, keepToken, readDailyNote, readToken } from "./storage.js";
import { TEXT } from "./texts.js";

const CAPABILITIES = ["daily"];
const RETRY_MS = 500;
/** Refusals after which the attempt is read again: its time is over, or another page of ours has made a move. */
const STALE = ["race_over", "number_repeated", "number_old"];

/** Our attempt at the daily deal of a variant. `game` is null until the server has shown it. */
export class DailyConnection {
  status = STATUS.CONNECTING;
  /** Why the connection has ended for good, or why a move was refused. */
  sentence = "";
  /** What contradicts what this server has shown to this browser before, in words. */
  warning = "";
  /** What the server was caught at; empty if nothing. */
  cheated = "";
  game = null;
  #rules;
  #name;
  #ownName = "";
  #onChange;
  #clockAhead = 0;
  #count = 0;
  #request = null;
  #line = new SocketLine({
    open: () => this.#greet(),
    text: (text) => this.#take(text),
    lost: (code, reason) => this.#lost(code, reason),
    beat: () => this.#line.isOpen && this.#line.send({ type: "ping" }),
    room: () => null,
  });

  /** `day` is that of an attempt which was begun before, null for today's. `onChange()` is called after each change. */
  constructor(rules, day, name, onChange) {
    this.#rules = rules;
    this.#name = name;
    this.#onChange = onChange;
    this.#request = this.#numbered({ type: "daily", rules, day });
    this.#line.open();
  }

  /** The server's clock now, in milliseconds. */
  get now() {
    return Date.now() + this.#clockAhead;
  }

  /** Whether a move can be sent: the one before is answered. */
  get mayMove() {
    return this.game !== null && !this.game.result && this.#request === null && this.status !== STATUS.ENDED;
  }

  play(move) {
    if (!this.mayMove) return;
    const { rules, day } = this.game;
    this.sentence = "";
    this.#ask({ type: "play_daily", rules, day, number: ownOf(this.game).moves + 1, move });
  }

  #numbered(request) {
    this.#count += 1;
    return { ...request, id: `d${this.#count}` };
  }

  #ask(request) {
    this.#request = this.#numbered(request);
    this.#sendRequest();
  }

  #sendRequest() {
    if (this.#request && this.#line.isOpen) this.#line.send(this.#request);
  }

  #greet() {
    this.#line.send({ type: "hello", token: readToken(), name: this.#name, client: "fairest page", capabilities: CAPABILITIES });
    this.#sendRequest();
  }

  #take(text) {
    try {
      const message = JSON.parse(text);
      if (message.type === "welcome") this.#welcome(message);
      else if (message.type === "error") this.sentence = message.sentence;
      else if (message.type === "daily_view" && message.id === this.#request?.id) this.#show(message);
      else if (message.type === "refused" && (message.to === "hello" || message.id === this.#request?.id)) this.#refused(message);
      else return;
    } catch (fault) {
      // A message without the fields of its type, or of a board that is not there.
      const isBroken = [SyntaxError, TypeError, RangeError].some((kind) => fault instanceof kind);
      if (!(fault instanceof Cheated) && !isBroken) throw fault;
      this.accuse(fault.message);
      return;
    }
    this.#onChange();
  }

  /** End the connection for good, since the server was caught at what the sentence says. */
  accuse(sentence) {
    this.cheated = sentence;
    this.#end(sentence);
    this.#onChange();
  }

  #welcome({ token, name, key, now_ms, rounds }) {
    if (token) keepToken(token);
    this.#ownName = name;
    this.#clockAhead = now_ms - Date.now();
    this.warning = compareServer(key, rounds, now_ms);
    this.#line.serves();
    this.status = STATUS.CONNECTED;
  }

  #show(view) {
    const isBegun = this.#request.type === "daily";
    this.#request = null;
    this.#clockAhead = view.now_ms - Date.now();
    this.game = isBegun ? beginDaily(this.#rules, view, this.#known(view)) : afterView(this.game, view);
    const { rules, day, seal, until_ms, result, scene } = this.game;
    keepDailyNote({ rules, day, name: this.#ownName, seal, until_ms: until_ms - this.#clockAhead, result, envelopes: scene.envelopes, moves: ownOf(this.game).moves });
  }

  /** Return what this browser was shown of the attempt before, or null. */
  #known({ rules, day }) {
    const note = readDailyNote(rules, day);
    return note?.name === this.#ownName ? note : null;
  }

  #refused({ to, code, sentence }) {
    if (code === "try_again" || code === "in_doubt") this.#line.later(RETRY_MS, () => this.#sendRequest());
    else if (to === "play_daily" && STALE.includes(code)) this.#ask({ type: "daily", rules: this.#rules, day: this.game.day });
    else if (to === "play_daily") {
      this.#request = null;
      this.sentence = sentence;
    } else this.#end(sentence);
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
