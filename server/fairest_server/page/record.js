// The check of a record: the same checks, in the same order and words, as `fairest verify` makes on a terminal.
import { fromHex, joined, numberBytes, toBytes, toHex } from "./bytes.js";
import { describeStep, findStep, stepProblem } from "./certified.js";
import { makeDeal, sealDeal } from "./deal.js";
import { isSigned } from "./ed25519.js";
import { WrongRace, creditOf, ledgerOf, scoresOf, stepsOf, winnerOf } from "./race.js";
import DATA from "./record_data.js";
import { checkWords, commitEntropy, commitSecret, encode, hash, isRoundSigned, makeSeed } from "./seal.js";

const LINE = new RegExp(`^(${Object.values(DATA.lines).join("|")})$`);
const CHAINED = /^(.*),"chain":"([0-9a-f]{64})"}$/;
const MAX_CALLED_OFF = 1000;

/** Raised if a check fails; the message says where, and why. */
export class WrongRecord extends Error {}
const demand = (condition, sentence) => {
  if (!condition) throw new WrongRecord(sentence);
};

/**
 * Return the record in a text: `heading`, `terms` as strings by their names, `rounds` with their `events` and `result`,
 * `seal`, the number of `lines`, and `chain`, the hash that was signed. Raises `WrongRecord`.
 */
export function parseRecord(text) {
  const lines = text.split("\n");
  const isSized = lines.pop() === "" && lines.length <= DATA.sizes.lines && toBytes(text).length <= DATA.sizes.bytes;
  demand(isSized, "This is not a record: it has no end, or is larger than a record can be.");
  let chain = new Uint8Array(0);
  const parsed = lines.map((line, place) => {
    const [, start, written] = CHAINED.exec(line) ?? [];
    const plain = start === undefined ? line : `${start}}`;
    const isLine = line.length <= DATA.sizes.line_bytes && LINE.test(plain);
    demand(isLine, `Line ${place + 1} is not a line of a record.`);
    if (place < lines.length - 1) chain = fromHex(hash("line", chain, toBytes(plain)));
    const expected = place < lines.length - 1 ? toHex(chain) : undefined;
    demand(written === expected, `The chain breaks at line ${place + 1}: a line was changed, left out or moved.`);
    const fields = JSON.parse(plain);
    const isTimed = (fields.at_ms ?? fields.finished_at_ms ?? 0) <= DATA.sizes.time_ms;
    demand(isTimed, `Line ${place + 1} has a time after the year 9998.`);
    return fields;
  });
  const [heading, seal] = [parsed.shift(), parsed.pop()];
  demand(heading?.type === "match" && seal?.type === "seal", "A record begins with a match and ends with a seal.");
  return { heading, seal, chain, lines: lines.length, terms: readTerms(heading.terms), rounds: readRounds(parsed) };
}

function readRounds(lines) {
  const rounds = [];
  for (const line of lines) {
    const last = rounds.at(-1);
    if (line.type === "round") rounds.push({ ...line, events: [], result: null });
    else {
      const isInPlace = last && !last.result && ["move", "stop", "result"].includes(line.type);
      demand(isInPlace, `A line of type ${line.type} stands where it cannot.`);
      if (line.type === "result") last.result = line;
      else last.events.push(line);
    }
  }
  return rounds;
}

function readTerms(text) {
  const pairs = text.split(" ").map((pair) => pair.split("="));
  const terms = Object.fromEntries(pairs);
  demand(Object.hasOwn(DATA.variants, terms.rules), "The terms name a variant that is not known here.");
  const chosen = ["certified", "credit"].filter((name) => name in terms);
  const procedures = Object.fromEntries(chosen.map((name) => [name, [String(DATA[name].procedure)]]));
  const allowed = Object.entries({ ...DATA.terms, ...DATA.variants[terms.rules].terms, ...procedures });
  const isRich = Number(terms.piles) + Number(terms.redeals) >= DATA.certified.piles_and_redeals;
  const isPossible = ([name, values], place) => {
    const value = terms[name];
    const fits = Array.isArray(values)
      ? values.includes(value)
      : value === String(Number(value)) && values.from <= value && value <= values.to;
    return String(pairs[place]) === `${name},${value}` && fits;
  };
  const isRoom = pairs.length === allowed.length && allowed.every(isPossible) && (isRich || !("certified" in terms));
  demand(isRoom, "The terms are such as no room can have.");
  return terms;
}

