// One player's board and the rules of a move. A board is the object `Board` of docs/protocol.md; nothing changes it.

export const RANKS = "A23456789TJQK";
export const PILES = "abcdefgh";

/** Return the rank of a card as a number, ace 1 to king 13. */
export const rankOf = (card) => RANKS.indexOf(card[0]) + 1;

/** Return the rank that a foundation with `count` cards needs next, or null if it is complete. */
export const nextRank = ({ start, step, length }, count) =>
  count < length ? ((((start - 1 + step * count) % 13) + 13) % 13) + 1 : null;

/** Return all ranks of a foundation in their order, its starter first. */
export const sequenceOf = (foundation) =>
  Array.from({ length: foundation.length }, (_, count) => nextRank(foundation, count));

/** Return the rank that each foundation needs next, null for a complete one. */
export const nextRanks = (board) =>
  board.layout.map((foundation, place) => nextRank(foundation, board.foundations[place].length));

/** Return the number of cards on the foundations, starters included. */
export const placedOn = (board) => board.foundations.reduce((count, cards) => count + cards.length, 0);

/** Return the number of cards on the foundations when all are complete. */
export const goalOf = (board) => board.layout.reduce((count, { length }) => count + length, 0);

/** Return the card that a move would move: the turned card or the top of a pile, undefined if there is none. */
export const cardOf = (board, move) =>
  move[0] === "s" ? (board.turned ?? undefined) : board.piles[PILES.indexOf(move[0])]?.at(-1);

/** Return whether the waste may become the stock again. */
export const mayRedeal = (board) =>
  board.redeals > 0 && board.turned === null && !board.stock && board.piles.some((pile) => pile.length);

/** Return every legal move but `stop` and `resign`, to foundations first. */
export function legalMoves(board) {
  const wanted = nextRanks(board);
  const sources = ["s", ...PILES.slice(0, board.piles.length)].filter((source) => cardOf(board, source));
  const placing = sources.flatMap((source) =>
    wanted.flatMap((rank, place) => (rank === rankOf(cardOf(board, source)) ? [`${source}${place + 1}`] : [])));
  const laying = board.turned ? board.piles.map((_, place) => `s${PILES[place]}`) : [];
  return [...placing, ...laying, ...(mayRedeal(board) ? ["redeal"] : [])];
}

/** Return the board after a legal move; `nextCard` is turned if the move took the turned card or dealt the waste. */
export function play(board, move, nextCard = null) {
  const stock = nextCard === null ? board.stock : board.stock - 1;
  if (move === "redeal") {
    const waste = board.piles.flat().length;
    const left = nextCard === null ? waste : waste - 1;
    return { ...board, piles: board.piles.map(() => []), stock: left, redeals: board.redeals - 1, turned: nextCard };
  }
  const card = cardOf(board, move);
  const after = { ...board };
  if (move[0] === "s") Object.assign(after, { turned: nextCard, stock });
  else after.piles = changed(board.piles, PILES.indexOf(move[0]), (pile) => pile.slice(0, -1));
  const pile = PILES.indexOf(move[1]);
  if (pile >= 0) after.piles = changed(board.piles, pile, (cards) => [...cards, card]);
  else {
    after.foundations = changed(board.foundations, Number(move[1]) - 1, (cards) => [...cards, card]);
    if (move[0] === "s") after.direct += 1;
  }
  return after;
}

/** Return the board with a card of the stock turned. */
export const turn = (board, card) => ({ ...board, turned: card, stock: board.stock - 1 });

/** Return a list in which the item at a place is what `change` makes of it. */
export const changed = (list, place, change) => list.map((item, at) => (at === place ? change(item) : item));
