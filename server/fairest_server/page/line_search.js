// The search for a line that wins a deal whose order is known, which decides in certified rooms what is dealt. It is that
// of `solver.py` and `open_stock.py` of fairest_protocol, where the reasons are, without the moves of the line: it looks at
// the same positions in the same order, so that it gives the same answer to every deal. This file imports nothing.
//
// Cards are numbers: their positions in the first pass. A position is {heights, piles, stock, at, pass}: `stock[at]` is the
// turned card, `heights` counts the cards of each foundation.

/** Each beam: how many positions it keeps of each turn, and the weights of both costs. */
const BEAMS = [[1, 2, 1], [4, 8, 1], [16, 1, 2], [16, 8, 1], [64, 1, 2], [64, 4, 1], [256, 1, 2], [256, 4, 1]];
const ONE_PILE_BEAMS = 2;
/** The bound of certified rooms. */
const MAX_NODES = 2000;
const RANKS = "A23456789TJQK";
const NEVER = 10 ** 6;
const EMPTY = 10 ** 7;
const TURNED = -1;

const sequenceOf = ([start, step, length]) =>
  Array.from({ length }, (_, count) => ((((start - 1 + step * count) % 13) + 13) % 13) + 1);
const sum = (numbers) => numbers.reduce((whole, number) => whole + number, 0);
const inOrder = (one, other) => one.cost - other.cost || one.missing - other.missing;
const replaced = (list, place, item) => list.map((old, at) => (at === place ? item : old));

/** Return a deal with an open stock: `layout` has [start, step, length] of each foundation, `orders` the cards of each pass. */
export function openGame(layout, orders) {
  const sequences = layout.map(sequenceOf);
  const numbers = new Map(orders[0].map((card, number) => [card, number]));
  return {
    numbers,
    sequences,
    ranks: orders[0].map((card) => RANKS.indexOf(card[0]) + 1),
    orders: orders.map((order) => order.map((card) => numbers.get(card))),
    goal: sum(sequences.map(({ length }) => length)),
  };
}

/**
 * Return whether the search proves within its bound that a deal can be won. `layout` has [start, step, length] of each
 * foundation, `orders` the cards (such as "TH") of each pass in their order; `piles` is how many there are.
 */
export function isProvedWinnable(layout, orders, piles) {
  const game = openGame(layout, orders);
  const first = { heights: layout.map(() => 1), piles: Array.from({ length: piles }, () => []), stock: game.orders[0] };
  return findLine(game, { ...first, at: 0, pass: 0 }, MAX_NODES).isWon;
}

/** Search for a line that wins from a position; return whether there is one, as `isWon`, and the `nodes` that were seen. */
export function findLine(game, start, maxNodes) {
  const search = { game, nodes: 0, maxNodes, isWon: false, order: new Array(game.ranks.length).fill(0) };
  const root = { position: settle(game, start) };
  search.isWon = sum(root.position.heights) === game.goal;
  for (const beam of start.piles.length > 1 ? BEAMS : BEAMS.slice(0, ONE_PILE_BEAMS)) {
    let nodes = [root];
    while (nodes.length && isGoingOn(search)) {
      const ended = searchPass(search, nodes, beam).sort(inOrder).slice(0, beam[0]);
      nodes = ended.flatMap(({ position, ...cost }) => redealt(game, position).map((after) => ({ ...cost, position: after })));
    }
    if (!isGoingOn(search)) break;
  }
  return search;
}

const isGoingOn = ({ isWon, nodes, maxNodes }) => !isWon && nodes < maxNodes;

/** Follow a beam to the end of the pass; return the nodes whose stock is empty. */
function searchPass(search, nodes, beam) {
  const ended = [];
  let present = nodes;
  while (present.length && isGoingOn(search)) {
    const following = new Map();
    for (const node of present) {
      if (node.position.at === node.position.stock.length) ended.push(node);
      else addFollowing(search, node.position, beam, following);
    }
    present = [...following.values()].sort(inOrder).slice(0, beam[0]);
  }
  return ended;
}

function addFollowing(search, before, [, easier, played], following) {
  const { game, order } = search;
  for (const position of branches(game, before)) {
    const key = `${position.heights} ${position.piles.map(String).sort().join("|")}`;
    if (following.has(key)) continue;
    search.nodes += 1;
    const planned = planOrder(game, position, order);
    const { missing, cost } = playOut(game, position, order);
    if (!missing) {
      search.isWon = true;
      return;
    }
    following.set(key, { cost: easier * planned + played * cost, missing, position });
  }
}

/** Return the positions after the turned card went to each foundation that needs it, otherwise to each different pile. */
function branches({ sequences, ranks, ...game }, position) {
  const { heights, piles, stock, at } = position;
  const card = stock[at];
  const fitting = [...heights.keys()].filter((to) => sequences[to][heights[to]] === ranks[card]);
  if (fitting.length) {
    return fitting.map((to) => {
      const placed = { ...position, heights: replaced(heights, to, heights[to] + 1), at: at + 1 };
      return settle({ sequences, ranks, ...game }, placed);
    });
  }
  const texts = piles.map(String);
  return piles.flatMap((pile, to) =>
    (texts.indexOf(texts[to]) === to ? [{ ...position, piles: replaced(piles, to, [...pile, card]), at: at + 1 }] : []));
}

/** Return the position after a redeal in a list, or an empty one if no redeal is left, or no waste. */
export function redealt({ orders }, { heights, piles, pass }) {
  const waste = new Set(piles.flat());
  if (pass + 1 === orders.length || !waste.size) return [];
  const stock = orders[pass + 1].filter((card) => waste.has(card));
  return [{ heights, piles: piles.map(() => []), stock, at: 0, pass: pass + 1 }];
}

