// SHA-256, HMAC-SHA-256 and SHA-512 (FIPS 180-4, FIPS 198-1), checked against Python's hashlib by tests/page.
//
// WebCrypto has all three, but only for pages that came over https or from this machine, and a Fairest server in a
// local network is often reached by plain http. Both constants and both hashes follow from one description.
import { joined, numberBytes } from "./bytes.js";

const PRIMES = [];
for (let candidate = 2; PRIMES.length < 80; candidate++)
  if (PRIMES.every((prime) => candidate % prime)) PRIMES.push(candidate);

/** Return the first 64 bits behind the point of the `degree`-th root of `number`. */
function rootBits(number, degree) {
  const scaled = BigInt(number) << BigInt(64 * degree);
  let [low, high] = [0n, 1n << 80n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= scaled) low = middle;
    else high = middle;
  }
  return BigInt.asUintN(64, low);
}

const CUBE_ROOTS = PRIMES.map((prime) => rootBits(prime, 3));
const SQUARE_ROOTS = PRIMES.slice(0, 8).map((prime) => rootBits(prime, 2));
const K256 = Int32Array.from(CUBE_ROOTS.slice(0, 64), (bits) => Number(bits >> 32n) | 0);
const H256 = Int32Array.from(SQUARE_ROOTS, (bits) => Number(bits >> 32n) | 0);

/** Return a message with a one bit, zeros and its length in bits behind it, as both hashes want it. */
function padded(message, blockBytes) {
  const zeros = (2 * blockBytes - 1 - blockBytes / 8 - (message.length % blockBytes)) % blockBytes;
  return joined(message, Uint8Array.of(0x80), new Uint8Array(zeros), numberBytes(8 * message.length, blockBytes / 8));
}

const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits));

/** Return the SHA-256 of bytes: 32 bytes. */
export function sha256(message) {
  const blocks = new DataView(padded(message, 64).buffer);
  const state = H256.slice();
  const words = new Int32Array(64);
  for (let block = 0; block < blocks.byteLength; block += 64) {
    for (let at = 0; at < 16; at++) words[at] = blocks.getInt32(block + 4 * at);
    for (let at = 16; at < 64; at++) {
      const [early, late] = [words[at - 15], words[at - 2]];
      const mixed = (rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)) + words[at - 7];
      words[at] = words[at - 16] + mixed + (rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at < 64; at++) {
      const choice = (e & f) ^ (~e & g);
      const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + K256[at] + words[at]) | 0;
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => (state[at] += word));
  }
  return joined(...Array.from(state, (word) => numberBytes(word >>> 0, 4)));
}

/** Return the HMAC-SHA-256 of bytes under a key of at most 64 bytes. */
export function hmacSha256(key, message) {
  const block = joined(key, new Uint8Array(64 - key.length));
  const inner = sha256(joined(block.map((byte) => byte ^ 0x36), message));
  return sha256(joined(block.map((byte) => byte ^ 0x5c), inner));
}

const MASK = (1n << 64n) - 1n;
const rotate64 = (word, bits) => ((word >> bits) | (word << (64n - bits))) & MASK;

/** Return the SHA-512 of bytes: 64 bytes. With big integers it is slow; a signature needs it once. */
export function sha512(message) {
  const blocks = new DataView(padded(message, 128).buffer);
  let state = SQUARE_ROOTS;
  for (let block = 0; block < blocks.byteLength; block += 128) {
    const words = Array.from({ length: 16 }, (_, at) => blocks.getBigUint64(block + 8 * at));
    for (let at = 16; at < 80; at++) {
      const [early, late] = [words[at - 15], words[at - 2]];
      const mixed = (rotate64(early, 1n) ^ rotate64(early, 8n) ^ (early >> 7n)) + words[at - 7];
      const other = rotate64(late, 19n) ^ rotate64(late, 61n) ^ (late >> 6n);
      words.push((words[at - 16] + mixed + other) & MASK);
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at < 80; at++) {
      const mixed = rotate64(e, 14n) ^ rotate64(e, 18n) ^ rotate64(e, 41n);
      const first = h + mixed + ((e & f) ^ (~e & MASK & g)) + CUBE_ROOTS[at] + words[at];
      const second = (rotate64(a, 28n) ^ rotate64(a, 34n) ^ rotate64(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) & MASK, c, b, a, (first + second) & MASK];
    }
    const after = [a, b, c, d, e, f, g, h];
    state = state.map((word, at) => (word + after[at]) & MASK);
  }
  const whole = new DataView(new ArrayBuffer(64));
  state.forEach((word, at) => whole.setBigUint64(8 * at, word));
  return new Uint8Array(whole.buffer);
}
