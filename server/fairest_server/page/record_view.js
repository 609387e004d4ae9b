// A finished match: its replay with a seek bar, and its proof, made on this page.
import { showRace } from "./analysis_view.js";
import { make, setText } from "./dom.js";
import { BadReceipt, checkReceipt } from "./receipt_check.js";
import { linesOf, receiptsOf } from "./receipts.js";
import { WrongRecord, checkRecord, parseRecord, racesOf } from "./record.js";
import { TEXT, clock } from "./texts.js";

/** Raised if the server has no record to show; the message is for people. */
export class NoRecord extends Error {}

/** Fetch the record of a match from the server; return its text. Throws `NoRecord`. */
export async function fetchRecord(match) {
  const answer = await fetch(`/records/${match}`);
  if (answer.status === 404) throw new NoRecord(TEXT.notFound);
  if (!answer.ok) throw new NoRecord(TEXT.notRead(answer.status));
  return answer.text();
}

/** Return the elements that show a record: its replay, if a round was dealt, and its proof. */
export function showRecord(text) {
  const proof = make("ol", { class: "proof" });
  const verdict = make("p", { class: "verdict", role: "status" });
  const heading = make("h1", { class: "hidden" }, TEXT.recordTitle);
  const shown = [heading, make("section", {}, make("h2", {}, TEXT.verify), verdict, proof, limits(TEXT.limits))];
  try {
    const record = parseRecord(text);
    const { names, key } = record.heading;
    document.title = TEXT.title(names.join(TEXT.against));
    shown.splice(1, 0, ...replays(record));
    for (const sentence of checkRecord(record)) proof.append(make("li", {}, sentence));
    setText(verdict, TEXT.right);
    verdict.classList.add("right");
    shown.push(...proveByReceipts(record, proof));
    compareKey(key, proof);
  } catch (fault) {
    if (!(fault instanceof WrongRecord)) throw fault;
    setText(verdict, TEXT.wrong(fault.message));
    verdict.classList.add("wrong");
  }
  return shown;
}

/** Compare a record with the receipts of this browser; return buttons that save them. Throws `WrongRecord`. */
function proveByReceipts(record, proof) {
  const { match, key } = record.heading;
  const receipts = receiptsOf(match, key);
  for (const receipt of receipts) {
    try {
      for (const sentence of checkReceipt(record, linesOf(receipt))) proof.append(make("li", {}, sentence));
      if (receipt.isCut) proof.append(make("li", {}, TEXT.receiptCut));
    } catch (fault) {
      if (!(fault instanceof BadReceipt)) throw fault;
      proof.append(make("li", { class: "wrong" }, TEXT.receiptUnreadable(fault.message)));
    }
  }
  return receipts.map((receipt) => make("button", { type: "button", class: "receipt", onclick: () => save(receipt) }, TEXT.saveReceipt));
}

/** Offer the lines of a receipt as a file, which `fairest verify --receipt` reads. */
function save(receipt) {
  const url = URL.createObjectURL(new Blob(linesOf(receipt).map((line) => `${line}\n`), { type: "application/x-ndjson" }));
  make("a", { href: url, download: `${receipt.id}.jsonl` }).click();
  URL.revokeObjectURL(url);
}

/** Return the element that says what a record cannot prove; the first text heads the others. */
export const limits = ([head, ...points]) => {
  return make("details", {}, make("summary", {}, head), make("ul", {}, ...points.map((point) => make("li", {}, point))));
};

/** Say in the list `proof` that the key of a record is the one that this server shows, if it is. */
export async function compareKey(key, proof) {
  const answer = await fetch("/key");
  if (answer.ok && (await answer.text()).trim() === key) proof.append(make("li", {}, TEXT.keyOfServer));
}

function replays(record) {
  const { heading: { names }, rounds } = record;
  const count = rounds.filter(({ result }) => result).length;
  return racesOf(record).flatMap(({ number, result, ...race }) => showRace(race, [
    make("h2", {}, `${names.join(TEXT.against)} · ${TEXT.round(number, count)}`),
    make("p", { class: "outcome" }, outcomeText(names, result)), ...timingLines(names, result)]));
}

/** Return the result of a round as a sentence: the winner, and how each race ended. */
export function outcomeText(names, { winner, scores }) {
  const head = winner === null ? TEXT.draw : TEXT.wins(names[winner]);
  const order = winner === 1 ? [1, 0] : [0, 1];
  return `${head}. ${order.map((seat) => TEXT.ending(names[seat], scores[seat])).join("; ")}.`;
}

/** Return the times of both players as lines, where distance was credited and a player placed every card. */
export function timingLines(names, { winner, ledger }) {
  const lines = (ledger ?? []).map((timing, seat) => TEXT.timing(names[seat], timing));
  const isDeadHeat = ledger?.every(({ arrival_ms: arrival }) => arrival !== null) && winner === null;
  return [...lines, ...(isDeadHeat ? [TEXT.deadHeat] : [])].map((line) => make("p", { class: "timing" }, line));
}