/** Play every top card of a pile that a foundation needs, the least advanced foundation first. */
function settle({ sequences, ranks }, position) {
  const [heights, piles] = [[...position.heights], [...position.piles]];
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    for (const to of [...heights.keys()].sort((one, other) => heights[one] - heights[other])) {
      const source = piles.findIndex((pile) => pile.length && ranks[pile.at(-1)] === sequences[to][heights[to]]);
      if (source < 0) continue;
      piles[source] = piles[source].slice(0, -1);
      heights[to] += 1;
      isSettled = false;
    }
  }
  return { ...position, heights, piles };
}

/** Return for each rank the foundations that need it next, and the piles whose top card has it. */
function waitingRanks({ sequences, ranks }, { heights, piles }) {
  const [waiting, tops] = [0, 1].map(() => Array.from({ length: 14 }, () => []));
  sequences.forEach((sequence, to) => heights[to] < sequence.length && waiting[sequence[heights[to]]].push(to));
  piles.forEach((pile, source) => pile.length && tops[ranks[pile.at(-1)]].push(source));
  return { waiting, tops };
}

/** Remove the least advanced foundation from the list and return it. */
function popLeast(wanting, heights) {
  let least = 0;
  for (let at = 1; at < wanting.length; at++) if (heights[wanting[at]] < heights[wanting[least]]) least = at;
  return wanting.splice(least, 1)[0];
}

/** Play an easier game, write into `order` when each card goes to a foundation, and return the cost. */
function planOrder({ sequences, ranks, goal }, { heights: first, piles, stock, at }, order) {
  const [heights, left] = [[...first], piles.map(({ length }) => length)];
  const { waiting, tops } = waitingRanks({ sequences, ranks }, { heights, piles });
  const hand = Array.from({ length: 14 }, () => []);
  for (const pile of piles) for (const card of pile) order[card] = NEVER;
  let [cost, placed] = [0, 0];
  const pending = [];
  /** Take the top card of a pile with this rank; what lies below it may be needed. */
  const takeTop = (number) => {
    const source = tops[number].pop();
    left[source] -= 1;
    if (left[source]) {
      const below = ranks[piles[source][left[source] - 1]];
      tops[below].push(source);
      if (waiting[below].length) pending.push([below, source]);
    }
    return piles[source][left[source]];
  };
  for (let turn = at; turn < stock.length; turn++) {
    let card = stock[turn];
    order[card] = NEVER;
    if (waiting[ranks[card]].length) pending.push([ranks[card], TURNED]);
    else hand[ranks[card]].push(card);
    while (pending.length) {
      let [number, source] = pending.pop();
      if (!waiting[number].length || (source !== TURNED && !tops[number].length)) continue;
      if (source !== TURNED) card = takeTop(number);
      const to = popLeast(waiting[number], heights);
      for (;;) {
        order[card] = placed;
        placed += 1;
        cost += turn;
        heights[to] += 1;
        if (heights[to] === sequences[to].length) break;
        number = sequences[to][heights[to]];
        if (tops[number].length) card = takeTop(number);
        else if (hand[number].length) card = hand[number].pop();
        else {
          waiting[number].push(to);
          break;
        }
      }
    }
  }
  return cost + (goal - sum(heights)) * stock.length;
}

/** Play by the rules to the end of the pass, each card that no foundation needs on the pile where `order` says it fits. */
function playOut({ sequences, ranks, goal }, { heights: first, piles: before, stock, at }, order) {
  const [heights, piles] = [[...first], before.map((pile) => [...pile])];
  const { waiting, tops } = waitingRanks({ sequences, ranks }, { heights, piles });
  const keys = piles.map((pile) => (pile.length ? order[pile.at(-1)] : EMPTY));
  let cost = 0;
  const pending = [];
  for (let turn = at; turn < stock.length; turn++) {
    const card = stock[turn];
    if (waiting[ranks[card]].length) pending.push([ranks[card], TURNED]);
    else {
      const source = bestPile(keys, order[card]);
      if (piles[source].length) remove(tops[ranks[piles[source].at(-1)]], source);
      piles[source].push(card);
      keys[source] = order[card];
      tops[ranks[card]].push(source);
    }
    while (pending.length) {
      let [number, source] = pending.pop();
      if (!waiting[number].length || (source !== TURNED && !tops[number].includes(source))) continue;
      const to = popLeast(waiting[number], heights);
      for (;;) {
        if (source !== TURNED) {
          remove(tops[number], source);
          piles[source].pop();
          const top = piles[source].at(-1);
          keys[source] = top === undefined ? EMPTY : order[top];
          if (top !== undefined) {
            tops[ranks[top]].push(source);
            if (waiting[ranks[top]].length) pending.push([ranks[top], source]);
          }
        }
        cost += turn;
        heights[to] += 1;
        if (heights[to] === sequences[to].length) break;
        number = sequences[to][heights[to]];
        if (!tops[number].length) {
          waiting[number].push(to);
          break;
        }
        source = tops[number].at(-1);
      }
    }
  }
  const missing = goal - sum(heights);
  return { missing, cost: cost + missing * stock.length };
}

const remove = (list, item) => list.splice(list.indexOf(item), 1);

/** Return the pile whose top card is needed soonest after a card with this order; otherwise the one needed last. */
function bestPile(keys, key) {
  let [after, last] = [-1, 0];
  for (let at = 0; at < keys.length; at++) {
    if (keys[at] >= key && (after < 0 || keys[at] < keys[after])) after = at;
    if (keys[at] > keys[last]) last = at;
  }
  return after < 0 ? last : after;
}
