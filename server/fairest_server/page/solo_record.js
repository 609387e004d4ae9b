// The record of a race that a player has raced alone: an attempt at a daily deal, or a race of a tournament. The same
// checks, in the same words, as `fairest verify` makes.
import { goalOf, placedOn } from "./board.js";
import { fromHex, toBytes } from "./bytes.js";
import { Cheated } from "./cheated.js";
import { LIMIT_MS, dailyRound } from "./daily_game.js";
import { describeDrand, drandFault } from "./drand_beacon.js";
import { isSigned } from "./ed25519.js";
import { WrongRace, after, startRace, stepsOf } from "./race.js";
import { WrongRecord } from "./record.js";
import DATA from "./record_data.js";
import { commitSecret, encode, makeSeed } from "./seal.js";
import { NO_BYTES, isSameScore, usualDeal } from "./solo_game.js";
import { mixEntropies, roundOf } from "./tournament_rounds.js";

const NUMBER = "(0|[1-9][0-9]{0,14})";
const NAME = "[A-Za-z0-9_-]{2,20}";
const list = (part) => `\\[(${part}(,${part})*)?\\]`;
const ENTROPY = `\\["${NAME}","[0-9a-f]{64}"\\]`;
const MOVE = `\\[${NUMBER},"(s[1-8a-h]|[a-h][1-8]|redeal|stop)"\\]`;
const SCORE = `"won":(true|false),"placed":${NUMBER},"direct":${NUMBER},"time_ms":${NUMBER}`;
const SEAL = /^{"type":"seal","signature":"[0-9a-f]{128}"}$/;
const MOST_ENTRANTS = 128;
const MOST_LIMIT_SECONDS = 7200;

const demand = (condition, sentence) => {
  if (!condition) throw new WrongRecord(sentence);
};

/** Of each kind of record: how its first line is written, and what follows from its fields. */
const KINDS = {
  attempt: {
    line: `{"type":"attempt","format":1,"attempt":"[0-9a-f]{32}","day":"[0-9]{4}-[0-9]{2}-[0-9]{2}","rules":"[A-Za-z0-9-]{1,40}",`
      + `"name":"${NAME}","secret":"[0-9a-f]{64}","beacon_number":${NUMBER},"beacon":"[0-9a-f]{64}",`
      + `("drand":"[0-9a-f]{96}",)?"moves":${list(MOVE)},`
      + `${SCORE},"key":"[0-9a-f]{64}"}`,
    label: "attempt",
    isPossible: ({ day }) => isDay(day),
    roundOf: ({ day, rules }) => dailyRound(day, rules),
    entropyOf: ({ beacon }) => beacon,
    limitOf: () => LIMIT_MS,
    titleOf: ({ name, day, rules }) => `Attempt of ${name} at the daily deal of ${day}, ${rules}.`,
    *checking({ day, drand, ...record }) {
      if (drand === undefined) return;
      const fault = drandFault(day, { drand, ...record });
      demand(!fault, fault);
      yield describeDrand(record.beacon_number);
    },
    sourceOf: ({ beacon, beacon_number: number, drand }) => `the beacon${drand === undefined ? `, entry ${number}` : ""}: ${beacon}`,
  },
  tournament_race: {
    line: `{"type":"tournament_race","format":1,"tournament":"[0-9a-f]{32}","code":"[a-z]+(-[a-z]+){1,5}","round":[1-9][0-9]{0,4},`
      + `"rules":"[A-Za-z0-9-]{1,40}","limit_seconds":[1-9][0-9]{0,3},"name":"${NAME}","secret":"[0-9a-f]{64}",`
      + `"entropies":${list(ENTROPY)},"moves":${list(MOVE)},${SCORE},"key":"[0-9a-f]{64}"}`,
    label: "tournament race",
    isPossible({ round, limit_seconds: limit, name, entropies }) {
      const names = entropies.map(([each]) => each);
      const isInOrder = names.every((each, at) => !at || names[at - 1] < each);
      return round < 65536 && limit <= MOST_LIMIT_SECONDS && isInOrder && names.includes(name) && names.length <= MOST_ENTRANTS;
    },
    roundOf: ({ tournament, round }) => roundOf(tournament, round),
    entropyOf: ({ entropies }, round) => mixEntropies(round, entropies),
    limitOf: ({ limit_seconds: limit }) => 1000 * limit,
    titleOf: ({ name, round, code }) => `Race of ${name} in round ${round} of the tournament ${code}.`,
    checking: () => [],
    sourceOf: ({ entropies }) => `the entropies of ${entropies.length} players`,
  },
};

