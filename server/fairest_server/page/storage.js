// What the page keeps in the browser, for this origin only. Without storage a page forgets its seat when it is closed.

const TOKEN_NAME = "fairest.token";
const NEXT_TOKEN_NAME = "fairest.next-token";
const KEY_NAME = "fairest.key";
const HEADS_NAME = "fairest.heads.";
const TAB_NAME = "fairest.tab";
const ENTROPY_NAME = "fairest.entropies";
const MAX_ENTROPIES = 20;
const COMMITMENT_NAME = "fairest.commitment";
const DAILY_NAME = "fairest.daily";
const MAX_NOTES = 20;
const TOURNAMENTS_NAME = "fairest.tournaments";
const MAX_TOURNAMENTS = 8;

export const storage = (() => {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
})();

/** The token that this tab has read or kept last: another tab may have taken another one since. */
let ownToken = null;

export const readToken = () => (ownToken = storage?.getItem(TOKEN_NAME) ?? null);

/** Keep the token of a new player, or the one that the player has taken. */
export function keepToken(token) {
  ownToken = token;
  storage?.setItem(TOKEN_NAME, token);
  storage?.removeItem(NEXT_TOKEN_NAME);
}

/** The token that the player is about to take, or has taken: the server's answer is missing. */
export const readNextToken = () => storage?.getItem(NEXT_TOKEN_NAME) ?? null;

/** Keep the token that the player is about to take. Call it before the server is asked. */
export const keepNextToken = (token) => storage?.setItem(NEXT_TOKEN_NAME, token);

/**
 * Forget a token that the server does not know. If the player was about to take another one, it has that; if another tab
 * has taken another one meanwhile, that one stays.
 */
export function forgetToken(token = ownToken) {
  if (readToken() !== token) return;
  const next = readNextToken();
  if (next) keepToken(next);
  else storage?.removeItem(TOKEN_NAME);
}

/** Return whether this browser has another token of the player than this one, which the server does not know. */
export const hasOtherToken = (token) => [readToken(), readNextToken()].some((each) => each !== null && each !== token);

/** Return the key that this server showed before, null if it has shown none. */
export const readKey = () => storage?.getItem(KEY_NAME) ?? null;

/** Return the key that this server showed before, null if it has shown none; keep the present one. */
export function exchangeKey(key) {
  const before = readKey();
  storage?.setItem(KEY_NAME, key);
  return before;
}

/** Return the heads of the chain of rounds that a server with this key has shown. */
export function readHeads(key) {
  try {
    const heads = JSON.parse(storage?.getItem(HEADS_NAME + key) ?? "[]");
    return Array.isArray(heads) ? heads : [];
  } catch (fault) {
    if (!(fault instanceof SyntaxError)) throw fault;
    return [];
  }
}

export const keepHeads = (key, heads) => storage?.setItem(HEADS_NAME + key, JSON.stringify(heads));

const ownTab = `${Date.now()} ${Math.random()}`;

/** Note that this tab asks for a seat, so that another tab of this browser knows who took its own. */
export const noteTab = () => storage?.setItem(TAB_NAME, ownTab);

/** Return whether another tab of this browser was the last to ask for a seat. */
export const isOtherTabLast = () => storage !== null && storage.getItem(TAB_NAME) !== ownTab;

export const readEntropies = () => JSON.parse(storage?.getItem(ENTROPY_NAME) ?? "{}");

/** Keep our bytes of a round, for the case that the page is loaded again before they are revealed. */
export function keepEntropy(round, entropy) {
  const kept = Object.entries({ ...readEntropies(), [round]: entropy }).slice(-MAX_ENTROPIES);
  storage?.setItem(ENTROPY_NAME, JSON.stringify(Object.fromEntries(kept)));
}

/**
 * Keep what we commit to in a round of a room, for the case that the page is loaded again, or the player is taken to another machine:
 * `round_id`, the server's `commitment`, our `seat`, `entropy` and `entropy_hash`, and the other player's hash once we reveal.
 */
export function keepCommitment(commitment) {
  keepEntropy(commitment.round_id, commitment.entropy);
  storage?.setItem(COMMITMENT_NAME, JSON.stringify(commitment));
}

/** Return the commitment that was kept last, or null. */
export const readCommitment = () => JSON.parse(storage?.getItem(COMMITMENT_NAME) ?? "null");

/** Become the player of a file: `token`, `nextToken`, `key` and `commitment`, each but the first may be null. */
export function becomePlayer({ token, nextToken, key, commitment }) {
  // What may find no room comes before the token: a player that does not fit leaves the one before.
  if (commitment) keepCommitment(commitment);
  else storage?.removeItem(COMMITMENT_NAME);
  if (key) exchangeKey(key);
  keepToken(token);
  if (nextToken) keepNextToken(nextToken);
}

const readNotes = () => JSON.parse(storage?.getItem(DAILY_NAME) ?? "[]");

/**
 * Keep what this browser was shown of an attempt at a daily deal, in the place of an older note of it: `rules`, `day`, the
 * `name` of the player, `seal`, `envelopes`, `moves`, `result`, and `until_ms`, the end of its time by our clock.
 */
export function keepDailyNote(note) {
  const others = readNotes().filter(({ rules, day }) => rules !== note.rules || day !== note.day);
  storage?.setItem(DAILY_NAME, JSON.stringify([...others, note].slice(-MAX_NOTES)));
}

/** Return the note of our attempt at the deal of a variant and a day, or null. */
export const readDailyNote = (rules, day) => readNotes().find((note) => note.rules === rules && note.day === day) ?? null;

/** Return the note of an attempt at a deal of a variant that has not ended and has time left, or null. */
export const readNoteUnderWay = (rules, now_ms) =>
  readNotes().findLast((note) => note.rules === rules && !note.result && note.until_ms > now_ms) ?? null;

/** Return the notes of tournaments that are kept, the oldest first. */
export const readTournamentNotes = () => JSON.parse(storage?.getItem(TOURNAMENTS_NAME) ?? "[]");

/**
 * Keep what this browser was shown of a tournament that it has entered, in the place of an older note of it: the `tournament`'s id,
 * the `key` of the server, the `player`, which stands for our token, our `name` in it, and its `rounds`. Where there is no room,
 * older notes make some.
 */
export function keepTournamentNote(note) {
  const others = readTournamentNotes().filter(({ tournament, player }) => tournament !== note.tournament || player !== note.player);
  const kept = [...others, note].slice(-MAX_TOURNAMENTS);
  for (;;) {
    try {
      storage?.setItem(TOURNAMENTS_NAME, JSON.stringify(kept));
      return;
    } catch (fault) {
      if (!(fault instanceof DOMException) || !kept.length) throw fault;
      kept.shift();
    }
  }
}
