// What this browser knows of a server from before: its key, and the heads of its chain of rounds.
import { headProblem, headsAfter, isHeadSigned } from "./heads.js";
import { exchangeKey, keepHeads, readHeads } from "./storage.js";

/** Keep the key and the head of the chain of rounds that a server shows; return what contradicts those shown before. */
export function compareServer(key, head, now_ms) {
  const before = exchangeKey(key);
  const isSame = before === null || before === key;
  const warnings = isSame ? [] : [`Beware: this server signs with another key than when you were here last (${key.slice(0, 16)}).`];
  if (head) {
    const known = readHeads(key);
    warnings.push(headProblem(head, key, now_ms, known));
    if (isHeadSigned(head, key)) keepHeads(key, headsAfter(known, head));
  }
  return warnings.filter(Boolean).join(" ");
}