/** Yield a sentence for each check of a record that holds. Raises `WrongRecord` at the first one that does not. */
export function* checkRecord(record, key = null) {
  const { heading, seal, chain, rounds, terms } = record;
  yield `${record.lines} lines, each chained to the one before: none was changed, left out or moved.`;
  const isSealed = isSigned(encode("record", chain), fromHex(seal.signature), fromHex(heading.key));
  demand(isSealed, "The record is not signed with the key that it names.");
  demand(key === null || key === heading.key, `The record is signed with the key ${heading.key}, and not with ${key}.`);
  yield `Signed with the key ${heading.key}${key === null ? "" : ", as it should be"}.`;
  const first = rounds.findIndex(({ result }) => result);
  demand(first >= 0, "No round of the match has a result.");
  demand(first <= MAX_CALLED_OFF, `More than ${MAX_CALLED_OFF} rounds were called off before the match.`);
  demand(rounds[first].id === heading.match, "The id of a match is that of its first round with a result.");
  checkOrder(rounds, first, terms);
  for (const [place, round] of rounds.entries()) yield* checkRound(record, round, place, first);
  const winners = winnersOf(rounds);
  if (!isMatchOver(winners, terms.best_of))
    yield `The match was broken off: a player left after ${winners.length} of up to ${terms.best_of} rounds.`;
}

const winnersOf = (rounds) => rounds.filter(({ result }) => result).map(({ result }) => result.winner);

function isMatchOver(winners, bestOf) {
  const won = (seat) => winners.filter((winner) => winner === seat).length;
  return winners.length >= bestOf || Math.max(won(0), won(1)) > bestOf / 2;
}

function checkOrder(rounds, first, terms) {
  demand(new Set(rounds.map(({ id }) => id)).size === rounds.length, "A round stands in the record twice.");
  for (const [place, { result }] of rounds.entries()) {
    const isOver = isMatchOver(winnersOf(rounds.slice(0, place)), terms.best_of);
    demand(!isOver, `Round ${place + 1} follows a match that was over.`);
    const isLast = place === rounds.length - 1;
    demand(result || place < first || isLast, `Round ${place + 1} was called off, and another one follows.`);
  }
}

function* checkRound(record, round, place, first) {
  const { heading, terms } = record;
  const [where, names] = [`Round ${place + 1}`, heading.names];
  const { id, commitment, secret, entropies, entropy_hashes: hashes, envelopes, events, result, step } = round;
  const [match, number] = place < first ? [id, 1] : [heading.match, place - first + 1];
  const isOpened = isRoundSigned({ ...round, round: id }, match, number, heading.terms, heading.key);
  demand(isOpened, `${where}: the server has not signed this commitment, for this match and these rules.`);
  demand(commitSecret(id, secret) === commitment, `${where}: the secret does not belong to the commitment.`);
  yield `${where}: the server committed itself to its secret before anybody was ready, and has shown it.`;
  for (const [seat, entropy] of entropies.entries()) {
    const isShown = entropy === null || commitEntropy(id, seat, entropy) === hashes[seat];
    demand(isShown, `${where}: the entropy of ${names[seat]} does not belong to its hash.`);
  }
  const isDealt = !entropies.includes(null);
  const hasStep = (step !== undefined) === (isDealt && "certified" in terms);
  demand(hasStep, `${where}: a round has a step if it was dealt in a certified room, and only then.`);
  if (isDealt) {
    yield `${where}: both players committed themselves to their entropy before they saw the other's.`;
    const seed = makeSeed(secret, entropies, id, step);
    const deal = makeDeal(terms.rules, Number(terms.redeals), seed);
    const sealed = sealDeal(deal, seed, id);
    demand(JSON.stringify(sealed) === JSON.stringify(envelopes), `${where}: the envelopes do not hold the deal.`);
    const count = sealed.flat().length;
    if (step !== undefined) yield `${where}: certified deal: ${checkStep(round, terms, where)}.`;
    yield `${where}: secret and entropies make the deal; ${count} of ${count} envelopes hold its cards.`;
    const words = checkWords(id, commitment, entropies, envelopes, heading.terms);
    yield `${where}: the check words were ${words.join(" ")}.`;
    yield `${where}: to see the deck: fairest deal ${seed} --rules ${terms.rules} --redeals ${terms.redeals}`;
    checkRace(record, round, where, deal);
  } else checkUndealt(round, terms, where);
  if (!result) {
    yield `${where}: called off before both players were ready.`;
    return;
  }
  const winner = result.winner === null ? "a draw" : `${names[result.winner]} wins`;
  if (!isDealt) {
    yield `${where}: ended before its cards were dealt, by a player who left or did not reveal: ${winner}.`;
    return;
  }
  // The winner's number comes first; in a draw, the higher one.
  const places = result.scores.map(({ placed }, seat) => ({ placed, isBehind: seat !== result.winner }));
  places.sort((one, other) => one.isBehind - other.isBehind || other.placed - one.placed);
  const counts = places.map(({ placed }) => placed).join(" to ");
  yield `${where}: ${events.length} moves and stops, within the rules, lead to the result: ${winner}, ${counts}.`;
}

