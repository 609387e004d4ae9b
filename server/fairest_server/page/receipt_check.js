// A receipt, replayed by the rules of the room itself, and compared with a record: whether the record is that of the match
// that this page was shown. The same checks, in the same words, as `fairest verify --receipt` makes.
import { Cheated } from "./cheated.js";
import { makeDeal } from "./deal.js";
import { WrongRecord } from "./record.js";
import { afterEntry } from "./scene.js";
import { makeSeed } from "./seal.js";
import { Contradiction, Witness } from "./witness.js";

const ONGOING = ["heard", "known", "said", "dropped", "returned", "arrived", "ended"];

/** Raised for lines that are not those of a receipt; the message says which one is wrong. */
export class BadReceipt extends Error {}
const demand = (condition, sentence) => {
  if (!condition) throw new WrongRecord(sentence);
};

/**
 * Yield sentences on what a receipt confirms of a record, or with a record of null, how the rounds in it ended. Raises
 * `WrongRecord` at the first difference, and where the receipt shows that the server broke the seal. Raises `BadReceipt`.
 */
export function* checkReceipt(record, lines) {
  const comparison = record === null ? null : new Comparison(record);
  const [ended, open] = [new Map(), new Map()];
  let witness = null;
  for (const [place, text] of lines.entries()) {
    const where = `Line ${place + 1} of the receipt`;
    const line = parseLine(place + 1, text);
    const lastEnd = witness?.binding.lastEnd ?? null;
    try {
      if (line.kind === "receipt") {
        comparison?.run(line.key, where);
        witness = new Witness(line.key, {}, witness?.check.ownHashes);
        continue;
      }
      if (witness === null) throw new BadReceipt(`line ${place + 1} stands before the first line of a receipt`);
      take(witness, line, where, comparison);
    } catch (fault) {
      if (!(fault instanceof Cheated || fault instanceof Contradiction)) throw fault;
      throw new WrongRecord(`${where}: ${fault.message}`);
    }
    noteEnds(witness, lastEnd, line.at_ms, ended, open);
  }
  if (comparison) yield* comparison.conclude();
  yield* describeEnds(ended, open);
}

function parseLine(number, text) {
  try {
    const fields = JSON.parse(text);
    if (fields.type === "receipt") return { kind: "receipt", key: fields.key };
    const kind = ONGOING.find((each) => each in fields);
    if (kind !== undefined && Number.isFinite(fields.at_ms)) return { kind, at_ms: fields.at_ms, what: fields[kind] };
  } catch (fault) {
    if (!(fault instanceof SyntaxError || fault instanceof TypeError)) throw fault;
  }
  throw new BadReceipt(`line ${number} is not a line of a receipt`);
}

/** Let the witness take a line, and compare what it shows. */
function take(witness, { kind, at_ms, what }, where, comparison) {
  const { binding } = witness;
  if (kind === "heard" || kind === "known") {
    const { scene: before, position } = witness;
    witness.hear(what, at_ms);
    if (what.type === "snapshot") comparison?.snapshot(before, witness, where);
    else if (what.type === "view") comparison?.view(before, what.entries.slice(position - what.position + what.entries.length), where);
  } else if (kind === "said") {
    comparison?.said(what, witness.seat, where);
    if (what.type === "ready") witness.check.ownHashes[what.round] = what.entropy_hash;
    witness.said(what, at_ms);
  } else if (kind === "dropped") binding.drop(what.alive_ms);
  else if (kind === "returned") binding.pong(at_ms);
  else if (kind === "arrived") binding.arrived(what.round, at_ms);
  // A page that was closed may be opened again, so that end is judged when all lines are read.
  else if (what.way_out !== "quit") witness.wayOut(what.way_out, what.detail ?? "", at_ms);
}

/** Note how the rounds ended to which the page was bound, and of the one that is under way what an end now would be. */
function noteEnds({ binding, scene }, lastEnd, at_ms, ended, open) {
  if (binding.isBound) open.set(binding.round, binding.judgeQuit(at_ms));
  if (binding.lastEnd && binding.lastEnd !== lastEnd) {
    open.delete(binding.lastEnd.round);
    ended.set(binding.lastEnd.round, binding.lastEnd.explanation);
  }
  if (scene?.secret && open.delete(scene.round))
    ended.set(scene.round, "It ended while your client was not there; its commitment was opened.");
}

function* describeEnds(ended, open) {
  for (const [round, { alarm }] of open) demand(!alarm, `The round ${round}: ${alarm}`);
  const proved = [...ended.values()].filter((explanation) => !explanation).length;
  const bound = ended.size + open.size;
  yield `Receipt: you were bound to ${bound} round${bound === 1 ? "" : "s"}, and saw the end of ${proved} proved.`;
  const sentences = [...ended, ...[...open].map(([round, { explanation }]) => [round, explanation])];
  for (const [round, sentence] of sentences) if (sentence) yield `Receipt: round ${round}: ${sentence}`;
}

/** A receipt that is being compared with a record. */
class Comparison {
  #record;
  #rounds;
  #deals = new Map();
  #scene = null;
  #shown = [];
  #committed = new Set();
  /** For each round the number of rounds that were shown before the first one of its match. */
  #starts = new Map();
  #start = 0;
  #counts = { cards: 0, moves: 0, results: 0 };

