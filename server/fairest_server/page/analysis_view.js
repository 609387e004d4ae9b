// The replay of a race with its analysis, which a worker computes, so that the page stays quick.
import { make, makeSvg, setText } from "./dom.js";
import { Replay } from "./replay_view.js";
import { TEXT, clock } from "./texts.js";

const [WIDTH, HEIGHT] = [600, 100];
/** The worker is a module beside the script of the page. */
const workerUrl = () => new URL("analysis_worker.js", document.querySelector('script[src$="/joined.js"]').src);

/** Return the elements that show a race as `soloRace` describes it: its replay with `head` above it, and its analysis. */
export function showRace(race, head) {
  const replay = new Replay(race.names, race.steps, head);
  return [replay.element, new AnalysisView(race, (...position) => replay.showPosition(...position)).element];
}

/** The analysis of a race: offered, under way, or done. `onPosition` is `showPosition` of the replay. */
class AnalysisView {
  #race;
  #onPosition;
  /** The worker that computes; null while none does. */
  #worker = null;
  #button = make("button", { type: "button", onclick: () => (this.#worker ? this.#end(TEXT.analysisStopped) : this.#begin()) }, TEXT.analyse);
  #progress = make("progress", { max: 1, value: 0, hidden: true, "aria-label": TEXT.analysis });
  /** How much is done. It changes too often to be read aloud. */
  #share = make("span");
  #state = make("output");
  #found = make("div", { tabindex: -1 });
  element;

  constructor(race, onPosition) {
    this.#race = race;
    this.#onPosition = onPosition;
    this.element = make(
      "section", { class: "analysis" }, make("h2", {}, TEXT.analysis), make("p", { class: "hint" }, TEXT.analysisHint),
      make("p", { class: "actions" }, this.#button, this.#progress, this.#share, this.#state), this.#found);
  }

  #begin() {
    try {
      this.#start(new Worker(workerUrl(), { type: "module" }));
    } catch (fault) {
      if (!(fault instanceof DOMException || fault instanceof TypeError)) throw fault;
      setText(this.#state, TEXT.analysisFault); // a browser without workers, or one that may not start them
    }
  }

  #start(worker) {
    // What a worker has sent may arrive after it was stopped.
    const whileRunning = (act) => (event) => worker === this.#worker && act(event);
    worker.addEventListener("message", whileRunning(({ data }) => (typeof data === "number" ? this.#advance(data) : this.#finish(data))));
    worker.addEventListener("error", whileRunning(() => this.#end(TEXT.analysisFault)));
    worker.postMessage(this.#race);
    this.#worker = worker;
    setText(this.#button, TEXT.stopAnalysis);
    setText(this.#state, "");
    this.#progress.hidden = false;
    this.#advance(0);
  }

  #advance(share) {
    this.#progress.value = share;
    setText(this.#share, TEXT.analysisShare(share));
  }

  #end(sentence) {
    this.#worker.terminate();
    this.#worker = null;
    this.#progress.hidden = true;
    setText(this.#share, "");
    setText(this.#button, TEXT.analyse);
    setText(this.#state, sentence);
  }

  #finish({ verdict, leastCost, seats }) {
    this.#end(TEXT.analysisDone);
    this.#found.replaceChildren(
      make("p", {}, TEXT.verdicts[verdict]),
      ...seats.flatMap((seat, number) => this.#seatParts(this.#race.names[number], seat, number, leastCost)),
      ...(seats.some(({ mistakes }) => mistakes.length) ? [make("p", { class: "hint" }, TEXT.moveCodes)] : []));
    // A button that is hidden loses the focus: those who read by keys go on at the result.
    if (document.activeElement === this.#button) this.#found.focus({ preventScroll: true });
    this.#button.hidden = true;
  }

  #seatParts(name, { moves, cost, mistakes }, number, leastCost) {
    if (!moves.length) return [make("p", {}, TEXT.noMove(name))];
    const items = mistakes.map((mistake, at) => {
      const time = clock(mistake.at_ms);
      const onclick = () => this.#onPosition(mistake.step - 1, TEXT.markedMove(mistake, name, time), number, mistake.best);
      const show = make("button", { type: "button", "aria-label": TEXT.showPositionOf(name, at + 1), onclick }, TEXT.showPosition);
      return make("li", {}, make("p", {}, TEXT.mistake(mistake, time), TEXT.afterwards(mistake)), make("p", {}, TEXT.better(mistake.better)), show);
    });
    return [
      make("h3", {}, name), chanceCurve(name, moves, number), make("p", {}, TEXT.costs(moves.length, cost)),
      ...(items.length ? [make("p", {}, TEXT.mistakes), make("ol", {}, ...items)] : [make("p", {}, TEXT.noMistake(leastCost))])];
  }
}

/** Return the chances after the moves of a seat as a line, from 0 at the bottom to 1 at the top. */
function chanceCurve(name, moves, seat) {
  const heights = moves.map(({ chance }) => (HEIGHT - 3 - (HEIGHT - 6) * chance).toFixed(1));
  const steps = heights.map((height, at) => `${at ? "L" : "M"}${((WIDTH * at) / moves.length).toFixed(1)} ${height}`);
  return makeSvg(
    "svg", { class: "curves", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
    makeSvg("title", {}, TEXT.chanceCurve(name)), makeSvg("path", { class: `curve seat-${seat}`, d: `${steps.join("")}L${WIDTH} ${heights.at(-1)}` }));
}
