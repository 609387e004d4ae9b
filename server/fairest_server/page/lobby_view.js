// The rooms of this server, and the form that creates one.
import DATA from "./record_data.js";
import { make, setText } from "./dom.js";
import { OwnSeats } from "./own_seats.js";
import { quickForm } from "./quick_form.js";
import { TEXT } from "./texts.js";

const REFRESH_MS = 3000;

/** Fetch a page of the lobby; return it, or null if it cannot be read now. */
export async function fetchRooms(number = 0) {
  try {
    const answer = await fetch(`/lobby?page=${number}`);
    return answer.ok ? await answer.json() : null;
  } catch (fault) {
    if (fault instanceof TypeError) return null; // the server is away
    throw fault;
  }
}

/** The lobby. `onCreate(options, name)` and `onQuick(wish, name)` are called with what the forms say. */
export class LobbyView {
  #list = make("ul", { class: "rooms" });
  #notice = make("p", { role: "status" });
  #shown = "";
  element;

  constructor(onCreate, onQuick) {
    this.element = make(
      "section", { class: "lobby" },
      make("h1", {}, TEXT.lobbyTitle), new OwnSeats().element, this.#notice, this.#list, quickForm(onQuick), createForm(onCreate), recordForm(),
    );
    this.#refresh();
    setInterval(() => this.#refresh(), REFRESH_MS);
  }

  async #refresh() {
    if (document.hidden) return;
    const rooms = (await fetchRooms())?.rooms ?? null;
    setText(this.#notice, rooms === null ? TEXT.lobbyFault : rooms.length ? "" : TEXT.lobbyEmpty);
    const text = JSON.stringify(rooms);
    if (rooms === null || text === this.#shown) return;
    this.#shown = text;
    this.#list.replaceChildren(...rooms.map(roomLine));
  }
}

function roomLine({ room, phase, names, wins, rules, best_of: bestOf, spectators, certified, placed, watching }) {
  const isFree = names.includes(null);
  const score = bestOf > 1 ? ` · ${wins.join(" : ")}` : "";
  const counts = (placed ? ` · ${TEXT.cardsPlaced(placed)}` : "") + (watching ? ` · ${TEXT.watching(watching)}` : "");
  return make(
    "li", {},
    make("strong", {}, names.map((name) => name ?? TEXT.seatFree).join(TEXT.against)),
    make("span", {}, `${rules}${certified ? TEXT.certified : ""}${score} · ${TEXT.phases[phase] ?? phase}${counts}`),
    make("span", { class: "links" },
      isFree ? make("a", { class: "button", href: `/r/${room}?join` }, TEXT.join) : "",
      spectators === "closed" ? "" : make("a", { class: "button", href: `/r/${room}` }, TEXT.watch)),
  );
}

function createForm(onCreate) {
  const option = (value) => make("option", { value }, value);
  const variant = make("select", {}, ...DATA.terms.rules.map(option));
  const bestOf = make("select", {}, ...DATA.terms.best_of.map(option));
  const listed = make("input", { type: "checkbox", checked: true });
  const credit = make("input", { type: "checkbox", checked: true });
  const name = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", maxlength: 20, autocomplete: "nickname" });
  const submit = (event) => {
    event.preventDefault();
    const options = { rules: variant.value, best_of: Number(bestOf.value), listed: listed.checked };
    onCreate(credit.checked ? { ...options, credit: DATA.credit.procedure } : options, name.value || null);
  };
  return make(
    "form", { class: "create", onsubmit: submit },
    make("h2", {}, TEXT.createTitle),
    make("label", {}, TEXT.variant, variant), make("label", {}, TEXT.bestOf, bestOf),
    make("label", {}, TEXT.yourName, name), make("label", { class: "check" }, listed, TEXT.listed),
    make("label", { class: "check" }, credit, TEXT.credit),
    make("button", { class: "main" }, TEXT.create),
  );
}

function recordForm() {
  const match = make("input", { pattern: "[0-9a-f]{32}", required: true, maxlength: 32, "aria-label": TEXT.recordLabel });
  const file = make("input", { type: "file", "aria-label": TEXT.recordLabel });
  const open = (event) => {
    event.preventDefault();
    location.assign(`/m/${match.value}`);
  };
  file.addEventListener("change", () => file.files[0] && document.dispatchEvent(new CustomEvent("record", { detail: file.files[0] })));
  return make(
    "form", { class: "record", onsubmit: open },
    make("h2", {}, TEXT.recordTitle), make("label", {}, TEXT.recordLabel, match),
    make("button", {}, TEXT.open), file,
  );
}
