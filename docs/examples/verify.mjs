// A verifier of records in plain JavaScript, written from docs/protocol.md: node verify.mjs FILE...
// It prints a line for each file, and exits with 0 if each is the record of a match that can have happened, or with 1.
// The key that it prints is the word of the record: compare it with that of the server, which GET /key answers.
import { createPublicKey, verify as isSigned } from "node:crypto";
import { readFileSync } from "node:fs";
import { RANKS, VARIANTS, byte, encode, hash, hex, makeDeal, two } from "./deal.mjs";

class WrongRecord extends Error {}
const wrong = (sentence) => { throw new WrongRecord(sentence); };
const demand = (condition, sentence) => condition || wrong(sentence);
const attempt = (action, sentence) => { try { return action(); } catch { return wrong(sentence); } };

const LIMITS = { limit: [10, 7200], chase: [5, 7200], grace: [1, 3600], ready: [5, 3600], reveal: [1, 60],
  idle: [5, 3600], countdown: [0, 10] };

// A pattern for the JSON of each line, its fields in the order of `ORDER`. What is computed again needs no narrow one.
const seconds = Object.keys(LIMITS).map((name) => `${name}_seconds=(?<${name}>0|[1-9][0-9]{0,3}) `).join("");
const TERMS = `rules=(?<rules>[a-z-]+) piles=(?<piles>[1-8]) redeals=(?<redeals>[0-2]) best_of=(?<best>[13579]) ` +
  seconds + "spectators=(horizon|open|closed) direct_breaks_ties=(?<ties>true|false) listed=(true|false)";
const [ID, HASH, SIGNATURE] = [16, 32, 64].map((count) => `"[0-9a-f]{${2 * count}}"`);
const [NAME, ENTROPY] = ['"[A-Za-z0-9_-]{2,20}"', `(${HASH}|null)`];
const COUNTS = ["placed", "goal", "direct", "cards_turned"].map((name) => `"${name}":[0-9]+,`).join("");
const SCORE = `\\{${COUNTS}"ending":"[a-z_]+"\\}`;
const LINE = new RegExp(`^\\{"type":(${[
  `"match","format":3,"match":${ID},"room":"[a-z]+(-[a-z]+){1,5}","names":\\[${NAME},${NAME}\\]` +
    `,"terms":"(?<text>${TERMS})","finished_at_ms":[0-9]+,"key":${HASH}`,
  `"round","id":${ID},"commitment":${HASH},"signature":${SIGNATURE},"secret":${HASH}` +
    `,"entropy_hashes":\\[${ENTROPY},${ENTROPY}\\],"entropies":\\[${ENTROPY},${ENTROPY}\\],"envelopes":\\[[^:]*\\]`,
  '"move","at_ms":[0-9]+,"seat":[01],"move":"([sa-h][1-8a-h]|redeal|stop|resign)"',
  '"stop","at_ms":([0-9]+|null),"seats":\\[[01](,[01])?\\],"ending":"(out_of_time|away|resigned)"',
  `"result","winner":(0|1|null),"scores":\\[${SCORE},${SCORE}\\]`,
  `"seal","signature":${SIGNATURE}`].join("|")})\\}$`);
const ORDER = ("type format match room names terms finished_at_ms id commitment signature secret entropy_hashes " +
  "entropies envelopes at_ms seat seats move winner scores placed goal direct cards_turned ending key").split(" ");
const STRING = /"(?:[^"\\]|\\.)*"(?:\s*:)?/g; // a string, with its colon if it is the name of a field
const countNames = (text) => text.match(STRING).filter((each) => each.endsWith(":")).length;

// Parse a line without its chain: each field stands there once, and there is no other.
function parse(text) {
  const line = attempt(() => JSON.parse(text), "a line that is not JSON");
  const ordered = JSON.stringify(line, ORDER);
  demand(LINE.test(ordered) && countNames(text) === countNames(ordered), `a wrong line: ${text.slice(0, 80)}`);
  demand(!/[0-9][.eE]/.test(text.replace(STRING, "")), "a number that is not an integer");
  demand((line.at_ms ?? line.finished_at_ms ?? 0) <= 253370764800000, "a time after the year 9998");
  return line;
}

