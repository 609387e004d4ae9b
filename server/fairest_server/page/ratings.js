// Ratings as the server's pages answer them: the leaderboard of a variant, a player, and what a match has changed.
import { announce } from "./dom.js";
import { TEXT } from "./texts.js";

/** How often, and after which time, a rating is read again until a match has changed it. */
const TRIES = 4;
const PAUSE_MS = 1500;

/** Fetch an answer of the server; return it, or a sentence that says why it cannot be read. */
export async function fetchAnswer(path) {
  try {
    const answer = await fetch(path);
    return answer.ok ? await answer.json() : (await answer.text()).trim();
  } catch (fault) {
    if (fault instanceof TypeError) return TEXT.ratingsFault; // the server is away
    throw fault;
  }
}

export const fetchLeaderboard = (rules, page) => fetchAnswer(`/leaderboard?${new URLSearchParams({ rules, page })}`);

export const fetchPlayer = (name, against = null) =>
  fetchAnswer(`/players/${encodeURIComponent(name)}${against ? `?${new URLSearchParams({ against })}` : ""}`);

/**
 * Return the rating of a player in a variant as {rating, deviation, rounds}, with the rounds `won` of the player and of
 * another one between the two, null before the first one. Return null if there is no rating, or it cannot be read.
 */
async function fetchRating(name, other, rules) {
  const page = await fetchPlayer(name, other);
  const inVariant = (list) => list.find((each) => each.rules === rules);
  const rating = typeof page === "string" ? null : inVariant(page.ratings);
  return rating ? { ...rating, won: inVariant(page.pairs)?.wins ?? null } : null;
}

/** What a match changes in the rating of a player, and the score against the other one; read before and after the match. */
export class RatingChange {
  /** The rating after the match with its change, in words; empty until it is known. */
  text = "";
  #read;
  #before;

  #other;

  constructor(name, other, rules) {
    this.#other = other;
    this.#read = () => fetchRating(name, other, rules);
    this.#before = this.#read();
  }

  /** Wait until the server has rated the match, for some seconds; then set the text, say it, and call `onText`. */
  async follow(onText) {
    const before = await this.#before;
    for (let tried = 0; tried < TRIES && !this.text; tried += 1) {
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      const now = await this.#read();
      if (!now || now.rounds <= (before?.rounds ?? 0)) continue;
      this.text = TEXT.ratingChanged({ ...now, change: before ? now.rating - before.rating : null, other: this.#other });
      announce(this.text);
      onText();
    }
  }
}
