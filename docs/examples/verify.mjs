// A verifier of records in plain JavaScript, written from docs/protocol.md: node verify.mjs FILE...
// It exits with 1 if one is not of a match that can have happened. Compare the key that it prints with GET /key.
import assert, { AssertionError } from "node:assert";
import { createHash, createHmac, createPublicKey, verify as isSigned } from "node:crypto";
import { readFileSync } from "node:fs";
import * as distance from "../../server/fairest_server/page/distance.js"; // the credit for distance
import { isProvedWinnable } from "../../server/fairest_server/page/line_search.js"; // the solver, for certified rounds

// The lines of a record and their order, the variants and the limits of rooms are published as data.
const DATA = JSON.parse(readFileSync(new URL("../record.json", import.meta.url)));
const LINE = new RegExp(`^(${Object.values(DATA.lines).join("|")})$`);
const ORDER = new RegExp(`^${DATA.order}$`);
const RANKS = "A23456789TJQK";
const MERITS = { won: 1e6, resigned: -1e6, not_revealed: -1e6 }; // if equal, more cards win, then more direct plays
const ENDINGS = { stop: "stopped", resign: "resigned" };

// Hashes and random numbers. Of a stream the first 4096 bytes are made, many times as many as a deal takes.
const hex = (value) => Buffer.from(value, "hex");
const number = (value, bytes) => hex(value.toString(16).padStart(2 * bytes, "0"));
const encode = (label, ...parts) =>
  Buffer.concat([Buffer.from(`fairest.v1.${label}`), ...parts].flatMap((part) => [number(part.length, 4), part]));