function isDay(day) {
  const began = new Date(`${day}T00:00:00Z`);
  return !day.startsWith("0000") && !Number.isNaN(began.getTime()) && began.toISOString().startsWith(day);
}

/** Return the kind of record that a text means to be, or null for none of these. */
export const soloKind = (text) => Object.keys(KINDS).find((kind) => text.startsWith(`{"type":"${kind}",`)) ?? null;

/**
 * Return the record in a text: its fields, and `roundId`, `seed`, `limit_ms`, `signature` and the `statement` that is
 * signed. Its moves lead to its score. The signature is not checked. Throws `WrongRecord`.
 */
export function parseSolo(text) {
  const kind = KINDS[soloKind(text)];
  const [statement, seal, ...rest] = text.split("\n");
  const isWritten = kind && text.length <= 2 * DATA.sizes.line_bytes && new RegExp(`^${kind.line}$`).test(statement)
    && SEAL.test(seal ?? "") && rest.join() === "" && rest.length === 1;
  demand(isWritten, "It is not written as the record of an attempt or of a race in a tournament is.");
  const fields = JSON.parse(statement);
  demand(Object.hasOwn(DATA.variants, fields.rules), "Its rules are none that are known here.");
  demand(kind.isPossible(fields), "It names a day, a round, a limit or players that cannot be.");
  const roundId = kind.roundOf(fields);
  const seed = makeSeed(fields.secret, [kind.entropyOf(fields, roundId), NO_BYTES], roundId);
  const record = { ...fields, roundId, seed, limit_ms: kind.limitOf(fields), statement, signature: JSON.parse(seal).signature };
  demand(isSameScore(scoreOf(record), record), "It does not prove itself: its moves lead to another score.");
  return record;
}

/** Return the score to which the moves of a record lead. Throws `WrongRecord` for moves that cannot be. */
function scoreOf(record) {
  const { moves, limit_ms: limit } = record;
  const isInOrder = moves.every(([at], place) => at <= limit && (!place || moves[place - 1][0] <= at));
  demand(isInOrder, "It does not prove itself: its times go back, or beyond the limit.");
  try {
    const { dealt, piles, redeals } = dealOf(record);
    const race = moves.reduce(
      (each, [at_ms, move]) => after(each, { type: "move", at_ms, seat: 0, move }), startRace(dealt, piles, redeals));
    const { board, ending } = race.racers[0];
    const last = moves.at(-1)?.[0] ?? 0;
    return { won: placedOn(board) === goalOf(board), placed: placedOn(board), direct: board.direct, time_ms: ending ? last : limit };
  } catch (fault) {
    if (!(fault instanceof WrongRace)) throw fault;
    throw new WrongRecord(`It does not prove itself: ${fault.message}.`);
  }
}

function dealOf({ rules, seed }) {
  const { piles, redeals } = DATA.variants[rules].defaults;
  return { dealt: usualDeal(rules, seed), piles, redeals };
}

/** Yield a sentence for each check of a record of `parseSolo` that holds. Throws `WrongRecord` at the first one that does not. */
export function* checkSolo(record, key = null) {
  const kind = KINDS[record.type];
  yield kind.titleOf(record);
  demand(key === null || key === record.key, `It names the key ${record.key}, and not the one that was given.`);
  demand(isSoloSigned(record), "It is not signed with the key that it names.");
  yield `It is signed with the key ${record.key}.`;
  yield `The secret belongs to the commitment ${commitSecret(record.roundId, record.secret)}.`;
  yield* kind.checking(record);
  yield `The deck follows from the secret and from ${kind.sourceOf(record)}.`;
  yield `The seed is ${record.seed}.`;
  const { moves, placed, direct, time_ms: time } = record;
  yield `All ${moves.length} moves were within the rules and the limit, and lead to the score: `
    + `${placed} cards, ${direct} of them straight from the stock, in ${(Math.floor(time / 100) / 10).toFixed(1)} s.`;
}

