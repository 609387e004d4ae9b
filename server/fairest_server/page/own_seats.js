// The seats and the tournaments of this browser's player on this server, each with a link that leads back to it.
import { make } from "./dom.js";
import { NoAnswer, askAsPlayer, seatsIn, tournamentsIn } from "./player_request.js";
import { TEXT } from "./texts.js";

/** Return a list of seats and tournaments, by the codes of the rooms and of the tournaments. */
export const seatList = (rooms, tournaments) => make(
  "ul", { class: "rooms own-seats" },
  ...rooms.map((room) => line(TEXT.seatIn(room), `/r/${room}?join`, TEXT.takeIt, TEXT.takeSeatIn(room))),
  ...tournaments.map((code) => line(TEXT.tournamentGoesOn(code), `/t/${code}`, TEXT.goOn, TEXT.goOnIn(code))),
);

const line = (text, href, label, description) => make(
  "li", {}, make("span", {}, text),
  make("span", { class: "links" }, make("a", { class: "button main", href, "aria-label": description }, label)),
);

/** The seats for the lobby: nothing for a browser without a player, or while the server does not answer. */
export class OwnSeats {
  element = make("div", { hidden: true });

  constructor() {
    this.#refresh();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.element.isConnected) this.#refresh();
    });
  }

  async #refresh() {
    const [rooms, tournaments] = await readSeats();
    this.element.hidden = !rooms.length && !tournaments.length;
    this.element.replaceChildren(seatList(rooms, tournaments));
  }
}

async function readSeats() {
  try {
    const found = await askAsPlayer();
    return found ? [seatsIn(found.welcome) ?? [], tournamentsIn(found.welcome) ?? []] : [[], []];
  } catch (fault) {
    if (!(fault instanceof NoAnswer)) throw fault;
    return [[], []];
  }
}
