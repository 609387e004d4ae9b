// The beacon of a daily deal that is a drand round: which one it has to be. `fairest` checks drand's signature as well; the
// page, which would need a library for that, says where to compare the beacon.
import { fromHex, toHex } from "./bytes.js";
import { sha256 } from "./sha2.js";

const CHAIN = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
const GENESIS_MS = 1692803367000;
const PERIOD_MS = 3000;
const SIGNATURE = /^[0-9a-f]{96}$/i;

/** Return the number of the first drand round of a day. */
const firstDrandRound = (day) => 1 + Math.ceil((Date.parse(day) - GENESIS_MS) / PERIOD_MS);

/** Return whether the beacon of a seal is a drand round. */
export const isDrand = ({ drand }) => (drand ?? null) !== null;

/** Return what contradicts that a beacon is the value of the first drand round of its day; nothing if it is. */
export function drandFault(day, { beacon_number: number, beacon, drand }) {
  const isValue = typeof drand === "string" && SIGNATURE.test(drand) && toHex(sha256(fromHex(drand))) === beacon;
  if (!isValue) return "The beacon of the daily deal is not the value of the drand round that it names.";
  const first = firstDrandRound(day);
  return number === first ? "" : `The beacon of the daily deal is drand round ${number}, and the first one of its day is ${first}.`;
}

/** Return in a sentence what is known of a beacon without fault. */
export const describeDrand = (number) =>
  `The beacon is drand round ${number}, the first one of the day. Its signature is checked by \`fairest\`, not by this page; `
  + `compare it with https://api.drand.sh/${CHAIN}/public/${number}.`;