  constructor(record) {
    this.#record = record;
    this.#rounds = new Map(record.rounds.map((round) => [round.id, round]));
  }

  run(key, where) {
    const isSame = key === this.#record.heading.key;
    demand(isSame, `${where}: the server had the key ${String(key).slice(0, 64)}, not that of the record.`);
  }

  said({ type, round, entropy, entropy_hash: hash }, seat, where) {
    const played = this.#rounds.get(round);
    if (type === "ready") {
      const isShown = this.#shown.includes(round);
      demand(isShown, `${where}: we committed ourselves to a round before its commitment was shown.`);
    }
    const compared = { ready: ["entropy hash", hash, played?.entropy_hashes], reveal: ["entropy", entropy, played?.entropies] }[type];
    if (!compared || !played || seat === null) return;
    const [what, sent, recorded] = compared;
    const isOurs = recorded[seat] === null || recorded[seat] === sent;
    demand(isOurs, `${where}: the record has another ${what} for us than the one that we sent.`);
  }

  snapshot(before, { scene }, where) {
    // The end of a match may have been missed: only the rounds from here on surely belong to one match.
    if (before?.round !== scene.round) this.#start = this.#shown.length;
    this.#scene = scene;
    this.#seal(where);
  }

  view(before, entries, where) {
    this.#scene = before;
    for (const entry of entries) {
      this.#scene = afterEntry(this.#scene, entry);
      this.#seal(where);
      this.#entry(entry, where);
    }
  }

  /** Note the round that is shown, and compare what was committed to with the record. */
  #seal(where) {
    const { round, commitment, seats, envelopes } = this.#scene;
    if (round === null) return;
    if (!this.#shown.includes(round)) this.#shown.push(round);
    if (!this.#starts.has(round)) this.#starts.set(round, this.#start);
    if (seats.every((each) => each.entropy_hash)) this.#committed.add(round);
    const played = this.#rounds.get(round);
    if (!played) return;
    const pairs = [
      ["commitment", commitment, played.commitment],
      ...seats.map((each, seat) => [`entropy hash of seat ${seat + 1}`, each.entropy_hash, played.entropy_hashes[seat]]),
      ...seats.map((each, seat) => [`entropy of seat ${seat + 1}`, each.entropy, played.entropies[seat]]),
      ["set of envelopes", envelopes.length ? JSON.stringify(envelopes) : null, JSON.stringify(played.envelopes)],
    ];
    for (const [what, shown, recorded] of pairs) {
      const isSame = shown === null || shown === recorded;
      demand(isSame, `${where}: the record has another ${what} than the one that was shown.`);
    }
  }

  #entry({ type, match_is_over: isOver, turn, card, seat, number, move, outcome }, where) {
    if (type === "round_finished" && isOver) this.#start = this.#shown.length;
    const played = this.#rounds.get(this.#scene.round);
    if (!played) return;
    if (type === "turned") {
      const isDealt = this.#deal(played).orders[turn[0]][turn[1]] === card;
      demand(isDealt, `${where}: the deal of the record has another card than ${card} there.`);
      this.#counts.cards += 1;
    } else if (type === "moved") {
      const made = played.events.filter((each) => each.type === "move" && each.seat === seat)[number - 1]?.move;
      const name = this.#record.heading.names[seat];
      demand(made === move, `${where}: move ${number} of ${name} was ${move}; the record has another one.`);
      this.#counts.moves += 1;
    } else if (type === "round_finished") {
      const { winner, scores, ledger = null } = played.result ?? {};
      const shown = [outcome.winner, outcome.scores, outcome.ledger ?? null];
      const isSame = JSON.stringify(shown) === JSON.stringify([winner, scores, ledger]);
      demand(isSame, `${where}: the result that was shown is not the one in the record.`);
      this.#counts.results += 1;
    }
  }

  #deal({ id, secret, entropies, step }) {
    const { rules, redeals } = this.#record.terms;
    if (!this.#deals.has(id)) this.#deals.set(id, makeDeal(rules, Number(redeals), makeSeed(secret, entropies, id, step)));
    return this.#deals.get(id);
  }

  /** Yield what the whole receipt confirms. */
  *conclude() {
    const ours = this.#shown.filter((round) => this.#rounds.has(round));
    demand(ours.length, "The receipt has none of the rounds in this record: it is of another match.");
    for (const round of this.#shown.slice(this.#starts.get(ours[0]), this.#shown.indexOf(ours.at(-1)))) {
      const isThere = this.#rounds.has(round) || !this.#committed.has(round);
      demand(isThere, `The round ${round} belongs to this match and is missing in the record.`);
    }
    const { cards, moves, results } = this.#counts;
    yield `Receipt: ${ours.length} of ${this.#rounds.size} rounds were shown to you, each before you committed to it.`;
    yield `Receipt: ${cards} cards and ${moves} moves that you were shown are in the record.`;
    const shown = results === 1 ? "result of 1 round" : `results of ${results} rounds`;
    yield `Receipt: you were shown the ${shown}, and the record has the same.`;
  }
}
