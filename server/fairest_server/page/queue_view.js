// The wait for an opponent in the queue: how many wait, for how long, and the way out.
import { STATUS } from "./connection.js";
import { make, setText } from "./dom.js";
import { TEXT, clock } from "./texts.js";

/** The part of a room's page that is there until the room is. */
export class QueueView {
  #text = make("p", { class: "queue", role: "status" });
  #time = make("p", { class: "clock" });
  #rival = make("p", { class: "rival-due" });
  element;

  constructor(onCancel) {
    const cancel = make("button", { type: "button", onclick: onCancel }, TEXT.cancelQueue);
    this.element = make("div", { class: "waiting" }, this.#text, this.#time, this.#rival, cancel);
  }

  /** Draw the wait of a connection that is in the queue. */
  draw({ queued: { rules, waiting, since_ms: since }, queueing: { rival_after_seconds: seconds = null }, status, now }) {
    setText(this.#text, TEXT.queueWaits(rules, waiting));
    setText(this.#time, status === STATUS.LOST ? TEXT.lost : TEXT.queueWaited(clock(now - since)));
    setText(this.#rival, seconds === null ? "" : TEXT.rivalDue(clock(since + 1000 * seconds - now)));
  }
}
