// Hashes, random numbers and check words of the sealed deal, as docs/protocol.md has them under "Hashes".
import { fromHex, joined, numberBytes, toBytes, toHex } from "./bytes.js";
import { isSigned } from "./ed25519.js";
import { hmacSha256, sha256 } from "./sha2.js";
import { shake256 } from "./shake256.js";

/** Return a label and parts, each behind its length. Parts are bytes. */
export const encode = (label, ...parts) =>
  joined(...[toBytes(`fairest.v1.${label}`), ...parts].flatMap((part) => [numberBytes(part.length, 4), part]));

/** Return the hash of a label and parts in hexadecimal digits. */
export const hash = (label, ...parts) => toHex(sha256(encode(label, ...parts)));

export const commitSecret = (round, secret) => hash("secret", fromHex(round), fromHex(secret));
export const commitEntropy = (round, seat, entropy) =>
  hash("entropy", fromHex(round), Uint8Array.of(seat), fromHex(entropy));

/** Return the seed of a deal; `step` is the step of a certified round, undefined for every other one. */
export function makeSeed(secret, entropies, round, step) {
  const seed = hash("seed", ...[secret, ...entropies, round].map(fromHex));
  return step === undefined ? seed : hash("step", fromHex(seed), Uint8Array.of(step));
}

/** Return the salt of a position of a sealed pass, in hexadecimal digits. */
export const makeSalt = (seed, pass, position) =>
  toHex(hmacSha256(fromHex(seed), encode("salt", numberBytes(pass, 1), numberBytes(position, 2))));

/** Return the envelope of a card, in hexadecimal digits. */
export const makeEnvelope = (round, pass, position, card, salt) =>
  hash("envelope", fromHex(round), numberBytes(pass, 1), numberBytes(position, 2), toBytes(card), fromHex(salt));

/** Return whether the server's key has signed a round for this place in a match, under these terms. */
export function isRoundSigned({ round, commitment, signature }, match, number, terms, key) {
  const parts = [fromHex(round), fromHex(commitment), fromHex(match), numberBytes(number, 2), toBytes(terms)];
  return isSigned(encode("round", ...parts), fromHex(signature), fromHex(key));
}

/** Return the options of a scene as the text that is signed: `key=value`, in the order of the scene. */
export const termsOf = (options) => Object.entries(options).map(([name, value]) => `${name}=${value}`).join(" ");

/** Return the four check words of a sealed deal. */
export function checkWords(round, commitment, entropies, envelopes, terms) {
  const root = hash("envelopes", ...envelopes.map((list) => fromHex(list.join(""))));
  const parts = [round, commitment, ...entropies, root].map(fromHex);
  const digest = fromHex(hash("words", ...parts, toBytes(terms)));
  return [0, 2, 4, 6].map((at) => proquint(digest[at] * 256 + digest[at + 1]));
}

function proquint(number) {
  const [consonants, vowels] = ["bdfghjklmnprstvz", "aiou"];
  const bits = (from, letters) => letters[(number >> from) & (letters.length - 1)];
  return bits(12, consonants) + bits(10, vowels) + bits(6, consonants) + bits(4, vowels) + bits(0, consonants);
}

/** Return the stream of random bytes with this label; `seed` in hexadecimal digits, `parts` as bytes. */
export const stream = (label, seed, ...parts) => shake256(encode(label, fromHex(seed), ...parts));

/** Return a random number below `limit`, which is at most 256, all equally likely. */
export function drawBelow(limit, bytes) {
  for (;;) {
    const drawn = bytes.next().value;
    if (drawn < 256 - (256 % limit)) return drawn % limit;
  }
}

/** Return the cards shuffled by the stream. */
export function shuffle(cards, bytes) {
  const shuffled = [...cards];
  for (let last = cards.length - 1; last > 0; last--) {
    const other = drawBelow(last + 1, bytes);
    [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
  }
  return shuffled;
}
