// The worker of an analysis: it analyses the race that it is sent, and reports its progress, then the result.
import { analyse } from "./analysis.js";

/** Progress is reported in steps of this size. */
const SHARE = 0.01;

addEventListener("message", ({ data }) => {
  let reported = 0;
  for (const news of analyse(data)) {
    if (typeof news === "number" && news < reported + SHARE) continue;
    reported = news;
    postMessage(news);
  }
});
