// The room that the markup brings, as a spectator was shown it when the page was asked for: drawn while the connection is
// made, which replaces it. Nothing of it is proved yet; the witness begins with the connection.
import { make } from "./dom.js";
import { RaceTable, hasBoards, namesOf } from "./race_table.js";
import { readEntropies } from "./storage.js";
import { TEXT } from "./texts.js";

/** Draw the view in `main`; return its table, or null if there is nothing to draw. */
function drawFirst() {
  const text = document.getElementById("first-view")?.textContent;
  if (!text) return null;
  const { scene, now_ms: now } = JSON.parse(text);
  // A player has an own board, which is ahead of what spectators see.
  if (!hasBoards(scene) || Object.hasOwn(readEntropies(), scene.round)) return null;
  const table = new RaceTable();
  table.draw({ scene, seat: null, names: namesOf(scene, null), now });
  const status = make("div", { class: "status" }, TEXT.connecting);
  document.getElementById("view").replaceChildren(make("section", { class: "room", "aria-busy": "true" }, status, table.element));
  return table;
}

/** The table of a race that was drawn already, or null. */
export const firstTable = drawFirst();
