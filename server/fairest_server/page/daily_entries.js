// The entries of a chain of rounds that a daily deal rests on: its announcement, and without drand its beacon. The same checks,
// in the words of `fairest`. Nothing here reads from the network.
import { fromHex, toBytes } from "./bytes.js";
import { Cheated } from "./cheated.js";
import { isDrand } from "./drand_beacon.js";
import DATA from "./record_data.js";
import { hash } from "./seal.js";

/** Raised if the chain contradicts itself; the message says where. */
export class BrokenChain extends Error {}

/** A deal is announced while the day before is under way; by a minute the clocks of a deployment may differ. */
const EARLIEST_MS = 86460000;
/** A deal by drand is announced at least this long before its day. */
const DRAND_LEAD_MS = 43200000;
/** An entry joins the chain a minute after its time at the latest, and later if the node of the chain was away. */
const LATE_MS = 600000;
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
  /** The rules of a deal with the other kind of beacon. */
  #otherRules;
  #beginsMs;
  #seal;
  #number = null;
  #chain = "";
  /** The entries that announce this deal: one, and a second one if Redis lost the first. */
  #openings = [];
  /** Whether an entry of the day, or of a later one, stands before the first of them. */
  #hasBegun = false;
  /** Other commitments that were announced for the same day. */
  #others = new Set();
  /** The chain of the beacon's entry, and its time. */
  #beacon = null;
  /** The time of the entry behind the beacon. */
  #nextMs = null;

  constructor(rules, day, seal) {
    const { piles, redeals } = DATA.variants[rules].defaults;
    const [own, other] = isDrand(seal) ? ["drand-daily", "daily"] : ["daily", "drand-daily"];
    this.#rules = `${rules}-${own} ${piles} ${redeals}`;
    this.#otherRules = `${rules}-${other} ${piles} ${redeals}`;
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
    this.#hasBegun ||= !this.#openings.length && entry.at_ms >= this.#beginsMs;
    const isOfDayBefore = this.#beginsMs - EARLIEST_MS <= entry.at_ms && entry.at_ms < this.#beginsMs;
    if (isOpeningOf(entry, this.#seal.commitment)) this.#openings.push(entry);
    else if (entry.type === "opened" && [this.#rules, this.#otherRules].includes(entry.rules) && isOfDayBefore) this.#others.add(entry.commitment.toLowerCase());
  }

  /**
   * Return what the chain proves of the deal, once all pages were added, as {isSure, sentence}: not sure is a deal among
   * whose decks the server could choose. `known` are heads of this chain that were shown before. Throws `BrokenChain` if the chain does not end with its head, and `Cheated` if
   * the deal does not rest on it.
   */
  check(head, known = []) {
    const { beacon_number: number } = this.#seal;
    if (this.#number !== head.number || this.#chain !== head.chain)
      throw new BrokenChain("The list of rounds does not end with the hash that the server has signed.");
    const demand = (condition, sentence) => {
      if (!condition) throw new Cheated(sentence);
    };
    const ofDrand = isDrand(this.#seal);
    if (!ofDrand) this.#checkBeacon(demand);
    const [announced] = this.#openings;
    demand(announced, "The commitment of the daily deal is not in the server's list of rounds.");
    for (const { rules } of this.#openings)
      demand(rules === this.#rules, `The commitment of the daily deal is in the list of rounds for ${rules}.`);
    const isLate = announced.at_ms >= this.#beginsMs - EARLIEST_MS;
    demand(isLate, "The commitment of the daily deal joined the list of rounds more than a day before its day.");
    if (ofDrand) this.#checkTime(announced, known, demand);
    else demand(announced.number <= number, "The commitment of the daily deal joined the list of rounds behind its beacon.");
    if (this.#others.size) {
      const sentence = `Beware: ${this.#others.size + 1} commitments were announced for this day and variant, `
        + "so the server could choose among them.";
      return { isSure: false, sentence };
    }
    const where = `The commitment is entry ${announced.number} of the server's list of rounds`;
    const source = ofDrand ? ", from before the day." : `, the beacon entry ${number}.`;
    return { isSure: true, sentence: where + source };
  }

  /**
   * Check that a deal was announced before its drand round. The time of an entry is the server's word. The entries before it,
   * and heads that the server has signed, may contradict it.
   */
  #checkTime(announced, known, demand) {
    const hasLead = announced.at_ms <= this.#beginsMs - DRAND_LEAD_MS;
    demand(hasLead, "The commitment of the daily deal joined the list of rounds less than twelve hours before its day.");
    demand(!this.#hasBegun, "The commitment of the daily deal stands behind entries of its day in the list of rounds.");
    const isContradicted = known.some(({ number, at_ms }) => number < announced.number && at_ms > announced.at_ms + LATE_MS);
    demand(!isContradicted, "The commitment of the daily deal joined the list of rounds later than it says: this machine was shown "
      + "the list without it.");
  }

  /** Check that the beacon is the chain of the last entry before the day. */
  #checkBeacon(demand) {
    const { beacon_number: number, beacon: sealed } = this.#seal;
    const [chain, at] = this.#beacon ?? [];
    demand(chain === sealed, `The beacon of the daily deal is not the hash of entry ${number} of the server's list of rounds.`);
    demand(at < this.#beginsMs, `The beacon of the daily deal, entry ${number}, is not from before its day.`);
    const isLast = this.#nextMs === null || this.#nextMs >= this.#beginsMs;
    demand(isLast, `The beacon of the daily deal, entry ${number}, is not the last entry before its day.`);
  }
}

/**
 * Return whether no announcement of a deal of this day can be on a page before this one. Throws `BrokenChain` for lines
 * that are not entries.
 */
export function mayBeginAt({ page, lines }, day) {
  const entries = lines.map(parseEntry);
  if (entries.includes(null)) throw new BrokenChain(`Page ${page} has lines that are not entries of a chain of rounds.`);
  return !entries.length || entries[0].at_ms < Date.parse(day) - EARLIEST_MS;
}
