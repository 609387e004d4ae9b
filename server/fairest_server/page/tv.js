// Which match TV watches: the same choice as that of `fairest tv`.
import { fetchRooms } from "./lobby_view.js";

const MOST_PAGES = 10;

/** Return the room to watch, undefined if there is none: a race under way that may be watched, the longest match first. */
export const chooseMatch = (rooms) =>
  rooms.filter(({ phase, spectators }) => phase === "racing" && spectators !== "closed").sort(inOrder)[0];

/** In a match of the same length, more rounds decided come first, then the race that began last. */
function inOrder(one, other) {
  const merits = ({ best_of: bestOf, wins, since_ms: since }) => [bestOf, wins[0] + wins[1], since];
  const [ones, others] = [merits(one), merits(other)];
  const at = ones.findIndex((merit, place) => merit !== others[place]);
  if (at >= 0) return others[at] - ones[at];
  return one.room < other.room ? 1 : -1;
}

/** Fetch the lobby; return the room to watch now, undefined if there is none, or if the lobby cannot be read. */
export async function findMatch() {
  const rooms = [];
  for (let number = 0, pages = 1; number < Math.min(pages, MOST_PAGES); number += 1) {
    const page = await fetchRooms(number);
    if (page === null) return undefined;
    rooms.push(...page.rooms);
    ({ pages } = page);
  }
  return chooseMatch(rooms);
}
