// The receipts that this browser keeps of the matches that it has played: the messages sent and received about deal and
// race, a line for each, in the form of the receipts of `fairest`. Each line is stored as it happens, under a key of its
// own, so a page that is closed loses none. Without storage, nothing is kept.
import { betweenMatches } from "./scene.js";
import { storage } from "./storage.js";

const INDEX = "fairest.receipts";
const MAX_RECEIPTS = 10;
/** The most characters of one receipt, and of all: a match of nine rounds in the longest variant takes 1.2 million. */
const MAX_LENGTH = 1500000;
const MAX_TOTAL = 3000000;
const OURS = ["ready", "reveal", "play", "leave"];
const THEIRS = ["snapshot", "view", "left"];
/** The entries that may come between two matches. */
const NOT_OF_A_ROUND = ["seated", "seat_freed", "attached", "detached", "paused", "rematch_wanted"];

const lineKey = (id, number) => `fairest.receipt.${id}.${number}`;

/** Return the receipts that are kept, the oldest first, as {id, key, room, seat, lines, length, matches, isCut}. */
export function readReceipts() {
  try {
    const known = JSON.parse(storage?.getItem(INDEX) ?? "[]");
    return Array.isArray(known) ? known : [];
  } catch (fault) {
    if (!(fault instanceof SyntaxError)) throw fault;
    return [];
  }
}

/** Return the receipts of a match on the server with this key. */
export const receiptsOf = (match, key) =>
  readReceipts().filter((receipt) => receipt.key === key && receipt.matches.includes(match));

/** Return the lines of a receipt. */
export const linesOf = ({ id, lines }) =>
  Array.from({ length: lines }, (_, number) => storage?.getItem(lineKey(id, number)) ?? "");

/** The receipt of a seat, while it is written. It begins with the first snapshot that shows a seat of our own. */
export class Receipt {
  #server;
  #key;
  #id = null;

  /** `server` is the URL of the WebSocket, `key` the server's key in hexadecimal digits. */
  constructor(server, key) {
    [this.#server, this.#key] = [server, key];
  }

  /** Add a message of the server; `known` is the witness before it. A spectator's messages are not kept. */
  heard(message, known, at_ms) {
    if (!THEIRS.includes(message.type)) return;
    if (this.#id === null && message.type === "snapshot" && message.seat !== null) this.#begin(message.room, message.seat);
    else if (this.#id !== null && beginsMatch(message, known) && this.#isOfAMatch()) this.#beginNext(known, at_ms);
    this.#write({ at_ms: Math.round(at_ms), heard: message }, matchesIn(message));
  }

  /** Add a message of ours. */
  said(message, at_ms) {
    if (OURS.includes(message.type)) this.note({ said: message }, at_ms);
  }

  /** Add another line: `dropped`, `returned`, `arrived` or `ended`. */
  note(fields, at_ms) {
    this.#write({ at_ms: Math.round(at_ms), ...fields });
  }

  #isOfAMatch() {
    return readReceipts().some(({ id, matches }) => id === this.#id && matches.length > 0);
  }

  /** Go on with the newest receipt of this seat, or begin one. */
  #begin(room, seat) {
    const last = readReceipts().findLast((each) => each.key === this.#key && each.room === room && each.seat === seat);
    if (last) this.#id = last.id;
    else this.#add(room, seat);
    this.#write({ type: "receipt", server: this.#server, key: this.#key });
  }

  /** Begin another receipt with what is known between two matches. */
  #beginNext({ room, seat, position, tag, scene }, at_ms) {
    this.#add(room, seat);
    this.#write({ type: "receipt", server: this.#server, key: this.#key });
    const now_ms = Math.round(at_ms);
    const known = { type: "snapshot", room, seat, position, tag: tag ?? "00000000", now_ms, scene: betweenMatches(scene) };
    this.#write({ at_ms: now_ms, known });
  }

  #add(room, seat) {
    const kept = readReceipts();
    let number = 1;
    const named = () => `${room}-seat${seat + 1}-${this.#key.slice(0, 32)}${number === 1 ? "" : `-${number}`}`;
    while (kept.some(({ id }) => id === named())) number += 1;
    this.#id = named();
    const added = { id: this.#id, key: this.#key, room, seat, lines: 0, length: 0, matches: [], isCut: false };
    keepIndex(bounded([...kept, added], this.#id));
  }

  #write(fields, matches = []) {
    if (this.#id === null || storage === null) return;
    const kept = readReceipts();
    const own = kept.find(({ id }) => id === this.#id);
    if (!own || own.isCut) return;
    const line = JSON.stringify(fields);
    own.isCut = own.length + line.length > MAX_LENGTH || !stored(lineKey(own.id, own.lines), line, kept, own);
    if (!own.isCut) {
      own.lines += 1;
      own.length += line.length;
    }
    own.matches = [...new Set([...own.matches, ...matches])];
    keepIndex(bounded(kept, own.id));
  }
}

/** Return whether a view that follows without a gap opens the first round of a match before anything of a round. */
function beginsMatch({ type, position, entries }, known) {
  if (type !== "view" || position - entries.length !== known.position) return false;
  const first = entries.find((entry) => !NOT_OF_A_ROUND.includes(entry.type));
  return first?.type === "round_opened" && first.round_number === 1;
}

const matchesIn = ({ scene, entries }) =>
  (scene ? [scene.match] : (entries ?? []).map(({ type, match }) => (type === "round_opened" ? match : null))).filter(Boolean);

/** Store a line; where there is no room, older receipts make some. Return whether it is stored. */
function stored(key, line, kept, own) {
  for (;;) {
    try {
      storage.setItem(key, line);
      return true;
    } catch (fault) {
      if (!(fault instanceof DOMException)) throw fault;
      const oldest = kept.find((each) => each !== own);
      if (!oldest) return false;
      kept.splice(kept.indexOf(oldest), 1);
      remove(oldest);
    }
  }
}

/** Return the receipts without the oldest ones that are too many; the receipt `ownId` stays. */
function bounded(kept, ownId) {
  const left = [...kept];
  const isTooMuch = () => left.length > MAX_RECEIPTS || left.reduce((sum, { length }) => sum + length, 0) > MAX_TOTAL;
  while (isTooMuch() && left[0].id !== ownId) remove(left.shift());
  return left;
}

function remove({ id, lines }) {
  for (let number = 0; number < lines; number += 1) storage?.removeItem(lineKey(id, number));
}

function keepIndex(receipts) {
  try {
    storage?.setItem(INDEX, JSON.stringify(receipts));
  } catch (fault) {
    if (!(fault instanceof DOMException)) throw fault;
  }
}
