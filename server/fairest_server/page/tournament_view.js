// The tournaments of this server, and one of them with its standings and its rounds, as they change.
import { alarm } from "./alarm.js";
import { STATUS } from "./connection.js";
import { announce, make, setText } from "./dom.js";
import { fetchAnswer } from "./ratings.js";
import { table } from "./table.js";
import { TEXT, clock } from "./texts.js";
import { TournamentConnection } from "./tournament_connection.js";

const REFRESH_MS = 3000;
const TICK_MS = 250;
const CODE = /^[a-z]+(-[a-z]+){1,5}$/;

const playerLink = (name) => make("a", { href: `/p/${encodeURIComponent(name)}` }, name);

/** The tournaments that are open or under way, and those that have ended. */
export class TournamentList {
  #notice = make("p", { role: "status" }, TEXT.loadingTournaments);
  #lists = make("div");
  #shown = "";
  element = make(
    "section", { class: "lobby" }, make("h1", {}, TEXT.tournamentsTitle), this.#notice, this.#lists,
    make("p", { class: "hint" }, TEXT.tournamentsHint));

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

/** One tournament: where it stands, the standings, and its rounds, the newest one first. */
export class TournamentView {
  #connection;
  #status = make("p", { class: "status" });
  #phase = make("span");
  #clock = make("span", { class: "clock" });
  #sentence = make("p", { class: "sentence", role: "status" });
  #warning = make("p", { class: "warning", role: "alert" });
  #standings = make("div");
  #rounds = make("div");
  #drawn = -1;
  #announced = "";
  /** The elements with the cards of the races under way, by the names of their players. */
  #counts = new Map();
  element;

  constructor(code) {
    this.#status.append(this.#phase, this.#clock);
    this.element = make(
      "section", { class: "tournament" }, make("h1", {}, TEXT.tournamentTitle(code)),
      this.#warning, this.#status, this.#sentence, this.#standings, this.#rounds);
    document.title = TEXT.title(TEXT.tournamentTitle(code));
    if (!CODE.test(code)) {
      setText(this.#sentence, TEXT.noSuchTournament);
      return;
    }
    this.#connection = new TournamentConnection(code, () => this.#update());
    this.#update();
    setInterval(() => this.#tick(), TICK_MS);
  }

  #update() {
    const { shown, counts, status, sentence, warning, cheated } = this.#connection;
    if (cheated) {
      this.element.replaceChildren(alarm(cheated));
      return;
    }
    setText(this.#warning, warning);
    const isSaid = { [STATUS.CONNECTING]: TEXT.connecting, [STATUS.LOST]: TEXT.lost }[status];
    setText(this.#sentence, isSaid ?? (sentence || (shown ? TEXT.tournamentDue(shown) : "")));
    if (!shown) return;
    if (shown.version !== this.#drawn) this.#draw(shown);
    for (const [name, element] of this.#counts) {
      const count = counts.get(name);
      setText(element, count ? TEXT.tournamentCount(count) : "");
    }
    this.#tick();
  }

  #draw(shown) {
    this.#drawn = shown.version;
    this.#counts.clear();
    const head = TEXT.tournamentHead(shown);
    setText(this.#phase, head);
    if (this.#announced && this.#announced !== head) announce(head);
    this.#announced = head;
    const rows = shown.standings.map(({ rank, name, points, placed, direct, buchholz, has_left: hasLeft }) => [
      String(rank), make("span", { class: "name" }, playerLink(name), hasLeft ? TEXT.hasLeftTournament : ""), TEXT.points(points), String(placed), String(direct), TEXT.points(buchholz)]);
    this.#standings.replaceChildren(
      table(TEXT.standings, TEXT.standingsHeads, rows), make("p", { class: "hint" }, TEXT.unratedTournament));
    this.#rounds.replaceChildren(...shown.played.toReversed().map((played) => this.#roundPart(shown, played)));
  }

  #roundPart({ code, phase, played: all }, played) {
    const isUnderWay = played === all.at(-1) && !["over", "cancelled"].includes(phase) && !played.secret;
    const ready = new Set(played.ready.map(({ name }) => name));
    const side = (pair, seat) => {
      const [name, score] = [pair.names[seat], pair.scores[seat]];
      if (name === null) return make("span", { class: "side-of" }, TEXT.bye);
      const said = make("span", { class: "result" });
      if (pair.points) setText(said, TEXT.pairResult(pair.points[seat], score, score && clock(score.time_ms)));
      else if (isUnderWay && phase === "racing") this.#counts.set(name, said);
      else if (isUnderWay && ready.has(name)) setText(said, TEXT.isReady);
      const address = `/t/${code}?${new URLSearchParams({ round: played.number, name })}`;
      const replay = score ? make("a", { href: address, "aria-label": TEXT.raceReplayOf(name, played.number) }, TEXT.raceReplay) : "";
      return make("span", { class: "side-of" }, make("strong", {}, playerLink(name)), said, replay);
    };
    const lines = played.pairs.map((pair) => make("li", {}, side(pair, 0), side(pair, 1)));
    return make(
      "section", {}, make("h2", {}, TEXT.roundTitle(played.number)), make("ul", { class: "pairs" }, ...lines),
      ...(played.secret ? [make("p", { class: "hint" }, TEXT.roundProved)] : []));
  }

  #tick() {
    const { shown, now, status } = this.#connection;
    const isTimed = shown?.until_ms && status === STATUS.CONNECTED;
    setText(this.#clock, isTimed ? TEXT.left(clock(shown.until_ms - now)) : "");
  }
}
