// The race of two seats on one deal, replayed from the moves and stops of a record.
import { cardOf, goalOf, legalMoves, placedOn, play, turn } from "./board.js";
import { layOut } from "./deal.js";
import { firstByCorrection, isTooLate, ledgerOf as ledgerOfTimes, startTimes, timesAfter } from "./distance.js";

export const DECISIVE = ["won", "resigned", "not_revealed"];

/** Raised for a move or a stop that cannot stand where it does. */
export class WrongRace extends Error {}

/**
 * Return a race at its start, with the first card turned for both seats. Races are values; nothing changes them.
 * `credit` is null in a room without credit; else it has `rtts`, the round trip of each seat, and `limitMs`.
 */
export function startRace(deal, piles, redeals, credit = null) {
  const [first, ...ahead] = deal.orders[0];
  const racer = { board: turn(layOut(deal, piles, redeals), first), pass: 0, ahead, seen: 1, ending: null };
  return { deal, racers: [racer, racer], credit, times: (credit?.rtts ?? [0, 0]).map(startTimes) };
}

/** Return the race after a line of a record: a `move`, or a `stop`. Raises `WrongRace`. */
export function after(race, { type, at_ms, seat, move, seats, ending }) {
  if (type === "stop") return afterStop(race, seats, ending, at_ms);
  const racer = race.racers[seat];
  if (racer.ending) throw new WrongRace(`seat ${seat + 1} moves after its race has ended`);
  if (move === "stop" || move === "resign")
    return ended(race, [seat], () => ({ ...racer, ending: move === "stop" ? "stopped" : "resigned" }));
  if (!legalMoves(racer.board).includes(move)) throw new WrongRace(`${move} of seat ${seat + 1} is against the rules`);
  const now = moved(race.deal, racer, move);
  const times = race.times.map((each, at) => (at === seat ? timesAfter(each, racer, now, move, at_ms) : each));
  return ended({ ...race, times }, [seat], () => now);
}

function moved(deal, racer, move) {
  let { ahead, pass, seen } = racer;
  let next = null;
  if (move[0] === "s" || move === "redeal") {
    if (move === "redeal") {
      pass += 1;
      const waste = racer.board.piles.flat();
      ahead = deal.orders[pass].filter((card) => waste.includes(card));
    }
    if (ahead.length) {
      [next, ...ahead] = ahead;
      seen += 1;
    }
  }
  const board = play(racer.board, move, next);
  const isWon = placedOn(board) === goalOf(board);
  const ending = isWon ? "won" : legalMoves(board).length ? null : "stuck";
  return { board, pass, ahead, seen, ending };
}

function afterStop(race, seats, ending, atMs) {
  const isBeforeStart = atMs === null;
  const { credit, racers, times } = race;
  const racing = [0, 1].filter((each) => !racers[each].ending);
  const mayEnd = (seat) => credit !== null
    && isTooLate(times[1 - seat], times[seat], racers[seat].board.turned !== null, credit.limitMs, atMs);
  const isAllowed = ["out_of_time", "round_over"].includes(ending)
    ? seats.join() === racing.join() && !isBeforeStart && (ending === "out_of_time" || mayEnd(seats[0]))
    : seats.length === 1 && racing.includes(seats[0]);
  if (!isAllowed) throw new WrongRace(`these seats are not stopped by ${ending}`);
  const stopped = ended(race, seats, (seat) => ({ ...racers[seat], ending }));
  if (!isBeforeStart) return stopped;
  // Whoever is stopped in the countdown has seen no card.
  return { ...stopped, racers: stopped.racers.map((racer) => (racer.ending ? { ...racer, seen: 0 } : racer)) };
}

/** Return what a race by these terms of a record credits, with the round trips that its result states; null for nothing. */
export function creditOf(terms, result) {
  if (!("credit" in terms)) return null;
  return { rtts: result?.ledger?.map((timing) => timing.rtt_us) ?? [0, 0], limitMs: 1000 * Number(terms.limit_seconds) };
}

/** Return the ledger of a race with credit in which a seat has placed every card; undefined for any other one. */
export const ledgerOf = ({ credit, times }) => (credit ? ledgerOfTimes(times) : undefined);

/** Return the race with these seats as `change` makes them; a decisive ending ends the race of the other one, too. */
function ended(race, seats, change) {
  let racers = race.racers.map((racer, seat) => (seats.includes(seat) ? change(seat) : racer));
  const isEnd = ({ ending }) => DECISIVE.includes(ending) && !(race.credit && ending === "won");
  if (racers.some(isEnd))
    racers = racers.map((racer) => (racer.ending ? racer : { ...racer, ending: "round_over" }));
  return { ...race, racers };
}

/** Return the scores of a race that is over. Raises `WrongRace`. */
export function scoresOf({ racers }) {
  if (!racers.every(({ ending }) => ending)) throw new WrongRace("the moves do not end the race");
  return racers.map(({ board, seen, ending }) =>
    ({ placed: placedOn(board), goal: goalOf(board), direct: board.direct, cards_turned: seen, ending }));
}

/** Return the seat that wins with these scores, or null for a draw; the ledger decides if both placed every card. */
export function winnerOf(scores, directBreaksTies, ledger = null) {
  if (ledger && scores.every(({ ending }) => ending === "won")) return firstByCorrection(ledger);
  const merits = scores.map(({ ending, placed, direct }) =>
    [ending === "won", !["resigned", "not_revealed"].includes(ending), placed, directBreaksTies ? direct : 0]);
  const decisive = merits[0].findIndex((merit, at) => merit !== merits[1][at]);
  return decisive < 0 ? null : Number(merits[0][decisive] < merits[1][decisive]);
}

/** Return the race at the start of a round and after each of its events, as {event, race}, for a replay. */
export function stepsOf(deal, piles, redeals, events, credit = null) {
  const steps = [{ event: null, card: null, race: startRace(deal, piles, redeals, credit) }];
  for (const event of events) {
    const { race } = steps.at(-1);
    const card = event.type === "move" ? (cardOf(race.racers[event.seat].board, event.move) ?? null) : null;
    steps.push({ event, card, race: after(race, event) });
  }
  return steps;
}
