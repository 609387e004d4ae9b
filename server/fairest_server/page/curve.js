// The progress of both players as two lines, and the lead as a bar.
import { make, makeSvg, setText } from "./dom.js";
import { TEXT } from "./texts.js";

const [WIDTH, HEIGHT] = [600, 150];

/** Both curves. Points are [ms, placed] for each seat, in the order of time. */
export class Curve {
  #lines = [0, 1].map((seat) => makeSvg("path", { class: `curve seat-${seat}` }));
  #cursor = makeSvg("line", { class: "cursor", y1: 0, y2: HEIGHT, x1: -9, x2: -9 });
  #label = makeSvg("title");
  element = makeSvg(
    "svg",
    { class: "curves", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
    this.#label, ...this.#lines, this.#cursor,
  );

  /** Draw the points of both seats up to `until_ms`; `at_ms` is where a replay stands, or null. */
  draw(names, points, goal, until_ms, at_ms = null) {
    setText(this.#label, TEXT.curve(names));
    const x = (ms) => ((WIDTH * ms) / Math.max(1, until_ms)).toFixed(1);
    const y = (placed) => (HEIGHT - 3 - ((HEIGHT - 6) * placed) / Math.max(1, goal)).toFixed(1);
    this.#lines.forEach((line, seat) => {
      const steps = points[seat].map(([ms, placed], at) => (at ? `H${x(ms)}V${y(placed)}` : `M${x(ms)} ${y(placed)}`));
      line.setAttribute("d", steps.length ? `${steps.join("")}H${x(until_ms)}` : "");
    });
    const place = at_ms === null ? -9 : x(at_ms);
    this.#cursor.setAttribute("x1", place);
    this.#cursor.setAttribute("x2", place);
  }
}

/** The counts of both players as one bar that shows the lead. */
export class LeadBar {
  #sides = [0, 1].map((seat) => make("span", { class: `side seat-${seat}` }));
  #counts = [0, 1].map((seat) => make("span", { class: `lead-count seat-${seat}` }));
  #lead = make("strong", { class: "lead" });
  element = make(
    "div", { class: "lead-bar", role: "img" },
    this.#counts[0], make("span", { class: "sides" }, ...this.#sides), this.#counts[1], this.#lead,
  );

  draw(names, placed, goal) {
    placed.forEach((count, seat) => {
      this.#sides[seat].style.width = `${(50 * count) / Math.max(1, goal)}%`;
      setText(this.#counts[seat], String(count));
    });
    setText(this.#lead, TEXT.lead(names, placed));
    this.element.setAttribute("aria-label", TEXT.counted(names, placed));
  }
}