const isSoloSigned = ({ type, statement, signature, key }) =>
  isSigned(encode(KINDS[type].label, toBytes(statement)), fromHex(signature), fromHex(key));

/** Check that a record is that of a row of an opened table; `page` is its first page. Throws `Cheated`. */
export function checkRow(page, row, record) {
  const claim = (condition, sentence) => {
    if (!condition) throw new Cheated(`The record of ${row.name} ${sentence}.`);
  };
  const isOfRow = record.type === "attempt" && record.attempt === row.attempt && record.name === row.name && isSameScore(record, row);
  claim(isOfRow, "is of another attempt than the table shows");
  const { beacon, beacon_number: number, drand } = page.seal;
  const isOfDeal = record.secret === page.secret && record.beacon === beacon && record.beacon_number === number
    && (record.drand ?? null) === (drand ?? null);
  claim(isOfDeal && record.day === page.day && record.rules === page.rules, "is of another deal than the table");
  claim(isSoloSigned(record), "is not signed with the key that it names");
}

/** Check that a record is that of the race that a tournament shows with this score. Throws `Cheated`. */
export function checkRace(shown, played, name, score, record) {
  const claim = (condition, sentence) => {
    if (!condition) throw new Cheated(`The record of ${name} ${sentence}.`);
  };
  const isOfRace = record.type === "tournament_race" && record.tournament === shown.tournament && record.code === shown.code
    && record.round === played.number && record.name === name && isSameScore(record, score);
  claim(isOfRace, "is of another race than the tournament shows");
  const isOfDeal = record.rules === shown.rules && record.limit_seconds === shown.limit_seconds
    && record.secret === played.secret && commitSecret(record.roundId, record.secret) === played.commitment;
  claim(isOfDeal, "is of another deal than the tournament shows");
  claim(isSoloSigned(record), "is not signed with the key that it names");
}

/**
 * Return the steps of a race, as those of `stepsOf`, or of two races on the same deal beside one another. These end when
 * one of the two has placed every card; the moves of the other one behind that are left out.
 */
export function soloSteps(first, second = null) {
  const { dealt, piles, redeals } = dealOf(first);
  const events = second ? [] : [{ type: "stop", at_ms: null, seats: [1], ending: "away" }];
  let race = events.reduce(after, startRace(dealt, piles, redeals));
  const moves = [first, second].flatMap((record, seat) =>
    (record?.moves ?? []).map(([at_ms, move]) => ({ type: "move", at_ms, seat, move })));
  const add = (event) => {
    events.push(event);
    race = after(race, event);
  };
  moves.sort((one, other) => one.at_ms - other.at_ms || one.seat - other.seat);
  for (const move of moves) if (!race.racers[move.seat].ending) add(move);
  const racing = [0, 1].filter((seat) => !race.racers[seat].ending);
  if (racing.length) add({ type: "stop", at_ms: first.limit_ms, seats: racing, ending: "out_of_time" });
  const steps = stepsOf(dealt, piles, redeals, events);
  // Alone, the other seat is empty from the start: that is no step.
  return second ? steps : [{ event: null, card: null, race: steps[1].race }, ...steps.slice(2)];
}

/**
 * Return a race, or two beside one another, as replay and analysis take them: the `names`, the `rules`, the id of the `round`,
 * the `steps`, and `first`, the number that the event of the second step has in the match that `fairest` makes of them.
 */
export function soloRace(record, second = null) {
  const names = [record, second].filter(Boolean).map(({ name }) => name);
  return { names, rules: record.rules, round: record.roundId, steps: soloSteps(record, second), first: second ? 1 : 2 };
}
