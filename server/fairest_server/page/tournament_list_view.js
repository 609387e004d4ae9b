// The tournaments of this server, and the form that creates one.
import { drawHex } from "./bytes.js";
import { STATUS } from "./connection.js";
import { make, setText } from "./dom.js";
import { RIVAL_LEVELS } from "./quick_form.js";
import { fetchAnswer } from "./ratings.js";
import DATA from "./record_data.js";
import { RequestConnection } from "./request_connection.js";
import { TEXT } from "./texts.js";

const REFRESH_MS = 3000;
const KEY_BYTES = 16;
const FORMATS = ["swiss", "round_robin", "knockout"];

/** The tournaments that are open or under way, those that have ended, and the form for another one. */
export class TournamentList {
  #notice = make("p", { role: "status" }, TEXT.loadingTournaments);
  #lists = make("div");
  #shown = "";
  element = make(
    "section", { class: "lobby" }, make("h1", {}, TEXT.tournamentsTitle), this.#notice, this.#lists,
    make("p", { class: "hint" }, TEXT.tournamentsHint), new TournamentForm().element);

  constructor() {
    this.#refresh();
    setInterval(() => document.hidden || this.#refresh(), REFRESH_MS);
  }

  async #refresh() {
    const answer = await fetchAnswer("/tournaments");
    setText(this.#notice, typeof answer === "string" ? answer : "");
    const text = JSON.stringify(answer);
    if (typeof answer === "string" || text === this.#shown) return;
    this.#shown = text;
    const { tournaments, ended = [] } = answer;
    const list = (title, rows, none) =>
      [make("h2", {}, title), rows.length ? make("ul", { class: "rooms" }, ...rows.map(listLine)) : make("p", {}, none)];
    this.#lists.replaceChildren(
      ...list(TEXT.tournamentsNow, tournaments, TEXT.noTournaments), ...list(TEXT.tournamentsEnded, ended, TEXT.noneEnded));
  }
}

function listLine(row) {
  return make(
    "li", {},
    make("strong", {}, row.code), make("span", {}, TEXT.tournamentLine(row)),
    make("span", { class: "links" }, make("a", { class: "button", href: `/t/${row.code}`, "aria-label": TEXT.showTournamentOf(row.code) }, TEXT.showTournament)));
}

const choice = (values, text) => make("select", {}, ...values.map((value) => make("option", { value: value ?? "" }, text(value))));
const number = (value, min, max) => make("input", { type: "number", inputmode: "numeric", value, min, max, required: value !== null });

/** The form that creates a tournament; the page goes to the tournament then. */
class TournamentForm {
  #variant = choice(DATA.terms.rules, (rules) => rules);
  #format = choice(FORMATS, TEXT.tournamentFormat);
  #rounds = number(null, 1, 15);
  #most = number(16, 2, 128);
  #level = choice(RIVAL_LEVELS, TEXT.tournamentRivals);
  #ready = number(120, 5, 3600);
  #limit = number(1200, 30, 3600);
  #name = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", maxlength: 20, autocomplete: "nickname" });
  #button = make("button", { class: "main" }, TEXT.createTournament);
  #fault = make("p", { class: "wrong", role: "alert" });
  /** The same request again, with the same key, creates no other tournament. */
  #key = drawHex(KEY_BYTES);
  element = make(
    "form", { class: "create", onsubmit: (event) => this.#submit(event) },
    make("h2", {}, TEXT.createTournamentTitle),
    ...[
      [TEXT.variant, this.#variant], [TEXT.format, this.#format], [TEXT.rounds, this.#rounds], [TEXT.mostPlayers, this.#most],
      [TEXT.rivals, this.#level], [TEXT.readySeconds, this.#ready], [TEXT.limitSeconds, this.#limit], [TEXT.yourName, this.#name],
    ].map(([text, field]) => make("label", {}, text, field)),
    this.#fault, this.#button);

  constructor() {
    this.#format.addEventListener("change", () => (this.#rounds.disabled = this.#format.value !== "swiss"));
  }

  #submit(event) {
    event.preventDefault();
    this.#button.disabled = true;
    setText(this.#fault, "");
    const connection = new RequestConnection("tournaments", this.#name.value || null, () => {
      if (connection.status === STATUS.ENDED) this.#fail(connection.sentence);
    });
    connection.ask(this.#request(), ({ code }) => location.assign(`/t/${code}`), ({ sentence }) => connection.end(sentence));
  }

  #request() {
    const isSwiss = this.#format.value === "swiss";
    return {
      type: "create_tournament", rules: this.#variant.value, format: this.#format.value,
      rounds: isSwiss && this.#rounds.value ? Number(this.#rounds.value) : null, most_players: Number(this.#most.value),
      rival_level: this.#level.value || null, ready_seconds: Number(this.#ready.value), limit_seconds: Number(this.#limit.value),
      key: this.#key,
    };
  }

  #fail(sentence) {
    this.#button.disabled = false;
    setText(this.#fault, sentence);
  }
}
