// The replay and the proof of a race that a player has raced alone, beside another one on the same deal if there is one.
import { showRace } from "./analysis_view.js";
import { Cheated } from "./cheated.js";
import { make, setText } from "./dom.js";
import { WrongRecord } from "./record.js";
import { NoRecord, compareKey, limits } from "./record_view.js";
import { checkRow, checkSolo, parseSolo, soloRace } from "./solo_record.js";
import { TEXT } from "./texts.js";

/** Return the elements that show the text of a record: its replay, and its proof. */
export function showSolo(text) {
  const heading = make("h1", { class: "hidden" }, TEXT.recordTitle);
  try {
    const record = parseSolo(text);
    document.title = TEXT.title(record.name);
    return [heading, ...showRace(soloRace(record), [make("h2", {}, record.name)]), proofOf(record)];
  } catch (fault) {
    if (!(fault instanceof WrongRecord)) throw fault;
    return [heading, make("p", { class: "verdict wrong", role: "status" }, TEXT.wrong(fault.message))];
  }
}

/** Return the element with the proof of a record. `path` is where the server has its text, null for a file. */
export function proofOf(record, path = null) {
  const proof = make("ol", { class: "proof" });
  const verdict = make("p", { class: "verdict", role: "status" });
  try {
    for (const sentence of checkSolo(record)) proof.append(make("li", {}, sentence));
    setText(verdict, TEXT.right);
    verdict.classList.add("right");
    compareKey(record.key, proof);
  } catch (fault) {
    if (!(fault instanceof WrongRecord)) throw fault;
    setText(verdict, TEXT.wrong(fault.message));
    verdict.classList.add("wrong");
  }
  const file = path ? [make("p", {}, make("a", { href: path, download: "" }, TEXT.soloFile))] : [];
  return make("section", {}, make("h2", {}, TEXT.verify), verdict, proof, limits(TEXT.soloLimits[record.type]), ...file);
}

/**
 * Fetch the record of a player's race from a path of the server, and `check` it. Throws `NoRecord` if the server does not
 * show it, and `Cheated` if it is no such record, or `check` finds another one than the server has named.
 */
export async function fetchSolo(path, name, check) {
  let answer;
  try {
    answer = await fetch(path);
  } catch (fault) {
    if (!(fault instanceof TypeError)) throw fault; // the server is away
    throw new NoRecord(TEXT.soloRead(TEXT.ratingsFault));
  }
  const text = await answer.text();
  if (!answer.ok) throw new NoRecord(TEXT.soloRead(text.trim()));
  try {
    const record = parseSolo(text);
    check(record);
    return record;
  } catch (fault) {
    if (!(fault instanceof WrongRecord)) throw fault;
    throw new Cheated(`The record of ${name} does not prove itself. ${fault.message}`);
  }
}

/**
 * Return the elements that show an attempt of an opened table beside the best one. Throws `NoRecord`, and `Cheated` if a
 * record is not that of its row.
 */
export async function showAttempt(page, rows, attempt) {
  const row = rows.find((each) => each.attempt === attempt);
  if (!row) return [make("p", { role: "alert" }, TEXT.dailyNoAttempt)];
  const [record, best] = await Promise.all((row === rows[0] ? [row] : [row, rows[0]]).map((each) => fetchRow(page, each)));
  const head = [make("h2", {}, TEXT.dailyReplays(row.name, best?.name)), make("p", { class: "hint" }, TEXT.dailyAnalysis(page.day, page.rules, row.rank))];
  return [...showRace(soloRace(record, best ?? null), head), proofOf(record, pathOf(row))];
}

const pathOf = ({ attempt }) => `/daily/${attempt}`;
const fetchRow = (page, row) => fetchSolo(pathOf(row), row.name, (record) => checkRow(page, row, record));
