// The look-up of a daily deal in the server's chain of rounds, over HTTP, as `fairest` makes it.
import { Cheated } from "./cheated.js";
import { BrokenChain, DailyEntries, isRoundsPage, mayBeginAt } from "./daily_entries.js";
import { checkBeacon } from "./daily_game.js";
import { describeDrand, isDrand } from "./drand_beacon.js";
import { isHeadSigned } from "./heads.js";
import { compareServer } from "./server_past.js";
import { readHeads } from "./storage.js";
import { TEXT } from "./texts.js";

/** Raised for a chain that cannot be read; the message says why. */
class ChainUnavailable extends Error {
  /** `status` is that of HTTP, if the server has answered. */
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

/** Entries that are read, the newest ones: as many as a server keeps, unless it is told to keep more. */
const MAX_ENTRIES = 100000;
const ANSWER_MS = 30000;
/** The wait for a single page when this address has read many, and between two attempts to read it. */
const PATIENCE_MS = 10000;
const BUSY_MS = 2000;
const NOT_FOUND = 404;
const TOO_MANY_REQUESTS = 429;
/** A process of the server shows the chain as it was up to a second ago: before the beacon, or before the head of another process. */
const STALE_HEAD_MS = 2000;
const LONGEST_REASON = 300;
const HEX = /^[0-9a-f]*$/;

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/**
 * Return what the server's chain of rounds says of a daily deal, as {kind, sentence, warning}: `kind` is "right", "wrong" if
 * the server could choose among decks, and "unknown" for a chain that cannot be read, which proves nothing, and for a drand
 * round, whose signature the page does not check; `warning`
 * says what contradicts the chain that this browser was shown before. `now()` is the server's clock in milliseconds.
 * Throws `Cheated` if the chain contradicts the deal, or itself.
 */
export async function lookUpDaily(rules, day, seal, now) {
  checkBeacon(day, seal);
  const found = await tryLookUp(rules, day, seal, now);
  if (!isDrand(seal)) return found;
  // The page does not check the signature of drand, so it proves less than `fairest` does.
  return { ...found, kind: found.kind === "right" ? "unknown" : found.kind, sentence: `${found.sentence} ${describeDrand(seal.beacon_number)}` };
}

async function tryLookUp(rules, day, seal, now) {
  try {
    return await lookUp(rules, day, seal, now);
  } catch (fault) {
    if (fault instanceof BrokenChain) throw new Cheated(`The server's list of rounds is broken: ${fault.message}`);
    if (!(fault instanceof ChainUnavailable)) throw fault;
    return { kind: "unknown", sentence: TEXT.chainUnavailable(fault.message), warning: "" };
  }
}

async function lookUp(rules, day, seal, now) {
  const { beacon_number: beacon } = seal;
  const isEntry = !isDrand(seal);
  let summary = await fetchSummary();
  if (isEntry && beacon > summary.head.number) {
    await pause(STALE_HEAD_MS);
    summary = await fetchSummary();
  }
  const { head, key, page_lines: size, first_page: firstPage } = summary;
  const known = readHeads(key);
  const warning = compareServer(key, head, now());
  if (isEntry && (beacon <= 0 || beacon > head.number))
    throw new Cheated(`The beacon of the daily deal is entry ${beacon} of the list of rounds, which ends with entry ${head.number}.`);
  // A drand round is no entry: the announcement is looked for from the end on.
  if (!isEntry && head.number === 0)
    throw new Cheated("The commitment of the daily deal is not in the server's list of rounds, which is empty.");
  const number = Math.floor(((isEntry ? beacon : head.number) - 1) / size);
  const tooOld = { kind: "unknown", sentence: TEXT.chainTooOld, warning };
  if (number < firstPage || head.number - number * size > MAX_ENTRIES) return tooOld;
  const pages = [await fetchPage(summary, number)];
  while (pages[0].page > 0 && !mayBeginAt(pages[0], day)) {
    if (pages[0].page === firstPage || head.number - pages[0].page * size > MAX_ENTRIES) return tooOld;
    pages.unshift(await fetchPage(summary, pages[0].page - 1));
  }
  const entries = new DailyEntries(rules, day, seal);
  for (const page of pages) entries.addPage(page, size, head.number);
  for (let later = number + 1; later <= Math.floor((head.number - 1) / size); later += 1)
    entries.addPage(await fetchPage(summary, later), size, head.number);
  const { isSure, sentence } = entries.check(head, known);
  return { kind: isSure ? "right" : "wrong", sentence, warning };
}

/** Fetch the head of the chain. Throws `ChainUnavailable`, and `BrokenChain` if it is not signed with its key. */
async function fetchSummary() {
  const summary = await fetchMessage("/rounds", isSummary);
  if (!isHeadSigned(summary.head, summary.key)) throw new BrokenChain("The head of the chain is not signed with the server's key.");
  return summary;
}

function isSummary(message) {
  const { type, key, head, page_lines: size, first_page: firstPage } = message ?? {};
  const isHex = (text, bytes) => typeof text === "string" && text.length === 2 * bytes && HEX.test(text);
  const areNumbers = [head?.number, head?.at_ms, size, firstPage].every((each) => Number.isSafeInteger(each) && each >= 0);
  return type === "rounds" && areNumbers && size > 0 && isHex(key, 32) && isHex(head.chain, 32) && isHex(head.signature, 64);
}

/** Fetch a page of the chain, with all its entries up to the head. Throws `ChainUnavailable` and `BrokenChain`. */
async function fetchPage({ head, page_lines: size }, number) {
  const path = `/rounds?page=${number}`, lines = Math.min(size, head.number - number * size);
  let page = await fetchGrownPage(path);
  if (page === null || page.lines.length < lines) {
    await pause(STALE_HEAD_MS);
    page = await fetchMessage(path, isRoundsPage);
  }
  if (page.page !== number || page.lines.length > size) throw new BrokenChain(`The server answers with another page than ${number}.`);
  if (page.lines.length < lines) throw new BrokenChain(`Page ${number} lacks entries.`);
  return page;
}

/** Fetch a page of the chain; null if the chain of the process that answers does not reach it. */
async function fetchGrownPage(path) {
  try {
    return await fetchMessage(path, isRoundsPage);
  } catch (fault) {
    if (fault instanceof ChainUnavailable && fault.status === NOT_FOUND) return null;
    throw fault;
  }
}

/** Fetch the message at `path` for which `isRight` holds; ask again while this address has read too many pages. */
async function fetchMessage(path, isRight) {
  const end = performance.now() + PATIENCE_MS;
  try {
    for (;;) {
      const answer = await fetch(path, { redirect: "error", signal: AbortSignal.timeout(ANSWER_MS) });
      if (answer.ok) {
        const message = await answer.json();
        if (isRight(message)) return message;
        throw new ChainUnavailable(TEXT.chainNotUnderstood(path));
      }
      const reason = (await answer.text()).trim().slice(0, LONGEST_REASON);
      if (answer.status !== TOO_MANY_REQUESTS || performance.now() + BUSY_MS > end)
        throw new ChainUnavailable(TEXT.chainNotShown(path, reason), answer.status);
      await pause(BUSY_MS);
    }
  } catch (fault) {
    if (fault instanceof SyntaxError) throw new ChainUnavailable(TEXT.chainNotUnderstood(path));
    // The server is away, silent for too long, or sends the browser elsewhere.
    if (fault instanceof DOMException || fault instanceof TypeError) throw new ChainUnavailable(TEXT.chainNotRead(path));
    throw fault;
  }
}
