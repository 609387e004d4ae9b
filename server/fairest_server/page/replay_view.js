// A replay with a seek bar: the boards, the curves, and what happened at each step.
import { goalOf, placedOn } from "./board.js";
import { BoardView, SeatHead } from "./board_view.js";
import { Curve, LeadBar } from "./curve.js";
import { announce, make, setText } from "./dom.js";
import { TEXT, clock } from "./texts.js";

const SPEEDS = [1, 2, 5, 10, 30];
const KEY_STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/** The replay of one round of two players, or of the race of one. */
export class Replay {
  #names;
  #steps;
  #times;
  #goal;
  #points;
  #at = 0;
  #playing = null;
  #boards = [new BoardView(), new BoardView()];
  #heads = [new SeatHead(), new SeatHead()];
  #curve = new Curve();
  #lead = new LeadBar();
  #seek = make("input", { type: "range", min: 0, value: 0, "aria-label": TEXT.position });
  #place = make("output");
  #sentence = make("p", { class: "sentence" });
  #button = make("button", { type: "button", onclick: () => this.#toggle() }, TEXT.play);
  #speed = make("select", { "aria-label": TEXT.speed }, ...SPEEDS.map((speed) => make("option", { value: speed }, `×${speed}`)));
  element;

  /** `steps` are those of `stepsOf`; `head` are the elements above the boards. */
  constructor(names, steps, head) {
    this.#names = names;
    this.#steps = steps;
    this.#times = steps.map(({ event }) => event?.at_ms ?? 0);
    this.#goal = goalOf(steps[0].race.racers[0].board);
    this.#points = [0, 1].map((seat) =>
      (seat in names ? steps.map(({ race }, step) => [this.#times[step], placedOn(race.racers[seat].board)]) : []));
    this.#seek.max = steps.length - 1;
    this.#speed.value = 5;
    this.#seek.addEventListener("input", () => this.#show(Number(this.#seek.value)));
    const seats = names.map((_, seat) =>
      make("div", { class: "seat" }, this.#heads[seat].element, this.#boards[seat].element));
    this.element = make(
      "section", { class: "replay", tabindex: 0, onkeydown: (event) => this.#key(event) }, ...head,
      ...(names.length > 1 ? [this.#lead.element] : []),
      make("div", { class: names.length > 1 ? "seats" : "seats alone" }, ...seats), this.#sentence, this.#curve.element,
      make("div", { class: "controls" }, this.#button, this.#seek, this.#place, this.#speed),
    );
    this.#show(steps.length - 1);
  }

  /** Show the race after this step with a sentence about it, and a move of a seat marked on the board, and bring that into sight. */
  showPosition(step, sentence, seat, move) {
    this.#pause();
    this.#show(step);
    const fitting = move === "redeal" ? [] : [move[1]];
    this.#boards[seat].draw(this.#steps[this.#at].race.racers[seat].board, { picked: move[0], fitting });
    setText(this.#sentence, sentence);
    this.element.focus();
    this.#heads[seat].element.scrollIntoView();
  }

  #show(at) {
    this.#at = Math.min(Math.max(at, 0), this.#steps.length - 1);
    const { event, card, race } = this.#steps[this.#at];
    const placed = race.racers.map(({ board }) => placedOn(board));
    this.#names.forEach((name, seat) => {
      const { board, ending } = race.racers[seat];
      this.#boards[seat].draw(board);
      this.#heads[seat].draw(name, TEXT.count(placed[seat], this.#goal), ending ? TEXT.hasStopped : "");
    });
    if (this.#names.length > 1) this.#lead.draw(this.#names, placed, this.#goal);
    this.#curve.draw(this.#names, this.#points, this.#goal, this.#times.at(-1), this.#times[this.#at]);
    this.#seek.value = this.#at;
    const time = clock(this.#times[this.#at]);
    setText(this.#place, TEXT.step(this.#at, this.#steps.length - 1, time));
    this.#seek.setAttribute("aria-valuetext", `${this.#at}, ${time}`);
    setText(this.#sentence, this.#describe(event, card));
  }

  #describe(event, card) {
    if (!event) return TEXT.started;
    if (event.type === "stop") return TEXT.stoppedBy(event.seats.map((seat) => this.#names[seat]), event.ending);
    return TEXT.moved(this.#names[event.seat], event.move, card);
  }

  #toggle() {
    if (this.#playing !== null) {
      this.#pause();
      return;
    }
    if (this.#at === this.#steps.length - 1) this.#show(0);
    setText(this.#button, TEXT.pause);
    this.#schedule();
  }

  #pause() {
    clearTimeout(this.#playing);
    this.#playing = null;
    setText(this.#button, TEXT.play);
  }

  #schedule() {
    if (this.#at === this.#steps.length - 1) {
      this.#pause();
      return;
    }
    const wait_ms = (this.#times[this.#at + 1] - this.#times[this.#at]) / Number(this.#speed.value);
    this.#playing = setTimeout(() => {
      this.#show(this.#at + 1);
      this.#schedule();
    }, wait_ms);
  }

  #key(event) {
    if (event.target === this.#speed) return;
    if (event.key === " " && event.target !== this.#button) this.#toggle();
    else if (event.key in KEY_STEPS && event.target !== this.#seek) {
      this.#pause();
      this.#show(this.#at + KEY_STEPS[event.key]);
      announce(this.#sentence.textContent);
    } else return;
    event.preventDefault();
  }
}
