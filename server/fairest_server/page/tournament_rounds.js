// The rounds of a tournament as the page was shown them, and the checks that hold the server to the deal of each, as
// `fairest` makes them. Rounds are values; nothing changes them.
//
// The server commits itself to a secret before anybody is ready. We show our bytes only when the hashes of all others are
// shown, and note them. When the round is over the secret is shown, and the deck is dealt again.
import { fromHex, numberBytes, toBytes } from "./bytes.js";
import { commitSecret, hash, makeSeed } from "./seal.js";
import { NO_BYTES, demand, firstWrongEnvelope, isSame, nameOf, sealedDeck } from "./solo_game.js";

/** Return the round id of a round of a tournament, by the tournament's id and the round's number from 1. */
export const roundOf = (tournament, number) => hash("tournament", fromHex(tournament), numberBytes(number, 2)).slice(0, 32);

/** Return the hash that a player sends to be ready for a round. */
export const commitEntrant = (round, name, entropy) => hash("entrant", fromHex(round), toBytes(name), fromHex(entropy));

/** Return one hash over the entropies of all who were ready, given as [name, entropy]. */
export const mixEntropies = (round, entropies) =>
  hash("entrants", fromHex(round), ...sorted(entropies).flatMap(([name, entropy]) => [toBytes(name), fromHex(entropy)]));

/** Return the seed of a round. */
export const tournamentSeed = (secret, entropies, round) => makeSeed(secret, [mixEntropies(round, entropies), NO_BYTES], round);

/** Return the seed of a round that we know, null as long as its secret or its entropies are not known. */
export const seedOf = ({ round, secret, entropies }) =>
  (secret && entropies.length ? tournamentSeed(secret, entropies, round) : null);

const sorted = (pairs) => pairs.toSorted((one, other) => {
  const at = one[0] === other[0] ? 1 : 0;
  return Number(one[at] > other[at]) - Number(one[at] < other[at]);
});

/**
 * Return what we know of a round after the server has shown it: `hashes` and `entropies` as [name, value], `secret`, and of
 * our race the `envelopes`, the `moves` and the `result`. `known` is what we knew, or null; `own` our [name, hash] if the server
 * has taken a hash of ours. Throws `Cheated`.
 */
export function witnessRound(known, tournament, shown, own) {
  const { number, commitment, secret } = shown;
  const round = roundOf(tournament.tournament, number);
  const isSameRound = shown.round === round && (!known || known.commitment === commitment);
  demand(isSameRound, `The server shows another commitment for round ${number} than before.`);
  let after = known ?? { round, commitment, hashes: [], entropies: [], envelopes: [], secret: null, moves: [], result: null };
  if (shown === tournament.played.at(-1) && ["revealing", "racing"].includes(tournament.phase))
    after = witnessEntropies(after, tournament.phase, shown, own);
  if (secret && !after.secret) {
    after = { ...after, secret };
    checkDeck(tournament.rules, after, number);
  }
  return after;
}

/** Check the secret of a round that is over; with the entropies, deal the deck again. Throws `Cheated`. */
export function checkDeck(rules, known, number) {
  const isOwn = commitSecret(known.round, known.secret) === known.commitment;
  demand(isOwn, `The secret of round ${number} does not belong to its commitment.`);
  const seed = seedOf(known);
  if (!seed || !known.envelopes.length) return;
  const wrong = firstWrongEnvelope(known.envelopes, sealedDeck(rules, seed, known.round));
  demand(!wrong, wrong && `The envelope at ${nameOf(wrong)} of round ${number} holds another deal's card.`);
}

function witnessEntropies(known, phase, { number, ready }, own) {
  const hashes = sorted(ready.map(({ name, entropy_hash: hashed }) => [name, hashed]));
  demand(!known.hashes.length || isSame(known.hashes, hashes), `The server shows other hashes for round ${number} than before.`);
  const isTaken = !own || hashes.some((each) => isSame(each, own));
  demand(isTaken, `The server does not show the hash that we sent for round ${number}.`);
  const entropies = sorted(ready.filter(({ entropy }) => entropy).map(({ name, entropy }) => [name, entropy]));
  for (const [name, entropy] of entropies) {
    const isOfHash = hashes.some((each) => isSame(each, [name, commitEntrant(known.round, name, entropy)]));
    demand(isOfHash, `The bytes of ${name} for round ${number} do not belong to their hash.`);
  }
  if (phase !== "racing") return { ...known, hashes };
  const areSame = !known.entropies.length || isSame(known.entropies, entropies);
  demand(areSame, `The server shows other bytes for round ${number} than before.`);
  return { ...known, hashes, entropies };
}
