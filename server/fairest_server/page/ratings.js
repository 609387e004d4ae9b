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

/** Return the rating of a player in a variant as {rating, deviation, rounds}; null if there is none, or it cannot be read. */
async function fetchRating(name, rules) {
  const page = await fetchPlayer(name);
  return (typeof page === "string" ? null : page.ratings.find((each) => each.rules === rules)) ?? null;
}

/** What a match changes in the rating of a player; it is read when the match begins, and again behind its end. */
export class RatingChange {
  /** The rating after the match with its change, in words; empty until it is known. */
  text = "";
  #read;
  #before;

  constructor(name, rules) {
    this.#read = () => fetchRating(name, rules);
    this.#before = this.#read();
  }

  /** Wait until the server has rated the match, for some seconds; then set the text, say it, and call `onText`. */
  async follow(onText) {
    const before = await this.#before;
    for (let tried = 0; tried < TRIES && !this.text; tried += 1) {
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      const now = await this.#read();
      if (!now || now.rounds <= (before?.rounds ?? 0)) continue;
      this.text = TEXT.ratingChanged({ ...now, change: before ? now.rating - before.rating : null });
      announce(this.text);
      onText();
    }
  }
}
