// The analysis of one round: what each move was worth, the moves that cost most, and whether the deal could be won. Its
// answers are those of `fairest analyse`, which also measures how hard the deal is.
import { LayoutTables } from "./layout_tables.js";
import { betterLine, judge } from "./judging.js";
import { after } from "./race.js";
import { solve } from "./solver.js";

/** Roll-outs for each candidate when all moves are looked at, and for the moves that then seem worst. */
const [ROLL_OUTS, CLOSE_LOOK] = [60, 400];
/** How many moves of a seat get the close look, and how many of them are named. */
const [SUSPECTS, MISTAKES] = [8, 3];
/** A move that costs less is not named: with 400 roll-outs, a difference of two in a hundred may be chance. */
const LEAST_COST = 0.02;

const costOf = ({ chance, bestChance }) => bestChance - chance;

/**
 * Yield how much is done, from 0 to 1, and then the analysis of a race as `soloRace` describes it, with an item for each
 * named seat. The seeds follow from the id of the round and the numbers of the events.
 *
 * The analysis is {verdict, leastCost, seats}; a verdict is an answer of `solve`. Each seat has `moves`, its moves of cards as
 * `judge` returns them, `cost`, the mean of what they cost, and `mistakes`, those that cost most and `leastCost`
 * at least: with their `better` moves, and the verdicts `before` and `after` them.
 */
export function* analyse({ names, rules, round, steps, first }) {
  const seed = parseInt(round.slice(0, 8), 16);
  const tables = new LayoutTables(steps[0].race.racers[0].board.layout);
  const moves = movesOf(steps, first).filter(({ seat }) => seat in names);
  const total = 1 + moves.length + (SUSPECTS + MISTAKES) * names.length;
  let done = 0;
  const share = () => ++done / total;
  const verdict = solve(steps[0].race, 0);
  yield share();
  const judged = [];
  for (const made of moves) {
    judged.push(judge(tables, rules, made, seed, ROLL_OUTS));
    yield share();
  }
  const seats = [];
  for (let seat = 0; seat < names.length; seat++) {
    const own = judged.filter((each) => each.seat === seat);
    const again = [];
    for (const suspect of [...own].sort((one, other) => costOf(other) - costOf(one)).slice(0, SUSPECTS)) {
      again.push(judge(tables, rules, suspect, seed + 1, CLOSE_LOOK));
      yield share();
    }
    const worst = again.sort((one, other) => costOf(other) - costOf(one) || one.number - other.number).slice(0, MISTAKES);
    const mistakes = [];
    for (const mistake of worst.filter((each) => costOf(each) >= LEAST_COST)) {
      mistakes.push(explain(tables, rules, mistake));
      yield share();
    }
    seats.push({ moves: own.map(withoutRace), cost: own.reduce((sum, move) => sum + costOf(move), 0) / Math.max(1, own.length), mistakes });
  }
  // There may have been fewer moves and mistakes than were counted.
  yield 1;
  yield { verdict, leastCost: LEAST_COST, seats };
}

/** Return the moves of cards with the numbers of their steps and events, and the races before them. */
function movesOf(steps, first) {
  return steps.flatMap(({ event }, step) =>
    (event?.type === "move" && !["stop", "resign"].includes(event.move)
      ? [{ number: step - 1 + first, step, seat: event.seat, at_ms: event.at_ms, move: event.move, race: steps[step - 1].race }] : []));
}

function explain(tables, rules, judged) {
  const { race, seat, move, at_ms } = judged;
  const moved = after(race, { type: "move", at_ms, seat, move });
  return {
    ...withoutRace(judged), board: race.racers[seat].board, better: betterLine(tables, rules, judged),
    before: solve(race, seat), after: solve(moved, seat),
  };
}

const withoutRace = ({ race, ...judged }) => judged;