const hash = (label, ...parts) => createHash("sha256").update(encode(label, ...parts)).digest("hex");
const stream = (...parts) => createHash("shake256", { outputLength: 4096 }).update(encode(...parts)).digest().values();
function draw(below, bytes) {
  for (const byte of bytes) if (byte < 256 - (256 % below)) return byte % below;
}
function shuffle(cards, bytes) {
  const shuffled = [...cards];
  for (let last = cards.length - 1; last > 0; last--) {
    const other = draw(last + 1, bytes);
    [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
  }
  return shuffled;
}

// Return the foundations as [start, step, length], the order of the stock in each pass, and the envelopes.
function makeDeal(terms, seed, roundId) {
  const { foundations, laid: fixed, rolled, decks, redeal } = DATA.variants[terms.rules];
  const unshuffled = [..."CDHScdhs"].slice(0, 4 * decks).flatMap((suit) => [...RANKS].map((rank) => rank + suit));
  const deck = shuffle(unshuffled, stream("shuffle", seed));
  const laid = rolled ? deck.slice(0, rolled.count) : fixed;
  let layout = foundations;
  const dice = stream("dice", seed);
  while (rolled && new Set(layout?.map(String)).size < rolled.count)
    layout = laid.map((card) => [RANKS.indexOf(card[0]) + 1, draw(rolled.sides, dice) + 1, rolled.length]);
  const stock = deck.filter((card) => !laid.includes(card));
  const isTurned = redeal === "turned_over";
  const reorder = (pass) => (isTurned ? stock : shuffle(stock, stream("redeal", seed, number(pass, 1))));
  const orders = [stock, ...[1, 2].slice(0, terms.redeals).map(reorder)];
  const seal = (pass) => (card, position) => {
    const salt = createHmac("sha256", seed).update(encode("salt", number(pass, 1), number(position, 2))).digest();
    return hash("envelope", roundId, number(pass, 1), number(position, 2), Buffer.from(card), salt);
  };
  return { layout, orders, envelopes: orders.slice(0, isTurned ? 1 : 3).map((order, pass) => order.map(seal(pass))) };
}

// The race of a seat: `cards.s` is its stock, the turned card at the end; `wanted` are the ranks that foundations lack.
class Racer {
  constructor({ layout, orders }, piles, rttUs) {
    Object.assign(this, { orders, pass: 0, seen: 1, direct: 0, times: distance.startTimes(rttUs) });
    this.cards = { s: orders[0].toReversed() };
    for (const pile of "abcdefgh".slice(0, piles)) this.cards[pile] = [];
    this.wanted = layout.map(([start, step, length]) =>
      Array.from({ length }, (_, count) => RANKS[(start + 12 + (step + 13) * count) % 13]).slice(1));
  }
  legalMoves() {
    const sources = Object.keys(this.cards).filter((source) => this.cards[source].length);
    const moves = sources.flatMap((source) => this.wanted.flatMap(([rank], place) =>
      rank === this.cards[source].at(-1)[0] ? [source + (place + 1)] : []));
    if (this.cards.s.length) return [...moves, ...Object.keys(this.cards).slice(1).map((pile) => `s${pile}`)];
    return sources.length && this.pass + 1 < this.orders.length ? [...moves, "redeal"] : moves;
  }
  play(move, atMs) {
    assert(this.legalMoves().includes(move), `the move ${move} is not legal`);
    const was = { ...this, ahead: this.cards.s.slice(0, -1) };
    const [source, target] = move;
    if (move === "redeal") {
      this.pass += 1;
      const waste = Object.values(this.cards).flatMap((cards) => cards.splice(0));
      this.cards.s = this.orders[this.pass].filter((card) => waste.includes(card)).reverse();
    } else {
      const card = this.cards[source].pop();
      if (target in this.cards) this.cards[target].push(card); else this.wanted[target - 1].shift();
      if (source === "s" && !(target in this.cards)) this.direct += 1;
    }
    if ((source === "s" || move === "redeal") && this.cards.s.length) this.seen += 1;
    if (!this.wanted.flat().length) this.ending = "won"; else if (!this.legalMoves().length) this.ending = "stuck";
    this.times = distance.timesAfter(this.times, was, this, move, atMs);
  }
}

// Return the scores of a round, and its ledger if it has one. A time of null, in the countdown, comes before 0.
function replay(terms, goal, { id, secret, entropies, envelopes, events, step, result }) {
  const seed = hex(hash("seed", ...[secret, ...entropies, id].map(hex)));
  const dealAt = (at) => makeDeal(terms, at >= 0 ? hex(hash("step", seed, number(at, 1))) : seed, hex(id));
  const isProved = ({ layout, orders }) => isProvedWinnable(layout, orders, Number(terms.piles));
  const isFound = (_, at) => at === 15 || isProved(dealAt(at)) === (at === step);
  assert(Array.from({ length: step + 1 || 0 }).every(isFound), "another step than the one that is to be dealt");
  const deal = dealAt(step);
  assert(JSON.stringify(envelopes) === JSON.stringify(deal.envelopes), "other envelopes than those of the deal");
  const racers = [0, 1].map((seat) => new Racer(deal, terms.piles, result.ledger?.[seat].rtt_us ?? 0));
  const isTooLate = (seat, atMs) => distance.isTooLate(
    racers[1 - seat].times, racers[seat].times, racers[seat].cards.s.length > 0, 1000 * terms.limit_seconds, atMs);
  for (const [place, { at_ms, move, ending = ENDINGS[move], seat, seats = [seat] }] of events.entries()) {
    const isInOrder = (events[place - 1]?.at_ms ?? -1) <= (at_ms ?? -1);
    const racing = [0, 1].filter((each) => !racers[each].ending);
    const isAllowed = ending === "out_of_time" ? seats.length === racing.length && at_ms !== null
      : seats.length === 1 && (ending !== "round_over" || isTooLate(seats[0], at_ms));
    assert(isInOrder && isAllowed && seats.every((each) => racing.includes(each)), "a move or a stop out of place");
    const stop = (racer, how) => Object.assign(racer, { ending: how, seen: at_ms === null ? 0 : racer.seen });
    if (ending) seats.forEach((each) => stop(racers[each], ending)); else racers[seat].play(move, at_ms);
    const isOver = racers.some((racer) => racer.ending === "resigned" || (racer.ending === "won" && !terms.credit));
    if (isOver) racers.filter((racer) => !racer.ending).forEach((racer) => stop(racer, "round_over"));
  }
  const scores = racers.map(({ wanted, direct, seen, ending }) =>
    ({ placed: goal - wanted.flat().length, goal, direct, cards_turned: seen, ending }));
  return { scores, ledger: terms.credit && distance.ledgerOf(racers.map(({ times }) => times)) };
}

// Return the scores of a round that ended before its deal.
function undealt(goal, { result, entropies, envelopes, events }) {
  const endings = result.scores.map((score) => score.ending);
  const unrevealed = entropies.map((entropy) => (entropy === null ? "not_revealed" : "round_over"));
  const isPossible = endings.join() === unrevealed.join() || endings.toSorted().join() === "resigned,round_over";
  assert(isPossible && !envelopes.length && !events.length, "what a round without a deal cannot have");
  return { scores: endings.map((ending) => ({ placed: 0, goal, direct: 0, cards_turned: 0, ending })) };
}

// Return the seat that wins, or null for a draw.
function winnerOf(terms, scores, ledger) {
  if (ledger && scores.every(({ ending }) => ending === "won")) return distance.firstByCorrection(ledger);
  const [first, second] = scores.map(({ ending, placed, direct }) =>
    (MERITS[ending] ?? 0) + 1000 * placed + (terms.direct_breaks_ties === "true" ? direct : 0));
  return first === second ? null : Number(first < second);
}

// Check that a round was signed for its place in the match, and everything that it says.
function checkRound(terms, round, key, place) {
  const { id, commitment, secret, entropies, entropy_hashes: hashes, envelopes, events, result, signature } = round;
  const isShown = (own, seat) => own === null || hash("entropy", hex(id), number(seat, 1), hex(own)) === hashes[seat];
  const statement = encode("round", hex(id), hex(commitment), ...place);
  assert(isSigned(null, statement, key, hex(signature)), "a round that was not signed for its place");
  assert(hash("secret", hex(id), hex(secret)) === commitment, "a secret of another commitment");
  assert(("step" in round) === ("certified" in terms && !entropies.includes(null)), "a step too many, or none");
  assert(entropies.every(isShown) && hashes.includes(null) === !result, "an entropy of another hash, or one too few");
  if (!result) return assert(String(entropies) === "," && !envelopes.length && !events.length, "a deal called off");
  const { goal } = DATA.variants[terms.rules];
  const { scores, ledger } = entropies.includes(null) ? undealt(goal, round) : replay(terms, goal, round);
  const found = { type: "result", winner: winnerOf(terms, scores, ledger), scores, ledger };
  assert(JSON.stringify(result) === JSON.stringify(found), "a wrong result");
}

// Check a whole record; return a sentence about it.
function verify(bytes) {
  const lines = bytes.toString().split("\n");
  assert(lines.pop() === "" && lines.length <= DATA.sizes.lines && bytes.length <= DATA.sizes.bytes, "cut or too long");
  let chain = Buffer.alloc(0);
  const [heading, ...others] = lines.map((line, place) => {
    const text = line.replace(/,"chain":"[0-9a-f]{64}"}$/, "}");
    assert(line.length <= DATA.sizes.line_bytes && LINE.test(text), `line ${place + 1} is not a line of a record`);
    const fields = JSON.parse(text);
    assert((fields.at_ms ?? fields.finished_at_ms ?? 0) <= DATA.sizes.time_ms, "a time after the year 9998");
    if (fields.type !== "seal") chain = hex(hash("line", chain, Buffer.from(text)));
    const chained = `${text.slice(0, -1)},"chain":"${chain.toString("hex")}"}`;
    assert(line === (fields.type === "seal" ? text : chained), `line ${place + 1}: its chain`);
    return fields;
  });
  assert(ORDER.test([heading, ...others].map((line) => line?.type).join(" ")), "lines in another order");
  const [seal, rounds] = [others.pop(), []];
  const key = createPublicKey({ format: "der", type: "spki", key: hex(`302a300506032b6570032100${heading.key}`) });
  assert(isSigned(null, encode("record", chain), key, hex(seal.signature)), "a record that its key did not sign");
  for (const line of others)
    if (line.type === "round") rounds.push({ ...line, events: [] });
    else if (line.type === "result") rounds.at(-1).result = line; else rounds.at(-1).events.push(line);
  assert(new RegExp(`^(${DATA.rooms.join("|")})$`).test(heading.terms), "terms that no room can have");
  const terms = Object.fromEntries(heading.terms.split(" ").map((pair) => pair.split("=")));
  const first = rounds.findIndex((round) => round.result);
  assert(0 <= first && first <= 1000 && rounds[first].id === heading.match, "no first round with the id of the match");
  assert(new Set(rounds.map(({ id }) => id)).size === rounds.length, "a round twice");
  const wins = { 0: 0, 1: 0, null: 0 };
  for (const [place, round] of rounds.entries()) {
    const isOver = Math.max(wins[0], wins[1]) > terms.best_of / 2 || wins[0] + wins[1] + wins.null >= terms.best_of;
    assert(!isOver && (round.result || place < first || place === rounds.length - 1), "a round too many");
    const [match, count] = place < first ? [round.id, 1] : [heading.match, place - first + 1];
    checkRound(terms, round, key, [hex(match), number(count, 2), Buffer.from(heading.terms)]);
    if (round.result) wins[round.result.winner] += 1;
  }
  return `${heading.names.join(" against ")}, ${terms.rules}, ${wins[0]} : ${wins[1]}, signed by ${heading.key}`;
}

for (const file of process.argv.slice(2)) {
  try {
    console.log(`${file}: right: ${verify(readFileSync(file))}`);
  } catch (fault) {
    if (!(fault instanceof AssertionError) && !fault.syscall) throw fault;
    console.log(`${file}: WRONG: ${fault.message}`);
    process.exitCode = 1;
  }
}
