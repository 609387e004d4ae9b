// What each state of the foundations says about each rank, made when it is first needed: `layout_tables.py` of fairest_cli.
//
// A rank is a number from 0 (ace) to 12 (king); `NO_CARD` stands for the top of an empty pile. The state of all
// foundations is one number, the key: the sum of each foundation's count times `unitOf` the foundation.
import { sequenceOf } from "./board.js";
import { BLOCK_ROWS, UNNEEDED, WEIGHTS } from "./pile_weights.js";

export const RANK_COUNT = 13;
export const NO_CARD = 13;
/** States that are kept of a layout. */
const MOST_STATES = 10000;

/** What one card of a foundation adds to the key. No shifts: the key of eight foundations has 32 bits. */
export const unitOf = (foundation) => 16 ** foundation;

const countOf = (key, foundation) => Math.floor(key / unitOf(foundation)) % 16;
const topScore = (steps) =>
  (steps > 0 ? WEIGHTS.topLater + WEIGHTS.topLaterSteps * steps : steps < 0 ? -WEIGHTS.topSooner : 0);

/** The states of a layout by their keys. */
export class LayoutTables {
  #sequences;
  #places;
  #states = new Map();

  constructor(layout) {
    this.#sequences = layout.map((foundation) => sequenceOf(foundation).map((rank) => rank - 1));
    this.#places = this.#sequences.map((sequence) => Array.from({ length: RANK_COUNT }, (_, rank) => sequence.indexOf(rank)));
  }

  /**
   * Return the state of a key. Each list has an item for each rank: `adding` is what a card of it adds to the key on the
   * least advanced foundation that needs it, 0 if none does; `advance` is how far that one is; `urgency` is the number of
   * steps until a foundation needs the rank; `blocking` is its row of `BLOCK_ROWS`; `onTop` is filled by `topScores`.
   */
  at(key) {
    let state = this.#states.get(key);
    if (state === undefined) {
      state = this.#make(key);
      this.#states.set(key, state);
    }
    return state;
  }

  /** Forget all states if there are too many. Call it between games. */
  trim() {
    if (this.#states.size > MOST_STATES) this.#states.clear();
  }

  #make(key) {
    const counts = this.#sequences.map((_, foundation) => countOf(key, foundation));
    const [adding, advance] = [0, 0].map((zero) => new Array(RANK_COUNT + 1).fill(zero));
    counts.forEach((count, foundation) => {
      const sequence = this.#sequences[foundation];
      if (count >= sequence.length) return;
      const [wanted, share] = [sequence[count], count / sequence.length];
      if (!adding[wanted] || share < advance[wanted]) [adding[wanted], advance[wanted]] = [unitOf(foundation), share];
    });
    const [urgency, blocking] = [[], []];
    for (let rank = 0; rank < RANK_COUNT; rank++) {
      const ahead = this.#places.map((places, foundation) => places[rank] - counts[foundation]);
      const nearest = Math.min(UNNEEDED, ...ahead.filter((steps) => steps >= 0));
      const isLast = ahead.every((steps, foundation) =>
        steps < 0 || this.#places[foundation][rank] === this.#sequences[foundation].length - 1);
      urgency.push(nearest);
      blocking.push(BLOCK_ROWS[Number(isLast)][nearest]);
    }
    return { adding, advance, urgency, blocking, onTop: new Array(RANK_COUNT).fill(null) };
  }

  /** Return what each top card adds to the score of its pile for a card of `rank`, and last what an empty pile has. */
  topScores(key, rank) {
    const state = this.at(key);
    const { urgency, blocking } = state;
    const own = urgency[rank];
    const scores = urgency.map((steps) => topScore(steps - own));
    scores[rank] += WEIGHTS.sameRank;
    const isLast = blocking[rank] === BLOCK_ROWS[1][own];
    scores.push(WEIGHTS.empty + WEIGHTS.emptySteps * own + (isLast ? WEIGHTS.lastOnEmpty : 0));
    const [nearest, seconds] = [new Map(), new Set()];
    this.#sequences.forEach((sequence, foundation) => {
      const [place, count] = [this.#places[foundation][rank], countOf(key, foundation)];
      if (place < count) return;
      const [following, second] = [sequence[place + 1], sequence[place + 2]];
      if (following !== undefined) nearest.set(following, Math.min(place - count, nearest.get(following) ?? NO_CARD));
      if (second !== undefined) seconds.add(second);
    });
    for (const [following, steps] of nearest) scores[following] += WEIGHTS.follows - WEIGHTS.followsSteps * steps;
    for (const second of seconds) scores[second] += WEIGHTS.followsSecond;
    state.onTop[rank] = scores;
    return scores;
  }
}
