// The sealed deal in plain JavaScript, written from docs/protocol.md: hashes, and the deal that follows from a seed.
import { createHash, createHmac } from "node:crypto";

// The rules: ranks and steps of the foundations, cards on each, ranks of the markers; piles and redeals, from and to.
const CLASSIC = { starts: [1, 2, 3, 4], steps: [1, 2, 3, 4], length: 13, markers: [], piles: [1, 8], redeals: [0, 2] };
export const VARIANTS = {
  classic: CLASSIC,
  easy: { ...CLASSIC, piles: [5, 6] },
  broken: { ...CLASSIC, isBroken: true }, // starters from the shuffled deck, steps from dice
  senior: { ...CLASSIC, starts: [1, 2, 3, 4, 5, 6, 7, 8], steps: [1, 2, 3, 4, 5, 6, 7, 8], piles: [4, 8] },
  reverse: { ...CLASSIC, starts: [13, 13, 13, 13], steps: [-1, -2, -3, -4] },
  redeal: { ...CLASSIC, redeals: [1, 2] },
  "betsy-ross": { ...CLASSIC, starts: [2, 4, 6, 8], length: 12, markers: [1, 2, 3, 4], piles: [1, 1],
    isTurned: true },
  single: { ...CLASSIC, piles: [1, 1] },
};

// Hashes and random numbers. Of a stream the first 4096 bytes are made, many times as many as a deal takes.
export const hex = (value) => Buffer.from(value, "hex");
export const byte = (number) => Buffer.from([number]);
export const two = (number) => Buffer.from([number >> 8, number & 255]);
const withLength = (part) => [two(part.length >> 16), two(part.length & 65535), part];
export const encode = (label, ...parts) =>
  Buffer.concat([Buffer.from(`fairest.v1.${label}`), ...parts].flatMap(withLength));
export const hash = (label, ...parts) => createHash("sha256").update(encode(label, ...parts)).digest("hex");
const stream = (label, ...parts) =>
  createHash("shake256", { outputLength: 4096 }).update(encode(label, ...parts)).digest().values();
const draw = (below, numbers, number = numbers.next().value) =>
  number < 256 - (256 % below) ? number % below : draw(below, numbers);
function shuffle(cards, numbers) {
  const shuffled = [...cards];
  for (let last = cards.length - 1; last > 0; last--) {
    const other = draw(last + 1, numbers);
    [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
  }
  return shuffled;
}

// Return the layout, the order of the stock in each pass, and the envelopes.
export const RANKS = "A23456789TJQK";
const TWO_DECKS = [..."CDHScdhs"].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
export function makeDeal(terms, seed, roundId) {
  let { starts, steps, length, markers, isBroken, isTurned } = VARIANTS[terms.rules];
  const unshuffled = TWO_DECKS.slice(0, 13 * starts.length);
  const deck = shuffle(unshuffled, stream("shuffle", seed));
  const firstOf = (rank, laid) => unshuffled.find((card) => card[0] === RANKS[rank - 1] && !laid.includes(card));
  const laid = isBroken ? deck.slice(0, 4)
    : [...starts, ...markers].reduce((before, rank) => [...before, firstOf(rank, before)], []);
  if (isBroken) {
    starts = laid.map((card) => RANKS.indexOf(card[0]) + 1);
    const dice = stream("dice", seed);
    do steps = starts.map(() => draw(6, dice) + 1);
    while (new Set(starts.map((start, place) => `${start} ${steps[place]}`)).size < 4);
  }
  const stock = deck.filter((card) => !laid.includes(card));
  const reorder = (pass) => (isTurned ? stock : shuffle(stock, stream("redeal", seed, byte(pass))));
  const orders = [stock, ...[1, 2].slice(0, terms.redeals).map(reorder)];
  const seal = (pass) => (card, position) => {
    const salt = createHmac("sha256", seed).update(encode("salt", byte(pass), two(position))).digest();
    return hash("envelope", roundId, byte(pass), two(position), Buffer.from(card), salt);
  };
  const envelopes = (isTurned ? [stock] : orders).map((order, pass) => order.map(seal(pass)));
  return { layout: starts.map((start, place) => ({ start, step: steps[place], length })), orders, envelopes };
}
