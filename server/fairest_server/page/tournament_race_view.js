// The replay and the proof of a race in a round of a tournament that is over, beside that of the opponent.
import { alarm } from "./alarm.js";
import { showRace } from "./analysis_view.js";
import { Cheated } from "./cheated.js";
import { make } from "./dom.js";
import { fetchAnswer } from "./ratings.js";
import { WrongRecord } from "./record.js";
import { NoRecord } from "./record_view.js";
import { checkRace, soloRace } from "./solo_record.js";
import { fetchSolo, proofOf } from "./solo_view.js";
import { TEXT } from "./texts.js";
import { compareRound, readNote } from "./tournament_note.js";

/** Return the element that shows the race which the query of the page's address names: a `round`, and the `name` of a player. */
export function showTournamentRace(code, query) {
  const asked = new URLSearchParams(query);
  const element = make("section", {}, make("h1", {}, TEXT.tournamentTitle(code)), make("p", { role: "status" }, TEXT.loading));
  fill(element, code, Number(asked.get("round")), asked.get("name") ?? "");
  return element;
}

async function fill(element, code, number, name) {
  const back = make("p", { class: "more" }, make("a", { class: "button", href: `/t/${code}` }, TEXT.tournamentTitle(code)));
  try {
    element.lastChild.replaceWith(...(await raceParts(code, number, name)), back);
  } catch (fault) {
    if (fault instanceof Cheated) element.replaceChildren(alarm(fault.message));
    else if (fault instanceof NoRecord) element.lastChild.replaceWith(make("p", { role: "alert" }, fault.message), back);
    else throw fault;
  }
}

async function raceParts(code, number, name) {
  const shown = await fetchAnswer(`/tournaments/${encodeURIComponent(code)}`);
  if (typeof shown === "string") throw new NoRecord(TEXT.soloRead(shown));
  const played = shown.played.find((each) => each.number === number);
  const pair = played?.pairs.find(({ names }) => names.includes(name));
  const seat = pair?.names.indexOf(name) ?? 0;
  if (!pair?.scores[seat]) throw new NoRecord(TEXT.noSuchRace);
  const seats = [seat, 1 - seat].filter((each) => pair.scores[each]);
  const records = await Promise.all(seats.map((each) => fetchRace(shown, played, pair, each)));
  const names = records.map((record) => record.name);
  const title = `${names.join(TEXT.against)} · ${TEXT.roundTitle(number)}`;
  document.title = TEXT.title(title);
  return [
    ...showRace(soloRace(records[0], records[1] ?? null), [make("h2", {}, title)]),
    proofOf(records[0], pathOf(shown, played, names[0])), ...comparisonOf(records[0])];
}

/** Return the comparison of a record with what this browser was shown of its round, if that was anything. */
function comparisonOf(record) {
  const note = readNote(record.tournament, record.key, record.name);
  const witness = note?.rounds[record.round];
  if (!witness) return [];
  const heading = make("h2", {}, TEXT.shownToYou);
  try {
    const sentences = [...compareRound(record, witness, note.name)];
    return [make("section", {}, heading, make("ul", { class: "proof right" }, ...sentences.map((each) => make("li", {}, each))))];
  } catch (fault) {
    if (!(fault instanceof WrongRecord)) throw fault;
    return [make("section", {}, heading, make("p", { class: "verdict wrong", role: "alert" }, TEXT.wrong(fault.message)))];
  }
}

const pathOf = ({ code }, { number }, name) => `/tournament-races/${code}?${new URLSearchParams({ round: number, name })}`;

function fetchRace(shown, played, { names, scores }, seat) {
  return fetchSolo(pathOf(shown, played, names[seat]), names[seat], (record) => checkRace(shown, played, names[seat], scores[seat], record));
}
