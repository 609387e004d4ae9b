// A tournament as one player, or a spectator, knows it: what the server has shown, what was witnessed of its rounds, and our
// bytes. Values; nothing changes them.
import { demand } from "./solo_game.js";
import { commitEntrant, witnessRound } from "./tournament_rounds.js";

const ENDED = ["over", "cancelled"];

/**
 * Return a tournament as the player `name` knows it. `shown` is null until the server has shown it; `rounds` are the witnesses of
 * its rounds by their numbers, and `taken` our entropies of those for which the server has taken our hash.
 */
export const knownTournament = (name, rounds = {}) => ({ name, shown: null, rounds, taken: {} });

/** Return the tournament after the server has shown it, unless we have seen a newer version. Throws `Cheated`. */
export function afterShown(known, shown) {
  if (shown.version < (known.shown?.version ?? 0)) return known;
  const rounds = { ...known.rounds };
  for (const played of shown.played) {
    const entropy = known.taken[played.number];
    const own = entropy ? [known.name, commitEntrant(played.round, known.name, entropy)] : null;
    rounds[played.number] = witnessRound(rounds[played.number] ?? null, shown, played, own);
  }
  const after = { ...known, shown, rounds };
  checkOwnBytes(known, after);
  return after;
}

/** Return the tournament after the server has taken the hash of our entropy for a round. */
export const withEntropy = (known, number, entropy) => ({ ...known, taken: { ...known.taken, [number]: entropy } });

/** The newest round of a tournament that has begun; undefined before. */
export const newestOf = ({ shown }) => shown?.played.at(-1);

const rowOf = ({ name, shown }) => shown?.standings.find((row) => row.name === name);

/** Whether we are a player of it, or were one. */
export const hasEntered = (known) => rowOf(known) !== undefined;
export const hasLeft = (known) => rowOf(known)?.has_left === true;
export const isEnded = ({ shown }) => ENDED.includes(shown?.phase);

/** Return our pair in the newest round, null if we have none, or have left. */
export const pairOf = (known) =>
  (hasLeft(known) ? null : newestOf(known)?.pairs.find(({ names }) => names.includes(known.name)) ?? null);

/** Return the name of our opponent in the newest round, null with a bye. */
export const opponentOf = (known) => pairOf(known)?.names.find((name) => name !== known.name && name !== null) ?? null;

const ownReady = (known) => newestOf(known)?.ready.find(({ name }) => name === known.name);

/** Whether we are to get ready for the newest round. */
export const isReadyWanted = (known) => known.shown?.phase === "gathering" && pairOf(known) !== null && !ownReady(known);

/** Whether our race in the newest round is dealt: it starts at `started_ms` of that round. */
export const isRaceDealt = (known) => known.shown?.phase === "racing" && pairOf(known) !== null;

/** Whether the server waits for our bytes: our very hash stands among those of all who are ready. `entropy` may be undefined. */
export function isRevealDue(known, entropy) {
  if (known.shown?.phase !== "revealing" || pairOf(known) === null || !entropy) return false;
  const own = ownReady(known);
  return own !== undefined && !own.entropy && own.entropy_hash === commitEntrant(newestOf(known).round, known.name, entropy);
}

/** Check that a deal for which the server has taken our bytes, or lets us race, is made of them as well. */
function checkOwnBytes(before, after) {
  const newest = newestOf(after);
  if (after.shown.phase !== "racing" || !after.taken[newest.number]) return;
  const wasShown = before.shown?.played.at(-1)?.number === newest.number && Boolean(ownReady(before)?.entropy);
  const isIn = after.rounds[newest.number].entropies.some(([name]) => name === after.name);
  demand(isIn || (hasLeft(after) && !wasShown), `The server left our bytes out of the deal of round ${newest.number}.`);
}
