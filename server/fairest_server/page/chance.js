// Random numbers as Python draws them from a seed, so that the page samples the same games as an installed client.

const [WORDS, MIDDLE] = [624, 397];

/** The numbers that `random.Random(seed)` draws: the Mersenne Twister of Matsumoto and Nishimura. */
export class Chance {
  #state = new Uint32Array(WORDS);
  #next = WORDS;

  /** `seed` is a whole number from 0 to 2 ** 53 - 1. */
  constructor(seed) {
    const [low, high] = [seed >>> 0, Math.floor(seed / 2 ** 32)];
    this.#mix(high ? [low, high] : [low]);
  }

  /** Set the state from the words of the seed, the lowest first. */
  #mix(key) {
    const state = this.#state;
    state[0] = 19650218;
    for (let at = 1; at < WORDS; at++) state[at] = Math.imul(1812433253, state[at - 1] ^ (state[at - 1] >>> 30)) + at;
    let at = 1;
    const step = (factor, added) => {
      state[at] = (state[at] ^ Math.imul(state[at - 1] ^ (state[at - 1] >>> 30), factor)) + added;
      at += 1;
      if (at === WORDS) {
        state[0] = state[WORDS - 1];
        at = 1;
      }
    };
    for (let count = 0; count < WORDS; count++) step(1664525, key[count % key.length] + (count % key.length));
    for (let count = 1; count < WORDS; count++) step(1566083941, -at);
    state[0] = 0x80000000;
  }

  #refill() {
    const state = this.#state;
    for (let at = 0; at < WORDS; at++) {
      const word = (state[at] & 0x80000000) | (state[(at + 1) % WORDS] & 0x7fffffff);
      state[at] = state[(at + MIDDLE) % WORDS] ^ (word >>> 1) ^ (word & 1 ? 0x9908b0df : 0);
    }
    this.#next = 0;
  }

  /** Return a number of `bits` random bits, 32 at most. */
  bits(bits) {
    if (this.#next === WORDS) this.#refill();
    let word = this.#state[this.#next];
    this.#next += 1;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    word ^= word >>> 18;
    return word >>> (32 - bits);
  }

  /** Return a number from 0 to 1, without 1. */
  random() {
    const high = this.bits(27);
    return (high * 2 ** 26 + this.bits(26)) / 2 ** 53;
  }

  /** Shuffle a list in place. */
  shuffle(list) {
    for (let last = list.length - 1; last > 0; last--) {
      const bits = 32 - Math.clz32(last + 1);
      let other;
      do other = this.bits(bits); while (other > last);
      [list[last], list[other]] = [list[other], list[last]];
    }
  }
}
