// Only for the compiler: what docs/types/fairest.d.ts takes, and what it refuses. Nothing runs this.
import type { Card, FromClient, FromServer, Move, Replies, RoomCode, Seat } from "../../docs/types/fairest.d.ts";

const cards: Card[] = ["AC", "TS", "Kd"];
const moves: Move[] = ["s2", "sa", "b4", "ab", "redeal", "stop", "resign"];
const room: RoomCode = "amber-quiet-lynx";
const answer: Replies["leave"]["type"][] = ["left", "refused"];
const requests: FromClient[] = [
  { type: "hello" },
  { type: "play", number: 1, move: "sa" },
  { type: "create", options: { best_of: 3 } },
];

// @ts-expect-error: ten is T
const ten: Card = "10H";
// @ts-expect-error: the suit comes second
const reversed: Card = "CA";
// @ts-expect-error: there are eight foundations
const ninth: Move = "s9";
// @ts-expect-error: nothing moves onto the stock
const back: Move = "as";
// @ts-expect-error: a code has at least two words
const short: RoomCode = "amber";
// @ts-expect-error: there are two seats
const third: Seat = 2;
// @ts-expect-error: a room is joined by its code
const nowhere: FromClient = { type: "join" };
// @ts-expect-error: a key that the server does not know ends the connection
const unknown: FromClient = { type: "leave", why: "late" };
// @ts-expect-error: no such length of a match
const even: FromClient = { type: "create", options: { best_of: 2 } };

export function describe(message: FromServer): Card[] {
  switch (message.type) {
    case "view":
      return message.entries.flatMap((entry) => (entry.type === "turned" ? [entry.card] : []));
    case "snapshot":
      return message.scene.seats.flatMap((seat) => seat.board?.foundations.flat() ?? []);
    default:
      return [];
  }
}
