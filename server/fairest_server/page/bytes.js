// Bytes as text and back. All modules of the page hand bytes on as Uint8Array.

/** Return the bytes of a text of hexadecimal digits. */
export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));

/** Return bytes as hexadecimal digits in small letters. */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Return so many random bytes as hexadecimal digits. */
export const drawHex = (count) => toHex(crypto.getRandomValues(new Uint8Array(count)));

/** Return a text as UTF-8. */
export const toBytes = (text) => new TextEncoder().encode(text);

/** Return a whole number from 0 as `count` bytes, the most significant first. */
export const numberBytes = (number, count) =>
  Uint8Array.from({ length: count }, (_, place) => Math.floor(number / 256 ** (count - 1 - place)) % 256);

/** Return all parts, one behind the other. */
export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
