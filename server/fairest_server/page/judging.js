// The worth of each move of a race, beside the best one that its player could have made. A move is judged by what its
// player saw, with the figures of `fairest analyse`: the same sampled games from the same seeds.
import { PILES } from "./board.js";
import { Chance } from "./chance.js";
import { after } from "./race.js";
import { choosePile, distinctMoves, positionAfter, readPosition, rollOut } from "./roll_out.js";

/** How many moves of the better line are given. */
const BETTER_MOVES = 6;
/** The value of a game that places all cards but one, against 1.3 for a win. */
const PLACED_WEIGHT = 0.3;

/** Return the chance to win after each distinct legal move of a board, the best move first: [move, chance]. */
export function evaluate(tables, board, rules, seed, budget) {
  const position = readPosition(board, rules);
  const candidates = distinctMoves(board).map((move) => ({ move, position: positionAfter(position, move), wins: 0, placed: 0 }));
  tables.trim();
  for (let sample = 0; sample < budget; sample++) {
    const chance = new Chance(seed + sample);
    const order = drawOrder(position.unseen, chance);
    const shuffleSeed = chance.bits(32);
    for (const candidate of candidates) {
      const placed = rollOut(tables, candidate.position, order, position.redeals ? new Chance(shuffleSeed) : null);
      candidate.placed += placed;
      candidate.wins += Number(placed === position.goal);
    }
  }
  const valueOf = ({ wins, placed }) => (wins + (PLACED_WEIGHT * placed) / position.goal) / budget;
  candidates.sort((one, other) => other.wins - one.wins || valueOf(other) - valueOf(one));
  return candidates.map(({ move, wins }) => [move, wins / budget]);
}

/** Return the unseen cards, as ranks, in a random order. */
function drawOrder(unseen, chance) {
  const keyed = unseen.flatMap((count, rank) => Array.from({ length: count }, () => [chance.random(), rank]));
  keyed.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  return keyed.map(([, rank]) => rank);
}

/**
 * Return what a move was worth, by `budget` roll-outs for each candidate. A move is {number, seat, at_ms, move, race}: the
 * number of its event, and the race before it.
 */
export function judge(tables, rules, made, seed, budget) {
  const { number, seat, move, race } = made;
  const { board } = race.racers[seat];
  const ranked = evaluate(tables, board, rules, seed + number, budget);
  const chances = new Map(ranked);
  // A move to a second empty pile is not evaluated: it is the same as the one to the first.
  const chance = chances.get(chances.has(move) ? move : twinOf(board, chances));
  const [[best, bestChance]] = ranked;
  return { ...made, chance, bestChance, best: chance >= bestChance ? move : best };
}

const twinOf = (board, chances) => [...chances.keys()].find((move) => move !== "redeal" && board.piles[PILES.indexOf(move[1])]?.length === 0);

/** Return the better move, and how the game may have gone on after it: the moves of the policy on this deal. */
export function betterLine(tables, rules, { race: before, seat, best }) {
  const line = [best];
  let race = before;
  while (line.length < BETTER_MOVES) {
    race = after(race, { type: "move", at_ms: 0, seat, move: line.at(-1) });
    if (race.racers[seat].ending) break;
    line.push(chooseMove(tables, race.racers[seat].board, rules));
  }
  return line;
}

function chooseMove(tables, board, rules) {
  const moves = distinctMoves(board);
  const fitting = moves.filter((move) => /\d/.test(move[1]));
  if (fitting.length) {
    const shareOf = (move) => board.foundations[move[1] - 1].length / board.layout[move[1] - 1].length;
    return fitting.reduce((least, move) => (shareOf(move) < shareOf(least) ? move : least));
  }
  const piles = moves.filter((move) => move !== "redeal");
  return piles.length < 2 ? moves[0] : `s${PILES[choosePile(tables, readPosition(board, rules))]}`;
}
