// One game played to its end by the pile policy, as `rollout.py` of fairest_cli plays it.
import { PILES, goalOf, legalMoves, placedOn, rankOf } from "./board.js";
import { NO_CARD, RANK_COUNT, unitOf } from "./layout_tables.js";
import { URGENCIES } from "./pile_weights.js";
import DATA from "./record_data.js";

const numberOf = (card) => rankOf(card) - 1;

/** Return what matters for the future of a board, in plain numbers. It depends on nothing but what the player sees. */
export function readPosition(board, rules) {
  const { decks, markers, redeal } = DATA.variants[rules];
  const unseen = new Array(RANK_COUNT).fill(4 * decks);
  for (const rank of markers) unseen[rank - 1] -= 1;
  const seen = [...board.foundations, ...board.piles].flat();
  for (const card of board.turned === null ? seen : [...seen, board.turned]) unseen[numberOf(card)] -= 1;
  return {
    key: board.foundations.reduce((key, { length }, foundation) => key + length * unitOf(foundation), 0),
    placed: placedOn(board),
    goal: goalOf(board),
    piles: board.piles.map((pile) => pile.map(numberOf)),
    turned: board.turned === null ? null : numberOf(board.turned),
    unseen,
    redeals: board.redeals,
    keepsOrder: redeal === "turned_over",
  };
}

/** Return the position after a legal move, before the next card is turned. A redeal comes when the roll-out begins. */
export function positionAfter(position, move) {
  if (move === "redeal") return position;
  const after = { ...position, piles: position.piles.map((pile) => [...pile]) };
  const [source, target] = [PILES.indexOf(move[0]), PILES.indexOf(move[1])];
  if (source < 0) after.turned = null;
  if (target >= 0) after.piles[target].push(position.turned);
  else {
    after.key += unitOf(Number(move[1]) - 1);
    after.placed += 1;
    if (source >= 0) after.piles[source].pop();
  }
  return after;
}

/** Return the legal moves of a board, without those to a second empty pile, which lead to the same game. */
export function distinctMoves(board) {
  const empty = [...PILES.slice(0, board.piles.length)].filter((_, pile) => !board.piles[pile].length);
  return legalMoves(board).filter((move) => !empty.slice(1).includes(move[1]) || move === "redeal");
}

/** Play the tops of piles to foundations while one fits, the least advanced foundation first. */
function placeTops(tables, game) {
  const { piles, tops } = game;
  for (;;) {
    const { adding, advance } = tables.at(game.key);
    let [chosen, best] = [-1, 2];
    for (let pile = 0; pile < tops.length; pile++) {
      const top = tops[pile];
      if (adding[top] && advance[top] < best) [chosen, best] = [pile, advance[top]];
    }
    if (chosen < 0) return;
    game.key += adding[tops[chosen]];
    game.placed += 1;
    piles[chosen].pop();
    tops[chosen] = piles[chosen].at(-1) ?? NO_CARD;
  }
}

/**
 * Play a position to its end with this order of the stock, to which its turned card does not belong; return the number of
 * cards on foundations then. `chance` orders a shuffled redeal.
 */
export function rollOut(tables, position, order, chance) {
  const { goal, keepsOrder } = position;
  let { redeals } = position;
  const piles = position.piles.map((pile) => [...pile]);
  const game = { key: position.key, placed: position.placed, piles, tops: piles.map((pile) => pile.at(-1) ?? NO_CARD) };
  const copies = position.unseen.map((count) => URGENCIES * count);
  let stock = order;
  if (position.turned !== null) {
    copies[position.turned] += URGENCIES;
    stock = [position.turned, ...order];
  }
  placeTops(tables, game);
  let state = tables.at(game.key);
  for (;;) {
    for (const rank of stock) {
      copies[rank] -= URGENCIES;
      const added = state.adding[rank];
      if (added) {
        game.key += added;
        game.placed += 1;
        placeTops(tables, game);
        state = tables.at(game.key);
        continue;
      }
      const chosen = bestPile(game, state.onTop[rank] ?? tables.topScores(game.key, rank), state.blocking[rank], copies, state.urgency);
      game.piles[chosen].push(rank);
      game.tops[chosen] = rank;
    }
    if (!redeals || game.placed === goal) return game.placed;
    redeals -= 1;
    stock = game.piles.flat();
    if (!keepsOrder) chance.shuffle(stock);
    for (const rank of stock) copies[rank] += URGENCIES;
    game.piles = game.piles.map(() => []);
    game.tops = game.piles.map(() => NO_CARD);
  }
}

/** Return the pile with the highest score for a card; the first one of equal piles. */
function bestPile({ piles, tops }, topScores, row, copies, urgency) {
  let [best, chosen] = [-1e9, 0];
  for (let pile = 0; pile < piles.length; pile++) {
    let score = topScores[tops[pile]];
    for (const other of piles[pile]) score -= row[copies[other] + urgency[other]];
    if (score > best) [best, chosen] = [score, pile];
  }
  return chosen;
}

/** Return the pile on which the policy lays the turned card of a position. */
export function choosePile(tables, { key, piles, turned, unseen }) {
  const { blocking, urgency } = tables.at(key);
  const tops = piles.map((pile) => pile.at(-1) ?? NO_CARD);
  const copies = unseen.map((count) => URGENCIES * count);
  return bestPile({ piles, tops }, tables.topScores(key, turned), blocking[turned], copies, urgency);
}
