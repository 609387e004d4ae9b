// What the page keeps in the browser, for this origin only. Without storage a page forgets its seat when it is closed.

const TOKEN_NAME = "fairest.token";
const KEY_NAME = "fairest.key";
const HEADS_NAME = "fairest.heads.";
const TAB_NAME = "fairest.tab";
const ENTROPY_NAME = "fairest.entropies";
const MAX_ENTROPIES = 20;
const DAILY_NAME = "fairest.daily";
const MAX_NOTES = 20;

export const storage = (() => {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
})();

export const readToken = () => storage?.getItem(TOKEN_NAME) ?? null;
export const keepToken = (token) => storage?.setItem(TOKEN_NAME, token);
export const forgetToken = () => storage?.removeItem(TOKEN_NAME);

/** Return the key that this server showed before, null if it has shown none; keep the present one. */
export function exchangeKey(key) {
  const before = storage?.getItem(KEY_NAME) ?? null;
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
