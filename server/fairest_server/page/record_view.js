// A finished match: its replay with a seek bar, and its proof, made on this page.
import { goalOf, placedOn } from "./board.js";
import { BoardView, SeatHead } from "./board_view.js";
import { Curve, LeadBar } from "./curve.js";
import { makeDeal } from "./deal.js";
import { announce, make, setText } from "./dom.js";
import { creditOf, stepsOf } from "./race.js";
import { BadReceipt, checkReceipt } from "./receipt_check.js";
import { linesOf, receiptsOf } from "./receipts.js";
import { WrongRecord, checkRecord, parseRecord } from "./record.js";
import { makeSeed } from "./seal.js";
import { TEXT, clock } from "./texts.js";

const SPEEDS = [1, 2, 5, 10, 30];
const KEY_STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

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
  const shown = [heading, make("section", {}, make("h2", {}, TEXT.verify), verdict, proof, limits())];
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

const limits = () => {
  const [head, ...points] = TEXT.limits;
  return make("details", {}, make("summary", {}, head), make("ul", {}, ...points.map((point) => make("li", {}, point))));
};

/** Say whether the key of a record is the one that this server shows. */
async function compareKey(key, proof) {
  const answer = await fetch("/key");
  if (answer.ok && (await answer.text()).trim() === key) proof.append(make("li", {}, TEXT.keyOfServer));
}

function replays(record) {
  const dealt = record.rounds.filter(({ result, entropies }) => result && !entropies.includes(null));
  const of = record.rounds.filter(({ result }) => result).length;
  return dealt.map((round) => new Replay(record, round, record.rounds.filter(({ result }) => result).indexOf(round) + 1, of).element);
}

/** The replay of one round. */
class Replay {
  #names;
  #steps;
  #times;
  #goal;
  #points;
  #at = 0;
  #playing = null;
  #boards = [new BoardView(), new BoardView()];
  #heads = [new SeatHead(), new SeatHead()];
  #curve = new Curve();
  #lead = new LeadBar();
  #seek = make("input", { type: "range", min: 0, value: 0, "aria-label": TEXT.position });
  #place = make("output");
  #sentence = make("p", { class: "sentence" });
  #button = make("button", { type: "button", onclick: () => this.#toggle() }, TEXT.play);
  #speed = make("select", { "aria-label": TEXT.speed }, ...SPEEDS.map((speed) => make("option", { value: speed }, `×${speed}`)));
  element;

  constructor({ heading, terms }, round, number, of) {
    this.#names = heading.names;
    const seed = makeSeed(round.secret, round.entropies, round.id, round.step);
    const [piles, redeals] = [Number(terms.piles), Number(terms.redeals)];
    this.#steps = stepsOf(makeDeal(terms.rules, redeals, seed), piles, redeals, round.events, creditOf(terms, round.result));
    this.#times = this.#steps.map(({ event }) => event?.at_ms ?? 0);
    this.#goal = goalOf(this.#steps[0].race.racers[0].board);
    this.#points = [0, 1].map((seat) =>
      this.#steps.map(({ race }, step) => [this.#times[step], placedOn(race.racers[seat].board)]));
    this.#seek.max = this.#steps.length - 1;
    this.#speed.value = 5;
    this.#seek.addEventListener("input", () => this.#show(Number(this.#seek.value)));
    const seats = [0, 1].map((seat) =>
      make("div", { class: "seat" }, this.#heads[seat].element, this.#boards[seat].element));
    this.element = make(
      "section", { class: "replay", tabindex: 0, onkeydown: (event) => this.#key(event) },
      make("h2", {}, `${this.#names.join(TEXT.against)} · ${TEXT.round(number, of)}`),
      make("p", { class: "outcome" }, outcomeText(this.#names, round.result)),
      ...timingLines(this.#names, round.result),
      this.#lead.element, make("div", { class: "seats" }, ...seats), this.#sentence, this.#curve.element,
      make("div", { class: "controls" }, this.#button, this.#seek, this.#place, this.#speed),
    );
    this.#show(this.#steps.length - 1);
  }

  #show(at) {
    this.#at = Math.min(Math.max(at, 0), this.#steps.length - 1);
    const { event, card, race } = this.#steps[this.#at];
    const placed = race.racers.map(({ board }) => placedOn(board));
    race.racers.forEach(({ board, ending }, seat) => {
      this.#boards[seat].draw(board);
      this.#heads[seat].draw(this.#names[seat], TEXT.count(placed[seat], this.#goal), ending ? TEXT.hasStopped : "");
    });
    this.#lead.draw(this.#names, placed, this.#goal);
    this.#curve.draw(this.#names, this.#points, this.#goal, this.#times.at(-1), this.#times[this.#at]);
    this.#seek.value = this.#at;
    const time = clock(this.#times[this.#at]);
    setText(this.#place, TEXT.step(this.#at, this.#steps.length - 1, time));
    this.#seek.setAttribute("aria-valuetext", `${this.#at}, ${time}`);
    setText(this.#sentence, this.#describe(event, card));
  }

  #describe(event, card) {
    if (!event) return TEXT.started;
    if (event.type === "stop") return TEXT.stoppedBy(event.seats.map((seat) => this.#names[seat]), event.ending);
    return TEXT.moved(this.#names[event.seat], event.move, card);
  }

  #toggle() {
    if (this.#playing !== null) {
      this.#pause();
      return;
    }
    if (this.#at === this.#steps.length - 1) this.#show(0);
    setText(this.#button, TEXT.pause);
    this.#schedule();
  }

  #pause() {
    clearTimeout(this.#playing);
    this.#playing = null;
    setText(this.#button, TEXT.play);
  }

  #schedule() {
    if (this.#at === this.#steps.length - 1) {
      this.#pause();
      return;
    }
    const wait_ms = (this.#times[this.#at + 1] - this.#times[this.#at]) / Number(this.#speed.value);
    this.#playing = setTimeout(() => {
      this.#show(this.#at + 1);
      this.#schedule();
    }, wait_ms);
  }

  #key(event) {
    if (event.target === this.#speed) return;
    if (event.key === " " && event.target !== this.#button) this.#toggle();
    else if (event.key in KEY_STEPS && event.target !== this.#seek) {
      this.#pause();
      this.#show(this.#at + KEY_STEPS[event.key]);
      announce(this.#sentence.textContent);
    } else return;
    event.preventDefault();
  }
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
