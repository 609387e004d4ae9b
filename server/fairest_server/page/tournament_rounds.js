// What a spectator can hold a server to in a tournament: the seals of its rounds.
import { commitSecret } from "./seal.js";

/** Return what is wrong with the rounds that the server shows beside those that it has shown before; empty if nothing. */
export function faultOf(before, shown) {
  for (const { number, round, commitment, secret } of shown.played) {
    const known = before?.played.find((each) => each.number === number);
    if (known && (known.round !== round || known.commitment !== commitment))
      return `The server shows another commitment for round ${number} than before.`;
    if (secret && commitSecret(round, secret) !== commitment)
      return `The secret of round ${number} does not belong to its commitment.`;
  }
  return "";
}
