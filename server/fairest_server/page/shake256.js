// SHAKE-256 (FIPS 202), which makes the stream of random numbers of a deal. No browser has it built in.
// Checked against Python's hashlib by tests/page.

const RATE = 136; // bytes of each block
const MASK = (1n << 64n) - 1n;
const rotate = (word, bits) => (bits ? ((word << bits) | (word >> (64n - bits))) & MASK : word);

/** The constants of the 24 rounds, from the linear feedback register of the standard (3.2.5). */
const ROUND_CONSTANTS = (() => {
  let register = 1;
  const nextBit = () => {
    const bit = BigInt(register & 1);
    register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    return bit;
  };
  return Array.from({ length: 24 }, () =>
    [0n, 1n, 3n, 7n, 15n, 31n, 63n].reduce((constant, shift) => constant | (nextBit() << shift), 0n));
})();

/** For each of the 24 lanes that move: from lane to lane, the place that it moves to and the bits that it rotates. */
const MOVES = (() => {
  const moves = [];
  let [x, y] = [1, 0];
  for (let step = 0; step < 24; step++) {
    [x, y] = [y, (2 * x + 3 * y) % 5];
    moves.push({ to: x + 5 * y, bits: BigInt((((step + 1) * (step + 2)) / 2) % 64) });
  }
  return moves;
})();

/** Permute the 25 lanes of the state in place. */
function permute(lanes) {
  for (const constant of ROUND_CONSTANTS) {
    const columns = [0, 1, 2, 3, 4].map((x) =>
      lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]);
    for (let at = 0; at < 25; at++) lanes[at] ^= columns[(at + 4) % 5] ^ rotate(columns[(at + 1) % 5], 1n);
    let moving = lanes[1];
    for (const { to, bits } of MOVES) [moving, lanes[to]] = [lanes[to], rotate(moving, bits)];
    for (let row = 0; row < 25; row += 5) {
      const old = lanes.slice(row, row + 5);
      for (let x = 0; x < 5; x++) lanes[row + x] = old[x] ^ (~old[(x + 1) % 5] & MASK & old[(x + 2) % 5]);
    }
    lanes[0] ^= constant;
  }
}

/** Yield the output of SHAKE-256 byte by byte, without end. */
export function* shake256(message) {
  const blocks = new Uint8Array((Math.floor(message.length / RATE) + 1) * RATE);
  blocks.set(message);
  blocks[message.length] ^= 0x1f;
  blocks[blocks.length - 1] ^= 0x80;
  const view = new DataView(blocks.buffer);
  const lanes = new Array(25).fill(0n);
  for (let block = 0; block < blocks.length; block += RATE) {
    for (let at = 0; at < RATE / 8; at++) lanes[at] ^= view.getBigUint64(block + 8 * at, true);
    permute(lanes);
  }
  for (;;) {
    for (const lane of lanes.slice(0, RATE / 8))
      for (let shift = 0n; shift < 64n; shift += 8n) yield Number((lane >> shift) & 255n);
    permute(lanes);
  }
}