// The race of a seat: `cards.s` is its stock, the turned card at the end, `cards.a` a pile; `counts` are foundations.
class Racer {
  constructor({ layout, orders }, piles) {
    Object.assign(this, { layout, orders, pass: 0, played: 0, direct: 0, counts: layout.map(() => 1) });
    this.cards = { s: orders[0].toReversed() };
    for (const pile of "abcdefgh".slice(0, piles)) this.cards[pile] = [];
  }
  legalMoves() {
    const needs = (place, { start, step, length } = this.layout[place], count = this.counts[place]) =>
      count < length && RANKS[(start + 12 + (step + 13) * count) % 13];
    const sources = Object.keys(this.cards).filter((source) => this.cards[source].length);
    const moves = sources.flatMap((source) => Object.keys(this.layout)
      .filter((place) => needs(place) === this.cards[source].at(-1)[0]).map((place) => source + (Number(place) + 1)));
    if (this.cards.s.length) moves.push(...Object.keys(this.cards).slice(1).map((pile) => `s${pile}`));
    else if (sources.length && this.pass + 1 < this.orders.length) moves.push("redeal");
    return moves;
  }
  play(move, [source, target] = move) {
    if (move === "stop" || move === "resign") return (this.ending = move === "stop" ? "stopped" : "resigned");
    demand(this.legalMoves().includes(move), `the move ${move} is not legal`);
    if (move === "redeal") {
      const waste = Object.values(this.cards).flatMap((cards) => cards.splice(0));
      this.cards.s = this.orders[++this.pass].filter((card) => waste.includes(card)).reverse();
    } else {
      const [card, isPile] = [this.cards[source].pop(), target in this.cards];
      isPile ? this.cards[target].push(card) : (this.counts[target - 1] += 1);
      if (source === "s") [this.played, this.direct] = [this.played + 1, this.direct + (isPile ? 0 : 1)];
    }
    const isWon = this.counts.every((count, place) => count === this.layout[place].length);
    if (isWon || !this.legalMoves().length) this.ending = isWon ? "won" : "stuck";
  }
  score() {
    const cards_turned = this.isUnstarted ? 0 : this.played + Math.min(this.cards.s.length, 1);
    return { placed: this.counts.reduce((a, b) => a + b), direct: this.direct, cards_turned, ending: this.ending };
  }
}

// Return the scores to which the moves and stops of a round lead. A time of null, in the countdown, comes before 0.
function replay(terms, { id, secret, entropies, envelopes, events }) {
  const deal = makeDeal(terms, hex(hash("seed", ...[secret, ...entropies, id].map(hex))), hex(id));
  demand(JSON.stringify(envelopes) === JSON.stringify(deal.envelopes), "other envelopes than those of the deal");
  const racers = [new Racer(deal, terms.piles), new Racer(deal, terms.piles)];
  let before = -1;
  for (const { at_ms, seat, move, seats = [seat], ending } of events) {
    const racing = [0, 1].filter((each) => !racers[each].ending);
    const isAllowed = ending === "out_of_time" ? seats.join() === racing.join() && at_ms !== null
      : seats.length === 1 && racing.includes(seats[0]);
    demand(isAllowed && before <= (at_ms ?? -1), "a move or a stop that cannot stand there");
    before = at_ms ?? -1;
    for (const each of seats) move ? racers[each].play(move) : (racers[each].ending = ending);
    const isOver = racers.some((racer) => ["won", "resigned"].includes(racer.ending));
    for (const racer of racers) if (isOver) racer.ending ??= "round_over";
    for (const racer of racers) racer.isUnstarted ||= at_ms === null && Boolean(racer.ending);
  }
  demand(racers.every((racer) => racer.ending), "a race that has not ended");
  return racers.map((racer) => racer.score());
}

// Return the scores of a round that ended before its deal.
function undealt({ result, entropies, envelopes, events }) {
  const endings = result.scores.map((score) => score.ending);
  const unrevealed = entropies.map((entropy) => (entropy === null ? "not_revealed" : "round_over"));
  const isPossible = endings.join() === unrevealed.join() || endings.toSorted().join() === "resigned,round_over";
  demand(isPossible && !envelopes.length && !events.length, "what a round without a deal cannot have");
  return endings.map((ending) => ({ placed: 0, direct: 0, cards_turned: 0, ending }));
}

// Check that a result follows from the scores of a round: the first merit in which they differ wins.
function checkResult(terms, { winner, scores }, found) {
  const goal = VARIANTS[terms.rules].starts.length * VARIANTS[terms.rules].length;
  const isRight = (score, seat) =>
    Object.entries({ ...score, goal }).every(([name, value]) => scores[seat][name] === value);
  const merits = found.map(({ ending, placed, direct }) =>
    [ending === "won", !["resigned", "not_revealed"].includes(ending), placed, terms.ties === "true" && direct]);
  const place = merits[0].findIndex((merit, each) => merit !== merits[1][each]);
  const wanted = place < 0 ? null : Number(merits[0][place] < merits[1][place]);
  demand(found.every(isRight) && winner === wanted, "a result that does not follow from the round");
}

