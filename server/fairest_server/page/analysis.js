// The analysis of one round: what each move was worth, the moves that cost most, and whether the deal could be won. Its
// figures are those of `fairest analyse`, which also lets a rival play the deal, and searches all moves of a short end.
import { LayoutTables } from "./layout_tables.js";
import { betterLine, isWinnable, judge } from "./judging.js";
import { after } from "./race.js";

/** Roll-outs for each candidate when all moves are looked at, and for the moves that then seem worst. */
const [ROLL_OUTS, CLOSE_LOOK] = [60, 400];
/** How many moves of a seat get the close look, and how many of them are named. */
const [SUSPECTS, MISTAKES] = [8, 3];
/** A move that costs less is not named: with 400 roll-outs, a difference of two in a hundred may be chance. */
const LEAST_COST = 0.02;

const costOf = ({ chance, bestChance }) => bestChance - chance;

/**
 * Yield how much is done, from 0 to 1, and last the analysis of a race as `soloRace` describes it: of each seat that has a
 * name. The seeds follow from the id of the round and the numbers of the events.
 *
 * The analysis is {isWinnable, leastCost, seats}. Each seat has `moves`, its moves of cards as `judge` returns them, `lost`,
 * how much of a win they gave away together, and `mistakes`, the dearest ones of `leastCost` or more: with their `better`
 * moves, and whether a line that wins was found before and after, as `could` and `can`.
 */
export function* analyse({ names, rules, round, steps, first }) {
  const seed = parseInt(round.slice(0, 8), 16);
  const tables = new LayoutTables(steps[0].race.racers[0].board.layout);
  const moves = movesOf(steps, first).filter(({ seat }) => seat in names);
  const total = moves.length + SUSPECTS * names.length + 1;
  let done = 1;
  const deal = isWinnable(steps[0].race, 0);
  yield done / total;
  const judged = [];
  for (const made of moves) {
    judged.push(judge(tables, rules, made, seed, ROLL_OUTS));
    yield ++done / total;
  }
  const analysed = [];
  for (let seat = 0; seat < names.length; seat++) {
    const own = judged.filter((each) => each.seat === seat);
    const again = [];
    for (const suspect of [...own].sort((one, other) => costOf(other) - costOf(one)).slice(0, SUSPECTS)) {
      again.push(judge(tables, rules, suspect, seed + 1, CLOSE_LOOK));
      yield Math.min(1, ++done / total);
    }
    const worst = again.sort((one, other) => costOf(other) - costOf(one) || one.number - other.number).slice(0, MISTAKES);
    const mistakes = worst.filter((each) => costOf(each) >= LEAST_COST).map((each) => explain(tables, rules, each));
    analysed.push({ moves: own.map(withoutRace), lost: own.reduce((lost, move) => lost + costOf(move), 0), mistakes });
  }
  yield { isWinnable: deal, leastCost: LEAST_COST, seats: analysed };
}

/** Return the moves of cards with the number of their events, from 1, and the races before them. */
function movesOf(steps, first) {
  const races = steps.map(({ race }) => race);
  return steps.flatMap(({ event }, step) =>
    (event?.type === "move" && !["stop", "resign"].includes(event.move)
      ? [{ number: step - 1 + first, step, seat: event.seat, at_ms: event.at_ms, move: event.move, before: races[step - 1] }] : []));
}

function explain(tables, rules, judged) {
  const { before, seat, move } = judged;
  const afterwards = after(before, { type: "move", at_ms: judged.at_ms, seat, move });
  const board = before.racers[seat].board;
  return {
    ...withoutRace(judged), board, better: betterLine(tables, rules, judged),
    could: isWinnable(before, seat), can: isWinnable(afterwards, seat),
  };
}

const withoutRace = ({ before, ...judged }) => judged;