/** Return a clause about the step of a certified round, which is found again here. */
function checkStep({ id, secret, entropies, step: dealt }, { rules, piles, redeals }, where) {
  const seedOf = (step) => makeSeed(secret, entropies, id, step);
  const found = findStep(rules, Number(piles), Number(redeals), seedOf);
  const problem = stepProblem(found, dealt);
  demand(!problem, `${where}: ${problem}`);
  return describeStep(found);
}

function checkRace({ terms }, { events, result }, where, deal) {
  const times = events.map(({ at_ms }) => at_ms ?? -1);
  demand(times.every((time, at) => !at || times[at - 1] <= time), `${where}: time goes back.`);
  try {
    const { race } = stepsOf(deal, Number(terms.piles), Number(terms.redeals), events, creditOf(terms, result)).at(-1);
    const [scores, ledger] = [scoresOf(race), ledgerOf(race)];
    const winner = winnerOf(scores, terms.direct_breaks_ties === "true", ledger);
    const found = { type: "result", winner, scores, ...(ledger && { ledger }) };
    const isRight = JSON.stringify(found) === JSON.stringify(result);
    demand(isRight, `${where}: its moves do not lead to the result that it states.`);
  } catch (fault) {
    if (fault instanceof WrongRace) throw new WrongRecord(`${where}: ${fault.message}.`);
    throw fault;
  }
}

function checkUndealt({ entropies, entropy_hashes: hashes, envelopes, events, result }, terms, where) {
  demand(!envelopes.length && !events.length, `${where}: there are cards or moves, but no deal.`);
  if (!result) {
    const isOpen = entropies.every((entropy) => entropy === null) && hashes.includes(null);
    demand(isOpen, `${where}: a round is not called off any more once both players are ready.`);
    return;
  }
  demand(!hashes.includes(null), `${where}: it has a result, and not both players were ready.`);
  const endings = result.scores.map(({ ending }) => ending);
  const silent = entropies.map((entropy) => (entropy === null ? "not_revealed" : "round_over"));
  const isPossible = endings.join() === silent.join() || endings.toSorted().join() === "resigned,round_over";
  const { goal } = DATA.variants[terms.rules];
  const scores = endings.map((ending) => ({ placed: 0, goal, direct: 0, cards_turned: 0, ending }));
  const expected = JSON.stringify({ type: "result", winner: winnerOf(scores, false), scores });
  const isRight = isPossible && JSON.stringify(result) === expected;
  demand(isRight, `${where}: it has a result that a round without a deal cannot have.`);
}

/**
 * Return the races of a record whose cards were dealt, as replay and analysis take them (`soloRace`), each with the `number`
 * of its round and its `result`. Throws `WrongRace` for moves that cannot be.
 */
export function racesOf({ heading: { names }, terms, rounds }) {
  const { rules } = terms;
  const [piles, redeals] = [Number(terms.piles), Number(terms.redeals)];
  return rounds.filter(({ result }) => result).flatMap(({ id, secret, entropies, step, events, result }, at) => {
    if (entropies.includes(null)) return [];
    const deal = makeDeal(rules, redeals, makeSeed(secret, entropies, id, step));
    const steps = stepsOf(deal, piles, redeals, events, creditOf(terms, result));
    return [{ names, rules, round: id, steps, first: 1, number: at + 1, result }];
  });
}
