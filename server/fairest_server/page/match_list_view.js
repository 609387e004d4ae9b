// The finished matches of this server, page by page, of everybody, a player or a variant.
import DATA from "./record_data.js";
import { make, setText } from "./dom.js";
import { TEXT } from "./texts.js";

const FILTERS = ["player", "rules", "before"];

/** Return the element of the list that the query of the page's address asks for. It fills itself. */
export function showMatches(query) {
  const asked = new URLSearchParams(query);
  const filters = new URLSearchParams(FILTERS.filter((name) => asked.get(name)).map((name) => [name, asked.get(name)]));
  const [notice, list] = [make("p", { role: "status" }, TEXT.loadingMatches), make("ul", { class: "rooms" })];
  const more = make("p", { class: "more" });
  fill(filters, notice, list, more);
  return make(
    "section", { class: "lobby" },
    make("h1", {}, TEXT.matchesTitle), filterForm(filters), notice, list, more, make("p", { class: "hint" }, TEXT.matchesHint));
}

async function fill(filters, notice, list, more) {
  const answer = await fetchMatches(filters);
  if (typeof answer === "string") {
    setText(notice, answer);
    return;
  }
  setText(notice, answer.matches.length ? "" : TEXT.noMatches);
  list.replaceChildren(...answer.matches.map(matchLine));
  if (answer.next) {
    const older = new URLSearchParams([...filters].filter(([name]) => name !== "before"));
    older.set("before", answer.next);
    more.append(make("a", { class: "button", href: `/m?${older}` }, TEXT.older));
  }
}

/** Fetch a page of the list; return it, or a sentence that says why it cannot be read. */
async function fetchMatches(filters) {
  try {
    const answer = await fetch(`/matches?${filters}`);
    return answer.ok ? await answer.json() : (await answer.text()).trim();
  } catch (fault) {
    if (fault instanceof TypeError) return TEXT.matchesFault; // the server is away
    throw fault;
  }
}

function matchLine({ match, names, rules, best_of: bestOf, wins, winner, placed, finished_at_ms: finishedAt }) {
  const score = (bestOf > 1 ? wins : placed).join(" : ");
  const time = new Date(finishedAt);
  return make(
    "li", {},
    make("strong", {}, names.join(TEXT.against)),
    make("span", {}, `${rules} · ${winner === null ? TEXT.draw : TEXT.wins(names[winner])}, ${score} · `,
      make("time", { datetime: time.toISOString() }, time.toLocaleString())),
    make("span", { class: "links" },
      make("a", { class: "button", href: `/m/${match}`, "aria-label": TEXT.replayOf(names) }, TEXT.replay)),
  );
}

function filterForm(filters) {
  const player = make("input", {
    value: filters.get("player") ?? "", pattern: "[A-Za-z0-9_\\-]{2,20}", maxlength: 20, autocomplete: "off",
  });
  const rules = make("select", {}, make("option", { value: "" }, TEXT.everyVariant),
    ...DATA.terms.rules.map((value) => make("option", { value }, value)));
  rules.value = filters.get("rules") ?? "";
  const submit = (event) => {
    event.preventDefault();
    const chosen = new URLSearchParams([["player", player.value], ["rules", rules.value]].filter(([, value]) => value));
    location.assign(`/m?${chosen}`);
  };
  return make(
    "form", { class: "create", onsubmit: submit },
    make("label", {}, TEXT.playerName, player), make("label", {}, TEXT.variant, rules),
    make("button", { class: "main" }, TEXT.filter));
}
