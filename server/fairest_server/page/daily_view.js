// The daily deal on the page: what everybody may know of it, our attempt, and the table once it is opened.
import { alarm } from "./alarm.js";
import { Cheated } from "./cheated.js";
import { lookUpDaily } from "./daily_chain.js";
import { DailyConnection } from "./daily_connection.js";
import { checkDay } from "./daily_game.js";
import { PageMissing, fetchDaily, openDaily } from "./daily_table.js";
import { make, setText } from "./dom.js";
import DATA from "./record_data.js";
import { NoRecord } from "./record_view.js";
import { SoloRaceView } from "./solo_race_view.js";
import { readDailyNote, readNoteUnderWay } from "./storage.js";
import { showAttempt } from "./solo_view.js";
import { table } from "./table.js";
import { TEXT, clock } from "./texts.js";

const DAY_MS = 86400000;

/** Return the day that is so many `days` later. */
const dayAfter = (day, days) => new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** The page of the daily deal that the query of its address asks for: of a variant and a day, today's without one. */
export class DailyView {
  #rules;
  #day;
  /** The id of the attempt that is to be replayed, or null. */
  #attemptId;
  #notice = make("p", { role: "status" });
  #chain = make("p", { class: "chain", role: "status" });
  #warning = make("p", { class: "warning", role: "alert" });
  #place = make("div");
  #connection = null;
  #attempt = null;
  /** The day and the seal that were looked up in the chain of rounds, as text. */
  #lookedUp = "";
  /** Whether the chain contradicts the deal: then nothing else is shown any more. */
  #isCheated = false;
  element;

  constructor(query) {
    const asked = new URLSearchParams(query);
    this.#rules = DATA.terms.rules.includes(asked.get("rules")) ? asked.get("rules") : "classic";
    this.#day = /^\d{4}-\d\d-\d\d$/.test(asked.get("day") ?? "") ? asked.get("day") : null;
    this.#attemptId = asked.get("attempt");
    const chosen = make("select", {}, ...DATA.terms.rules.map((value) => make("option", { value, selected: value === this.#rules }, value)));
    chosen.addEventListener("change", () => location.assign(this.#path(chosen.value, this.#day)));
    this.element = make(
      "section", { class: "room daily" }, make("h1", {}, TEXT.dailyTitle),
      make("label", { class: "check" }, TEXT.variant, chosen), this.#notice, this.#chain, this.#warning, this.#place,
      make("p", { class: "hint" }, TEXT.dailyHint));
    this.#load();
  }

  #path(rules, day, more = {}) {
    return `/today?${new URLSearchParams(day ? { rules, day, ...more } : { rules })}`;
  }

  async #load() {
    setText(this.#notice, TEXT.loadingDaily);
    const page = await fetchDaily(this.#rules, this.#day);
    if (typeof page === "string") {
      setText(this.#notice, page);
      this.#place.replaceChildren(...this.#attemptParts(null));
      return;
    }
    try {
      checkDay(page.day, this.#day, Date.now());
    } catch (fault) {
      if (!(fault instanceof Cheated)) throw fault;
      this.#place.replaceChildren(alarm(fault.message));
      return;
    }
    setText(this.#notice, TEXT.dailyOf(page.day, page.rules, page.begun, page.ended));
    if (page.seal) {
      const clockAhead = page.now_ms - Date.now();
      this.#lookUp(page.day, page.seal, () => Date.now() + clockAhead);
    }
    const links = make("p", { class: "more" }, make("a", { class: "button", href: this.#path(page.rules, dayAfter(page.day, -1)) }, TEXT.dayBefore));
    const parts = page.opened ? await this.#openedParts(page) : this.#attemptParts(page);
    if (!this.#isCheated) this.#place.replaceChildren(...parts, links);
  }

  /** Look a deal up in the server's chain of rounds, once; say what was found, or stop everything. */
  async #lookUp(day, seal, now) {
    const asked = JSON.stringify([day, seal]);
    if (asked === this.#lookedUp) return;
    this.#lookedUp = asked;
    this.#chain.className = "chain";
    setText(this.#chain, TEXT.chainLooking);
    try {
      const { kind, sentence, warning } = await lookUpDaily(this.#rules, day, seal, now);
      if (asked !== this.#lookedUp) return;
      this.#chain.classList.add(kind);
      setText(this.#chain, sentence);
      setText(this.#warning, warning);
    } catch (fault) {
      if (!(fault instanceof Cheated)) throw fault;
      this.#isCheated = true;
      this.#connection?.accuse(fault.message);
      setText(this.#chain, "");
      this.#place.replaceChildren(alarm(fault.message));
    }
  }

  /** Return the button that begins our attempt, or leads back to it. */
  #attemptParts(page) {
    const note = readNoteUnderWay(this.#rules, Date.now());
    if (!page && !note) return [];
    const isUnderWay = page && page.seal && page.now_ms < page.ends_ms;
    if (page && !note && !isUnderWay) return [make("p", {}, page.seal ? TEXT.dailyNotOpened : TEXT.dailyNotDealt)];
    const name = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", maxlength: 20, autocomplete: "nickname" });
    const begin = (event) => {
      event.preventDefault();
      this.#begin(note?.day ?? page.day, name.value || null);
    };
    const isDone = page && readDailyNote(this.#rules, page.day)?.result;
    return [make(
      "form", { onsubmit: begin }, make("p", {}, isDone ? TEXT.dailyDone : note ? TEXT.dailyUnderWay(note.day) : TEXT.dailyRules),
      ...(note || isDone ? [] : [make("label", {}, TEXT.yourName, name)]),
      make("button", { class: "main" }, isDone ? TEXT.dailyShow : note ? TEXT.dailyGoOn : TEXT.dailyBegin),
    )];
  }

  async #openedParts(page) {
    try {
      const { rows, own, proofs } = await openDaily(page, readDailyNote(page.rules, page.day));
      const marked = ({ rank }, isOwn) => (isOwn ? `▸ ${rank}` : String(rank));
      const replay = ({ attempt, name }) =>
        make("a", { href: this.#path(page.rules, page.day, { attempt }), "aria-label": TEXT.dailyReplayOf(name) }, TEXT.replay);
      const lines = rows.map((row) => [
        marked(row, row === own), row.name, `${row.placed}${row.won ? " ✓" : ""}`, String(row.direct), clock(row.time_ms), String(row.from_address), replay(row)]);
      return [
        ...(this.#attemptId ? await showAttempt(page, rows, this.#attemptId) : []),
        ...(rows.length ? [table(TEXT.dailyTable(page.day, page.rules), TEXT.dailyHeads, lines)] : [make("p", {}, TEXT.dailyNobody)]),
        make("ul", { class: "proof right" }, ...proofs.map((each) => make("li", {}, each)))];
    } catch (fault) {
      if (fault instanceof PageMissing || fault instanceof NoRecord) return [make("p", { role: "alert" }, fault.message)];
      if (!(fault instanceof Cheated)) throw fault;
      return [alarm(fault.message)];
    }
  }

  #begin(day, name) {
    const connection = new DailyConnection(this.#rules, day, name, () => {
      this.#attempt?.update();
      const { game, cheated } = connection;
      if (game && !cheated) this.#lookUp(game.day, game.seal, () => connection.now);
    });
    this.#connection = connection;
    this.#attempt = new SoloRaceView(connection, {
      stop: TEXT.dailyStop, result: ({ result }) => TEXT.dailyResult(result, clock(result.time_ms)), others: () => "",
    });
    this.#place.replaceChildren(this.#attempt.element);
    this.#attempt.update();
  }
}
