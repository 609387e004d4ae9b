// A table of texts that fits into a narrow screen.
import { make } from "./dom.js";

/** Return a table; `rows` are lists of texts or elements, of which the first heads its row. */
export function table(caption, heads, rows) {
  const head = make("tr", {}, ...heads.map((each) => make("th", { scope: "col" }, each)));
  const body = rows.map(([first, ...rest]) =>
    make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((each) => make("td", {}, each))));
  // On a narrow screen the table scrolls in its frame, which the keyboard must reach.
  return make("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body)));
}