// Check that a round was signed for its place in the match, and everything that it says.
function checkRound(terms, round, key, place) {
  const { id, commitment, secret, entropies, entropy_hashes: hashes, envelopes, events, result, signature } = round;
  const isShown = (entropy, seat) =>
    entropy === null || hash("entropy", hex(id), byte(seat), hex(entropy)) === hashes[seat];
  const statement = encode("round", hex(id), hex(commitment), ...place, Buffer.from(terms.text));
  demand(isSigned(null, statement, key, hex(signature)), "a round that was not signed for its place");
  demand(hash("secret", hex(id), hex(secret)) === commitment, "a secret of another commitment");
  demand(entropies.every(isShown) && hashes.includes(null) === !result, "an entropy of another hash, or one too few");
  if (result) return checkResult(terms, result, entropies.includes(null) ? undealt(round) : replay(terms, round));
  demand(entropies.join() === "," && !envelopes.length && !events.length, "a deal that was called off");
}

// Check which rounds there are; return how many each seat has won, and the draws.
function checkRounds(terms, match, key, rounds) {
  const [first, wins] = [rounds.findIndex((round) => round.result), [0, 0, 0]];
  demand(0 <= first && first <= 1000 && rounds[first].id === match, "no round with a result and the id of the match");
  demand(new Set(rounds.map(({ id }) => id)).size === rounds.length, "a round twice");
  for (const [place, round] of rounds.entries()) {
    const isOver = Math.max(wins[0], wins[1]) > terms.best / 2 || wins[0] + wins[1] + wins[2] >= terms.best;
    demand(!isOver && (round.result || place < first || place === rounds.length - 1), "a round too many");
    checkRound(terms, round, key, place < first ? [hex(round.id), two(1)] : [hex(match), two(place - first + 1)]);
    if (round.result) wins[round.result.winner ?? 2] += 1;
  }
  return wins;
}

// Check a whole record; return a sentence about it. Throw WrongRecord if it is none.
function verify(content) {
  const text = attempt(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content), "not UTF-8");
  const lines = text.split("\n");
  demand(lines.pop() === "" && lines.length <= 10000 && content.length <= 4 * 2 ** 20, "too large, or without an end");
  let chain = Buffer.alloc(0);
  const [heading, ...others] = lines.map((line, place) => {
    demand(line.length <= 32768, "a line that is too long");
    if (place === lines.length - 1) return parse(line);
    const start = line.slice(0, -76);
    chain = hex(hash("line", chain, Buffer.from(`${start}}`)));
    demand(line === `${start},"chain":"${chain.toString("hex")}"}`, `line ${place + 1} breaks the chain`);
    return parse(`${start}}`);
  });
  const [seal, rounds] = [others.pop(), []];
  demand(heading?.type === "match" && seal?.type === "seal", "no heading, or no seal");
  const jwk = { kty: "OKP", crv: "Ed25519", x: hex(heading.key).toString("base64url") };
  const key = attempt(() => createPublicKey({ format: "jwk", key: jwk }), "a wrong key");
  demand(isSigned(null, encode("record", chain), key, hex(seal.signature)), "a record that its key did not sign");
  for (const line of others) {
    if (line.type === "round") rounds.push({ ...line, events: [] });
    else demand(rounds.length && !rounds.at(-1).result && /move|stop|result/.test(line.type), "a line out of place");
    if (line.type === "result") rounds.at(-1).result = line;
    else if (line.type !== "round") rounds.at(-1).events.push(line);
  }
  const terms = LINE.exec(JSON.stringify(heading, ORDER)).groups;
  const ranges = Object.hasOwn(VARIANTS, terms.rules) && { ...LIMITS, ...VARIANTS[terms.rules] };
  const isWithin = (name) => ranges[name][0] <= Number(terms[name]) && Number(terms[name]) <= ranges[name][1];
  demand(ranges && [...Object.keys(LIMITS), "piles", "redeals"].every(isWithin), "terms that no room can have");
  const wins = checkRounds(terms, heading.match, key, rounds);
  return `${heading.names.join(" against ")}, ${terms.rules}, ${wins[0]} : ${wins[1]}, signed by ${heading.key}`;
}

for (const file of process.argv.slice(2)) {
  try {
    console.log(`${file}: right: ${verify(readFileSync(file))}`);
  } catch (fault) {
    if (!(fault instanceof WrongRecord) && !fault.syscall) throw fault;
    console.log(`${file}: WRONG: ${fault.message}`);
    process.exitCode = 1;
  }
}
