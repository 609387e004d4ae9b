// The leaderboard of a variant, and the page of a player.
import { make, setText } from "./dom.js";
import { fetchLeaderboard, fetchPlayer } from "./ratings.js";
import DATA from "./record_data.js";
import { table } from "./table.js";
import { TEXT, clock } from "./texts.js";

const playerLink = (name) => make("a", { href: `/p/${encodeURIComponent(name)}` }, name);

const share = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "–");

/** Return the element of the leaderboard that the query of the page's address asks for. It fills itself. */
export function showLeaderboard(query) {
  const asked = new URLSearchParams(query);
  const rules = DATA.terms.rules.includes(asked.get("rules")) ? asked.get("rules") : "classic";
  const page = /^\d{1,6}$/.test(asked.get("page") ?? "") ? Number(asked.get("page")) : 0;
  const [notice, list] = [make("p", { role: "status" }, TEXT.loadingRatings), make("div")];
  fillLeaderboard(rules, page, notice, list);
  const chosen = make("select", {}, ...DATA.terms.rules.map((value) => make("option", { value, selected: value === rules }, value)));
  const name = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", required: true, maxlength: 20, autocomplete: "off" });
  return make(
    "section", { class: "lobby" }, make("h1", {}, TEXT.leaderboardTitle),
    make("form", { class: "create", onsubmit: (event) => go(event, `/ratings?rules=${chosen.value}`) },
      make("label", {}, TEXT.variant, chosen), make("button", { class: "main" }, TEXT.filter)),
    notice, list, make("p", { class: "hint" }, TEXT.ratingsHint),
    make("form", { onsubmit: (event) => go(event, `/p/${encodeURIComponent(name.value)}`) },
      make("label", {}, TEXT.playerName, name), make("button", {}, TEXT.open)),
  );
}

function go(event, path) {
  event.preventDefault();
  location.assign(path);
}

async function fillLeaderboard(rules, page, notice, list) {
  const board = await fetchLeaderboard(rules, page);
  if (typeof board === "string" || !board.players.length) {
    setText(notice, typeof board === "string" ? board : TEXT.noRatings(rules));
    return;
  }
  setText(notice, TEXT.ratedPlayers(board.total));
  const rows = board.players.map(({ place, name, rating, deviation, rounds, wins, streak }) =>
    [String(place), playerLink(name), TEXT.rating(rating, deviation), String(rounds), share(wins, rounds), TEXT.streak(streak)]);
  const link = (number, text) => make("a", { class: "button", href: `/ratings?rules=${rules}&page=${number}` }, text);
  list.replaceChildren(
    table(TEXT.leaderboardOf(rules), TEXT.leaderboardHeads, rows),
    make("p", { class: "more" }, page > 0 ? link(page - 1, TEXT.higher) : "", " ", page + 1 < board.pages ? link(page + 1, TEXT.lower) : ""),
  );
}

/** Return the element of the page of a player, with the score against another one if the query names it. */
export function showPlayer(name, query) {
  const against = new URLSearchParams(query).get("against");
  const [heading, notice, list] = [make("h1", {}, name), make("p", { role: "status" }, TEXT.loadingRatings), make("div")];
  fillPlayer(name, against, heading, notice, list);
  const other = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", required: true, maxlength: 20, autocomplete: "off" });
  const compare = (event) => go(event, `/p/${encodeURIComponent(name)}?${new URLSearchParams({ against: other.value })}`);
  return make(
    "section", { class: "lobby" }, heading, notice, list, make("p", { class: "hint" }, TEXT.ratingsHint),
    make("form", { onsubmit: compare }, make("label", {}, TEXT.againstName, other), make("button", {}, TEXT.filter)));
}

async function fillPlayer(asked, against, heading, notice, list) {
  const page = await fetchPlayer(asked, against);
  if (typeof page === "string") {
    setText(notice, page);
    return;
  }
  const { name, ratings, pairs } = page;
  document.title = TEXT.title(name);
  setText(heading, name);
  setText(notice, ratings.length ? "" : TEXT.notRated(name));
  const rows = ratings.map((each) => [
    each.rules, `${TEXT.rating(each.rating, each.deviation)}${each.is_provisional ? TEXT.provisional : ""}`, each.place ? String(each.place) : "–",
    String(each.rounds), share(each.wins, each.rounds), TEXT.streak(each.streak), String(each.near_misses), each.best_ms === null ? "–" : clock(each.best_ms),
    String(each.best_direct), String(each.left),
  ]);
  const scores = pairs.map(({ rules, wins, draws, direct, last_day: day }) => [rules, wins.join(" : "), String(draws), direct.join(" : "), day]);
  list.replaceChildren(
    ...(rows.length ? [table(TEXT.ratingsOf(name), TEXT.playerHeads, rows)] : []),
    ...(against && !scores.length ? [make("p", {}, TEXT.neverMet(name, against))] : []),
    ...(scores.length ? [table(TEXT.scoreOf(name, against), TEXT.pairHeads, scores)] : []),
    make("p", { class: "more" }, make("a", { class: "button", href: `/m?${new URLSearchParams({ player: name })}` }, TEXT.matchesOf)),
  );
}
