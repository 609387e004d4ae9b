// The deal of a seed, as docs/protocol.md makes it under "The deal".
import { RANKS } from "./board.js";
import { numberBytes } from "./bytes.js";
import DATA from "./record_data.js";
import { drawBelow, makeEnvelope, makeSalt, shuffle, stream } from "./seal.js";

/**
 * Return the deal of a seed for a variant: the `layout`, the `starters` and `markers`, and `orders`, the order of the
 * whole stock in each pass.
 */
export function makeDeal(rules, redeals, seed) {
  const { foundations, rolled, decks, markers, redeal } = DATA.variants[rules];
  const suits = [..."CDHScdhs"].slice(0, 4 * decks);
  const unshuffled = suits.flatMap((suit) => [...RANKS].map((rank) => rank + suit));
  const deck = shuffle(unshuffled, stream("shuffle", seed));
  const aside = [];
  const setAside = (rank) =>
    aside.push(unshuffled.find((card) => card[0] === RANKS[rank - 1] && !aside.includes(card)));
  let layout;
  if (rolled) {
    aside.push(...deck.slice(0, rolled.count));
    layout = rollLayout(aside, rolled, stream("dice", seed));
  } else {
    layout = foundations.map(([start, step, length]) => ({ start, step, length }));
    for (const { start } of layout) setAside(start);
    markers.forEach(setAside);
  }
  const stock = deck.filter((card) => !aside.includes(card));
  const isTurnedOver = redeal === "turned_over";
  const reordered = Array.from({ length: redeals }, (_, number) =>
    isTurnedOver ? stock : shuffle(stock, stream("redeal", seed, numberBytes(number + 1, 1))));
  return {
    layout,
    starters: aside.slice(0, layout.length),
    markers: aside.slice(layout.length),
    orders: [stock, ...reordered],
    sealedPasses: isTurnedOver ? 1 : redeals + 1,
  };
}

/** Return foundations that start at these cards, with steps thrown until no two foundations are the same. */
function rollLayout(starters, { sides, length }, dice) {
  for (;;) {
    const layout = starters.map((card) =>
      ({ start: RANKS.indexOf(card[0]) + 1, step: drawBelow(sides, dice) + 1, length }));
    if (new Set(layout.map(({ start, step }) => `${start} ${step}`)).size === layout.length) return layout;
  }
}

/** Return all envelopes of a deal: a list for each sealed pass. */
export const sealDeal = ({ orders, sealedPasses }, seed, round) =>
  orders.slice(0, sealedPasses).map((order, pass) =>
    order.map((card, position) => makeEnvelope(round, pass, position, card, makeSalt(seed, pass, position))));

/** Return the board of a deal before its first card is turned. */
export const layOut = ({ layout, starters, orders }, piles, redeals) => ({
  layout,
  foundations: starters.map((card) => [card]),
  piles: Array.from({ length: piles }, () => []),
  turned: null,
  stock: orders[0].length,
  redeals,
  direct: 0,
});
