// The standings of a tournament, and its rounds with their pairs, the newest one first.
import { make, setText } from "./dom.js";
import { table } from "./table.js";
import { TEXT, clock } from "./texts.js";

const ENDED = ["over", "cancelled"];

const playerLink = (name) => make("a", { href: `/p/${encodeURIComponent(name)}` }, name);

/** Return the table of the standings; the row of our own is marked. */
export function standingsTable({ standings }, own) {
  const rows = standings.map(({ rank, name, points, placed, direct, buchholz, has_left: hasLeft }) => [
    `${name === own ? "▸ " : ""}${rank}`, make("span", { class: "name" }, playerLink(name), hasLeft ? TEXT.hasLeftTournament : ""),
    TEXT.points(points), String(placed), String(direct), TEXT.points(buchholz)]);
  return table(TEXT.standings, TEXT.standingsHeads, rows);
}

/** The rounds of a tournament. */
export class RoundsView {
  /** For each round what is drawn of it, as {key, element}. */
  #drawn = new Map();
  /** The elements with the cards of the races under way, by the names of their players. */
  #counts = new Map();
  element = make("div");

  /** Draw those rounds anew that have changed. */
  draw(shown) {
    const elements = shown.played.toReversed().map((played) => this.#part(shown, played));
    const isSame = elements.length === this.element.children.length && elements.every((each, at) => each === this.element.children[at]);
    if (!isSame) this.element.replaceChildren(...elements);
  }

  /** Draw the cards placed in the races under way. */
  drawCounts(counts) {
    for (const [name, element] of this.#counts) {
      const count = counts.get(name);
      setText(element, count ? TEXT.tournamentCount(count) : "");
    }
  }

  #part(shown, played) {
    const isUnderWay = played === shown.played.at(-1) && !ENDED.includes(shown.phase) && !played.secret;
    const key = JSON.stringify([played, isUnderWay && shown.phase]);
    if (this.#drawn.get(played.number)?.key !== key) {
      if (played === shown.played.at(-1)) this.#counts.clear();
      this.#drawn.set(played.number, { key, element: this.#drawRound(shown, played, isUnderWay) });
    }
    return this.#drawn.get(played.number).element;
  }

  #drawRound(shown, played, isUnderWay) {
    const ready = new Set(played.ready.map(({ name }) => name));
    const side = (pair, seat) => {
      const [name, score] = [pair.names[seat], pair.scores[seat]];
      if (name === null) return make("span", { class: "side-of" }, TEXT.bye);
      const said = make("span", { class: "result" });
      if (pair.points) setText(said, TEXT.pairResult(pair.points[seat], score, score && clock(score.time_ms)));
      else if (isUnderWay && shown.phase === "racing") this.#counts.set(name, said);
      else if (isUnderWay && ready.has(name)) setText(said, TEXT.isReady);
      const address = `/t/${shown.code}?${new URLSearchParams({ round: played.number, name })}`;
      const replay = score ? make("a", { href: address, "aria-label": TEXT.raceReplayOf(name, played.number) }, TEXT.raceReplay) : "";
      return make("span", { class: "side-of" }, make("strong", {}, playerLink(name)), said, replay);
    };
    const lines = played.pairs.map((pair) => make("li", {}, side(pair, 0), side(pair, 1)));
    return make(
      "section", {}, make("h2", {}, TEXT.roundTitle(played.number)), make("ul", { class: "pairs" }, ...lines),
      ...(played.secret ? [make("p", { class: "hint" }, TEXT.roundProved)] : []));
  }
}
