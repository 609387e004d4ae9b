// The table of a race: both boards with their heads, the bar of the lead, and the curve of progress.
import { goalOf, placedOn } from "./board.js";
import { BoardView, SeatHead } from "./board_view.js";
import { Curve, LeadBar } from "./curve.js";
import { make, setText } from "./dom.js";
import { TEXT } from "./texts.js";

/** Return whether a scene has boards to draw. */
export const hasBoards = ({ phase, seats }) => Boolean(seats[0].board) && ["countdown", "racing", "finished"].includes(phase);

/** Return the names of both players as they are drawn; `own` is our seat, null for a spectator. */
export const namesOf = ({ seats }, own) =>
  seats.map(({ name }, seat) => (seat === own ? `${name} (${TEXT.you})` : (name ?? "…")));

/**
 * What `draw` takes is a race as one viewer sees it: `scene`; `seat`, ours or null; `names`; `now`, the server's clock;
 * `ownBoard`, our board with the moves made that the server has not answered; `sent`, the number of those; `placed`, the
 * counts of the last tick or null; `picked` and `fitting`, as a board takes them; `words`, the check words, null before the
 * deal, and not there if nothing was checked.
 */
export class RaceTable {
  /** Called with a slot of our own board that is clicked. */
  onSlot = null;
  /** Holds the buttons of a player. */
  actions = make("div", { class: "actions" });
  element = make("div", { class: "table" });
  #points = [[], []];
  #startedAt = null;
  #boards = [];
  #shape = "";
  #heads = [new SeatHead(), new SeatHead()];
  #curve = new Curve();
  #lead = new LeadBar();
  #words = make("p", { class: "words" });

  /** Forget the progress of a round, because another begins. */
  beginRound() {
    [this.#points, this.#startedAt] = [[[], []], null];
  }

  /** Note that the race begins now, at `now` of the server's clock. */
  start(now) {
    this.#startedAt = now;
  }

  draw(race) {
    this.#build(race);
    const { scene: { seats, phase, options }, seat: own, names, sent = 0, picked = null, fitting = [] } = race;
    const counts = countsOf(race);
    seats.forEach((seat, place) => {
      const isOwn = place === own;
      const board = isOwn ? race.ownBoard : seat.board;
      this.#boards[place].draw(board, isOwn ? { picked, fitting } : {});
      const state = seat.has_stopped && phase === "racing" ? TEXT.hasStopped
        : isOwn ? (sent ? TEXT.unconfirmed(sent) : "")
          : phase === "racing" && options.spectators !== "open" ? TEXT.shown(placedOn(board), goalOf(board)) : "";
      this.#heads[place].draw(names[place], TEXT.count(counts[place], goalOf(board)), state);
    });
    this.drawProgress(race);
  }

  /** Redraw the bar and the curves, to which the present counts are added. */
  drawProgress(race) {
    if (!this.#shape) return;
    const { scene: { seats, until_ms, duration_ms, options, phase }, names, now, words } = race;
    const [goal, counts] = [goalOf(seats[0].board), countsOf(race)];
    // A viewer that came later knows the start from the limit, as long as nobody has stopped.
    this.#startedAt ??= phase === "racing" ? until_ms - 1000 * options.limit_seconds : null;
    const elapsed = duration_ms ?? Math.max(0, now - (this.#startedAt ?? now));
    counts.forEach((count, seat) => {
      const points = this.#points[seat];
      if (points.at(-1)?.[1] !== count) points.push([elapsed, count]);
    });
    this.#lead.draw(names, counts, goal);
    this.#curve.draw(names, this.#points, goal, Math.max(1, elapsed));
    if (words !== undefined) setText(this.#words, words ? TEXT.checkWords(words) : TEXT.sealed);
  }

  #build({ scene: { round, seats, options }, seat: own }) {
    const shape = JSON.stringify([round, own]);
    if (this.#shape === shape) return;
    this.#shape = shape;
    this.#boards = seats.map((_, place) => new BoardView(place === own ? (slot) => this.onSlot?.(slot) : null));
    const order = own === 1 ? [1, 0] : [0, 1];
    const columns = order.map((place) =>
      make("div", { class: `seat seat-${place}` }, this.#heads[place].element, this.#boards[place].element));
    const hint = own === null ? (options.spectators === "open" ? TEXT.openRoom : TEXT.horizon) : TEXT.keys;
    this.element.replaceChildren(
      this.#lead.element, make("div", { class: "seats" }, ...columns), this.actions,
      make("p", { class: "hint" }, hint), this.#curve.element, this.#words,
    );
  }
}

/** Return how many cards each player has placed, as far as it is known: ticks may be ahead of boards. */
const countsOf = ({ scene: { seats }, seat: own, ownBoard, placed = null }) =>
  seats.map(({ board }, place) => (place === own ? placedOn(ownBoard) : Math.max(placedOn(board), placed?.[place] ?? 0)));
