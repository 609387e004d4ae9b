// The entries of a chain of rounds that a daily deal rests on: its announcement, and its beacon. The same checks, in the
// words of `fairest`. Nothing here reads from the network.
import { fromHex, toBytes } from "./bytes.js";
import { Cheated } from "./cheated.js";
import DATA from "./record_data.js";
import { hash } from "./seal.js";

/** Raised if the chain contradicts itself; the message says where. */
export class BrokenChain extends Error {}

/** A deal is announced while the day before is under way, so at most this long before its own day. */
const DAY_MS = 86400000;
const BYTES_32 = /^[0-9a-f]{64}$/i;
const RULES = /^[A-Za-z0-9-]{1,40} [1-8] [0-9]$/;
const LONGEST_LINE = 2000;
const ENDINGS = ["won", "stuck", "stopped", "out_of_time", "away", "resigned", "not_revealed", "round_over"];

const isHash = (value) => typeof value === "string" && BYTES_32.test(value);
const isNumber = (value) => Number.isSafeInteger(value) && value >= 0;
const isPair = (value, isPart) => Array.isArray(value) && value.length === 2 && value.every(isPart);

/** The fields of each kind of entry, and what a value of each has to be. */
const FIELDS = {
  opened: { commitment: isHash, rules: (value) => typeof value === "string" && RULES.test(value) },
  ended: {
    commitment: isHash,
    how: (value) => ["proved", "voided", "broken_off"].includes(value),
    why: (value) => [null, "left", "not_ready", "away", "closed"].includes(value),
    endings: (value) => value === null || isPair(value, (ending) => ENDINGS.includes(ending)),
    revealed: (value) => isPair(value, (shown) => typeof shown === "boolean"),
    seed: (value) => value === null || isHash(value),
  },
  lost: { lost_number: isNumber, lost_chain: isHash },
};

/** Return whether this is the answer to `GET /rounds?page=N`. */
export function isRoundsPage(message) {
  const { type, page, before, lines } = message ?? {};
  const isLine = (line) => typeof line === "string" && [...line].length <= LONGEST_LINE;
  return type === "rounds_page" && isNumber(page) && isHash(before) && Array.isArray(lines) && lines.every(isLine);
}

/** Return the entry in a line of the chain, null for a line that is not one. */
function parseEntry(line) {
  try {
    const { type, ...fields } = JSON.parse(line);
    const checks = { number: isNumber, at_ms: isNumber, ...(Object.hasOwn(FIELDS, type) ? FIELDS[type] : { type: isNumber }) };
    const isWhole = Object.keys(fields).every((name) => Object.hasOwn(checks, name))
      && Object.entries(checks).every(([name, isRight]) => Object.hasOwn(fields, name) && isRight(fields[name]));
    return isWhole ? { type, ...fields } : null;
  } catch (fault) {
    if (!(fault instanceof SyntaxError || fault instanceof TypeError)) throw fault;
    return null;
  }
}

const isOpeningOf = (entry, commitment) => entry.type === "opened" && entry.commitment.toLowerCase() === commitment;

/** Reads the pages of a chain in order, from one before the announcement of a deal up to the head. */
export class DailyEntries {
  #rules;
  #beginsMs;
  #seal;
  #number = null;
  #chain = "";
  #announced = null;
  /** Other commitments that were announced for the same day. */
  #others = new Set();
  /** The chain of the beacon's entry, and its time. */
  #beacon = null;
  /** The time of the entry behind the beacon. */
  #nextMs = null;

  constructor(rules, day, seal) {
    const { piles, redeals } = DATA.variants[rules].defaults;
    this.#rules = `${rules}-daily ${piles} ${redeals}`;
    this.#beginsMs = Date.parse(day);
    this.#seal = seal;
  }

  /** Take the next page, up to the entry `last`. Throws `BrokenChain`. */
  addPage({ page, before, lines }, pageLines, last) {
    const first = page * pageLines + 1;
    if (this.#number === null) [this.#number, this.#chain] = [first - 1, before.toLowerCase()];
    if (first !== this.#number + 1 || before.toLowerCase() !== this.#chain)
      throw new BrokenChain(`Page ${page} does not follow the page before it.`);
    for (const line of lines.slice(0, last - this.#number)) this.#addLine(line);
  }

  #addLine(line) {
    const number = this.#number + 1;
    [this.#number, this.#chain] = [number, hash("rounds", fromHex(this.#chain), toBytes(line))];
    const entry = parseEntry(line);
    if (!entry) throw new BrokenChain(`Entry ${number} is not an entry of a chain of rounds.`);
    if (entry.number !== number) throw new BrokenChain(`Entry ${number} says that it is entry ${entry.number}.`);
    if (number === this.#seal.beacon_number) this.#beacon = [this.#chain, entry.at_ms];
    else if (number === this.#seal.beacon_number + 1) this.#nextMs = entry.at_ms;
    const isOfDayBefore = this.#beginsMs - DAY_MS <= entry.at_ms && entry.at_ms < this.#beginsMs;
    if (isOpeningOf(entry, this.#seal.commitment)) this.#announced ??= entry;
    else if (entry.type === "opened" && entry.rules === this.#rules && isOfDayBefore) this.#others.add(entry.commitment.toLowerCase());
  }

  /**
   * Return what the chain proves of the deal, once all pages were added, as {isSure, sentence}: not sure is a deal among
   * whose decks the server could choose. Throws `BrokenChain` if the chain does not end with its head, and `Cheated` if
   * the deal does not rest on it.
   */
  check(head) {
    const { beacon_number: number, beacon: sealed } = this.#seal;
    if (this.#number !== head.number || this.#chain !== head.chain)
      throw new BrokenChain("The list of rounds does not end with the hash that the server has signed.");
    const demand = (condition, sentence) => {
      if (!condition) throw new Cheated(sentence);
    };
    const [chain, at] = this.#beacon ?? [];
    demand(chain === sealed, `The beacon of the daily deal is not the hash of entry ${number} of the server's list of rounds.`);
    demand(at < this.#beginsMs, `The beacon of the daily deal, entry ${number}, is not from before its day.`);
    const isLast = this.#nextMs === null || this.#nextMs >= this.#beginsMs;
    demand(isLast, `The beacon of the daily deal, entry ${number}, is not the last entry before its day.`);
    const announced = this.#announced;
    demand(announced, "The commitment of the daily deal is not in the server's list of rounds.");
    demand(announced.rules === this.#rules, `The commitment of the daily deal is in the list of rounds for ${announced.rules}.`);
    demand(announced.number <= number, "The commitment of the daily deal joined the list of rounds behind its beacon.");
    if (this.#others.size) {
      const sentence = `Beware: ${this.#others.size + 1} commitments were announced for this day and variant, `
        + "so the server could choose among them.";
      return { isSure: false, sentence };
    }
    return { isSure: true, sentence: `The commitment is entry ${announced.number} of the server's list of rounds, the beacon entry ${number}.` };
  }
}

/**
 * Return whether the announcement of a deal is on this page, or can be on no earlier one. Throws `BrokenChain` for lines
 * that are not entries.
 */
export function mayBeginAt({ page, lines }, day, commitment) {
  const entries = lines.map(parseEntry);
  if (entries.includes(null)) throw new BrokenChain(`Page ${page} has lines that are not entries of a chain of rounds.`);
  if (entries.some((entry) => isOpeningOf(entry, commitment))) return true;
  return !entries.length || entries[0].at_ms < Date.parse(day) - DAY_MS;
}
