// Whether a game can be won by a player who knows the order of the stock: `solver.py` and `exhaustion.py` of
// fairest_protocol, where the reasons and the proofs are, without the moves of the line. It looks at the same positions in
// the same order, so that it gives the same answer.
import { findLine, openGame, redealt } from "./line_search.js";

/** The bound of both searches together, in positions; half of it is for the first one. */
const MAX_NODES = 40000;

const replaced = (list, place, item) => list.map((old, at) => (at === place ? item : old));

/**
 * Return "winnable", "unwinnable", or "open" if neither was shown within the bound, for a seat of a race: first by a search for
 * a line that wins, then by a search of all moves.
 */
export function solve({ deal, racers }, seat) {
  const { board, ahead, pass } = racers[seat];
  const game = openGame(board.layout.map(({ start, step, length }) => [start, step, length]), deal.orders);
  const numbered = (cards) => cards.map((card) => game.numbers.get(card));
  const start = {
    heights: board.foundations.map(({ length }) => length),
    piles: board.piles.map(numbered),
    stock: numbered(board.turned === null ? ahead : [board.turned, ...ahead]),
    at: 0,
    pass,
  };
  const { isWon, nodes } = findLine(game, start, MAX_NODES / 2);
  return isWon ? "winnable" : exhaust(game, start, MAX_NODES - nodes);
}

/** Look at all positions that can be reached, depth first. */
function exhaust(game, start, maxNodes) {
  const known = new Set([keyOf(game, start)]);
  const path = [branches(game, start)];
  let nodes = 1;
  while (path.length) {
    const { value: position, done } = path.at(-1).next();
    if (done) {
      path.pop();
      continue;
    }
    const key = keyOf(game, position);
    if (known.has(key)) continue;
    if (nodes === maxNodes) return "open";
    nodes += 1;
    known.add(key);
    if (position.heights.reduce((sum, height) => sum + height, 0) === game.goal) return "winnable";
    if (!isLost(game, position)) path.push(branches(game, position));
  }
  return "unwinnable";
}

/** Return whether a position of the last pass is lost, by a test that is quick, and blind to many lost positions. */
function isLost({ sequences, ranks, orders }, { heights, piles, stock, at, pass }) {
  if (pass + 1 < orders.length) return false;
  const atHand = new Set(stock.slice(at).map((card) => ranks[card]));
  const left = piles.map(({ length }) => length);
  const showTop = (source) => left[source] && atHand.add(ranks[piles[source][left[source] - 1]]);
  piles.forEach((_, source) => showTop(source));
  for (;;) {
    const reached = new Set();
    let isWon = true;
    sequences.forEach((sequence, to) => {
      const wanted = sequence.slice(heights[to]);
      const end = wanted.findIndex((rank) => !atHand.has(rank));
      isWon &&= end < 0;
      for (const rank of end < 0 ? wanted : wanted.slice(0, end)) reached.add(rank);
    });
    if (isWon) return false;
    let isGone = false;
    piles.forEach((pile, source) => {
      while (left[source] && reached.has(ranks[pile[left[source] - 1]])) {
        left[source] -= 1;
        isGone = true;
        showTop(source);
      }
    });
    if (!isGone) return true;
  }
}

/** Yield the positions after all legal moves, or after the one that is at least as good as all others. */
function* branches(game, position) {
  const { piles, stock, at } = position;
  const placing = [...placings(game, position)];
  const isLastOfRank = ({ rank }) =>
    [...stock.slice(at), ...piles.flat()].filter((card) => game.ranks[card] === rank).length === 1;
  const forced = placing.find(isLastOfRank);
  if (forced) {
    yield forced.after;
    return;
  }
  for (const { after } of placing) yield after;
  if (at === stock.length) yield* redealt(game, position);
  else for (let to = 0; to < piles.length; to++) yield { ...position, piles: replaced(piles, to, [...piles[to], stock[at]]), at: at + 1 };
}

/** Yield the position after each move that places a card, with the rank of the card. */
function* placings({ sequences, ranks }, position) {
  const { heights, piles, stock, at } = position;
  const takes = [
    ...(at < stock.length ? [[stock[at], { at: at + 1 }]] : []),
    ...piles.flatMap((pile, source) => (pile.length ? [[pile.at(-1), { piles: replaced(piles, source, pile.slice(0, -1)) }]] : [])),
  ];
  for (const [card, taken] of takes) {
    const rank = ranks[card];
    for (const [to, sequence] of sequences.entries())
      if (sequence[heights[to]] === rank) yield { after: { ...position, ...taken, heights: replaced(heights, to, heights[to] + 1) }, rank };
  }
}

/** Return a text that is the same for positions that are won or lost alike. */
function keyOf({ ranks, orders }, { heights, piles, at, pass }) {
  const shown = pass + 1 === orders.length ? piles.map((pile) => pile.map((card) => ranks[card])) : piles;
  return `${heights} ${shown.map(String).sort().join("|")} ${at} ${pass}`;
}
