// A worker of the page: it is told what to analyse, and tells how much is done and last the analysis.
import { analyse } from "./analysis.js";

/** The share that is done is told when it has grown by this. */
const SHARE = 0.01;

addEventListener("message", ({ data }) => {
  let told = 0;
  for (const news of analyse(data)) {
    if (typeof news === "number" && news < told + SHARE) continue;
    told = news;
    postMessage(news);
  }
});
