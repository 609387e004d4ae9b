// A daily deal as the server's pages answer it, and the proof of one that is opened.
import { Cheated } from "./cheated.js";
import { checkBeacon, checkOpening, checkTable, dailyRound, findOwnRow, isSameSeal } from "./daily_game.js";
import { fetchAnswer } from "./ratings.js";
import { TEXT } from "./texts.js";

/** Raised for a page of a table that cannot be read now. */
export class PageMissing extends Error {}

/** Fetch a page of a daily deal, today's without a `day`; return it, or a sentence that says why it cannot be read. */
export const fetchDaily = (rules, day, page = 0) =>
  fetchAnswer(`/daily?${new URLSearchParams(day ? { rules, day, page } : { rules, page })}`);

/**
 * Return the whole table of a deal that is opened, our own row, and what was proved, in sentences, as `fairest daily`
 * proves it. `page` is its first page, `note` what this browser was shown of our attempt, or null. Throws `Cheated`, and `PageMissing`.
 */
export async function openDaily(page, note) {
  const rows = [...page.rows];
  for (let number = 1; number < page.pages; number += 1) {
    const more = await fetchDaily(page.rules, page.day, number);
    if (typeof more === "string") throw new PageMissing(TEXT.dailyPageMissing(more));
    rows.push(...more.rows);
  }
  checkTable(rows);
  if (!page.secret || !page.seal) {
    if (rows.length) throw new Cheated("The table is opened, but the server does not show the secret of its deal.");
    return { rows: [], own: null, proofs: [TEXT.dailyNeverDealt] };
  }
  if (page.seal.round !== dailyRound(page.day, page.rules) || page.seal.commitment !== page.commitment)
    throw new Cheated("The seal of the daily deal is not that of its day and its variant.");
  checkBeacon(page.day, page.seal);
  checkOpening(page.seal, page.rules, page.secret, note?.envelopes ?? null);
  if (!note) return { rows, own: null, proofs: [TEXT.dailySecretProved] };
  if (!isSameSeal(note.seal, page.seal)) throw new Cheated("The daily deal has another seal now than when you raced it.");
  const own = note.result ? findOwnRow(rows, note.name, note.result) : null;
  return { rows, own, proofs: [TEXT.dailySecretProved, TEXT.dailyDeckProved, ...(own ? [TEXT.dailyRowProved] : [])] };
}
