// The check of an Ed25519 signature (RFC 8032, 5.1.7), with big integers. Nothing secret is computed here, so the time
// that it takes may depend on the values. Checked against the vectors of the RFC and against OpenSSL by tests/page.
import { fromHex, joined } from "./bytes.js";
import { sha512 } from "./sha2.js";

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (number) => ((number % P) + P) % P;

function power(base, exponent) {
  let result = 1n;
  for (let square = mod(base); exponent; exponent >>= 1n, square = mod(square * square))
    if (exponent & 1n) result = mod(result * square);
  return result;
}
const inverse = (number) => power(number, P - 2n);

const D = mod(-121665n * inverse(121666n));
const ROOT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n);
const NEUTRAL = { x: 0n, y: 1n, z: 1n, t: 0n };

/** Return the sum of two points in extended coordinates: x/z and y/z, with t = xy/z. */
function add(one, other) {
  const a = (one.y - one.x) * (other.y - other.x);
  const b = (one.y + one.x) * (other.y + other.x);
  const c = 2n * one.t * D * other.t;
  const d = 2n * one.z * other.z;
  const [e, f, g, h] = [mod(b - a), mod(d - c), mod(d + c), mod(b + a)];
  return { x: mod(e * f), y: mod(g * h), z: mod(f * g), t: mod(e * h) };
}

function multiply(scalar, point) {
  let result = NEUTRAL;
  for (let double = point; scalar; scalar >>= 1n, double = add(double, double))
    if (scalar & 1n) result = add(result, double);
  return result;
}

const littleEndian = (bytes) => bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);

/** Return the point that 32 bytes stand for, or null if there is none. */
function decode(bytes) {
  const text = littleEndian(bytes);
  const [y, sign] = [text & (2n ** 255n - 1n), text >> 255n];
  if (y >= P) return null;
  const ratio = mod((y * y - 1n) * inverse(D * y * y + 1n));
  let x = power(ratio, (P + 3n) / 8n);
  if (mod(x * x) !== ratio) x = mod(x * ROOT_OF_MINUS_ONE);
  if (mod(x * x) !== ratio || (x === 0n && sign)) return null;
  if ((x & 1n) !== sign) x = P - x;
  return { x, y, z: 1n, t: mod(x * y) };
}

const BASE = decode(fromHex("58" + "66".repeat(31)));
const isSame = (one, other) => mod(one.x * other.z - other.x * one.z) === 0n && mod(one.y * other.z - other.y * one.z) === 0n;

/** Return whether `signature` (64 bytes) is that of `message` under the public `key` (32 bytes). */
export function isSigned(message, signature, key) {
  if (signature.length !== 64 || key.length !== 32) return false;
  const [nonce, signer] = [decode(signature.subarray(0, 32)), decode(key)];
  const scalar = littleEndian(signature.subarray(32));
  if (!nonce || !signer || scalar >= ORDER) return false;
  const challenge = littleEndian(sha512(joined(signature.subarray(0, 32), key, message))) % ORDER;
  return isSame(multiply(scalar, BASE), add(nonce, multiply(challenge, signer)));
}
