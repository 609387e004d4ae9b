// The heads of the server's chain of rounds that this browser was shown, and what a new one says beside them.
//
// A head is signed, so two of them that cannot belong to one chain prove that the server has changed its chain. The
// sentences are those of `fairest`.
import { fromHex, numberBytes } from "./bytes.js";
import { isSigned } from "./ed25519.js";
import { encode } from "./seal.js";

/** Beyond this, every second one of the older half is dropped. */
const MAX_HEADS = 100;
/** By this much the clocks of two nodes of Redis may differ, each of which has stamped a head. */
const CLOCK_MS = 5000;
/** A head that is older than this when it is shown hides what came after it. */
const OLDEST_MS = 120000;
const CAUSE = "Unless its Redis has lost data, it has dropped rounds: fairest audit says more.";

/** Return whether the key has signed this head. */
export const isHeadSigned = ({ number, chain, at_ms, signature }, key) =>
  isSigned(encode("rounds head", numberBytes(number, 8), fromHex(chain), numberBytes(at_ms, 8)), fromHex(signature), fromHex(key));

/** Return a sentence if the head, shown when the server's clock was `now_ms`, contradicts those known; else nothing. */
export function headProblem(head, key, now_ms, known) {
  if (!isHeadSigned(head, key)) return "Beware: the head of this server's chain of rounds is not signed with its key.";
  for (const other of known) {
    if (other.number === head.number && other.chain !== head.chain) {
      return "Beware: this server has shown two chains of rounds, both signed: their entries "
        + `${head.number} differ. ${CAUSE}`;
    }
    if (head.number < other.number && head.at_ms > other.at_ms + CLOCK_MS)
      return `Beware: this server's chain of rounds went back, from entry ${other.number} to ${head.number}. ${CAUSE}`;
  }
  if (head.at_ms > now_ms + CLOCK_MS) {
    const early = Math.floor((head.at_ms - now_ms) / 1000);
    return `Beware: the head of this server's chain of rounds was signed ${early} seconds in the future.`;
  }
  const seconds = Math.floor((now_ms - head.at_ms) / 1000);
  return head.at_ms + OLDEST_MS < now_ms ? `Beware: the head of this server's chain of rounds is ${seconds} seconds old.` : "";
}

/**
 * Return the heads that are known after one, whose signature was checked, was shown. Of heads that differ in their time alone, the
 * first and the last one stay: nothing joined the chain between them.
 */
export function headsAfter(known, head) {
  const same = known.filter(({ number, chain }) => number === head.number && chain === head.chain);
  if (same.some(({ at_ms }) => head.at_ms <= at_ms)) return known;
  const heads = [...known.filter((each) => !same.slice(1).includes(each)), head].sort((one, other) => one.number - other.number || one.at_ms - other.at_ms);
  const half = Math.floor(heads.length / 2);
  return heads.length > MAX_HEADS ? heads.filter((_, place) => place >= half || place % 2 === 0) : heads;
}
