// The seats of this browser's player on this server, each with a link that leads back to it.
import { make } from "./dom.js";
import { NoAnswer, askAsPlayer, seatsIn } from "./player_request.js";
import { TEXT } from "./texts.js";

/** Return a list of seats, with the codes of the rooms. */
export const seatList = (rooms) => make("ul", { class: "rooms own-seats" }, ...rooms.map((room) => make(
  "li", {}, make("span", {}, TEXT.seatIn(room)),
  make("span", { class: "links" }, make("a", { class: "button main", href: `/r/${room}?join`, "aria-label": TEXT.takeSeatIn(room) }, TEXT.takeIt)),
)));

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
    const rooms = await readSeats();
    this.element.hidden = !rooms.length;
    this.element.replaceChildren(seatList(rooms));
  }
}

async function readSeats() {
  try {
    const found = await askAsPlayer();
    return (found && seatsIn(found.welcome)) ?? [];
  } catch (fault) {
    if (!(fault instanceof NoAnswer)) throw fault;
    return [];
  }
}
