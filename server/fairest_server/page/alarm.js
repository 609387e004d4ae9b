// What is shown in the place of everything else when the server was caught.
import { make } from "./dom.js";
import { TEXT } from "./texts.js";

export const alarm = (sentence) =>
  make("div", { class: "alarm", role: "alert" }, make("strong", {}, TEXT.cheated), make("p", {}, TEXT.cheatedAdvice), make("p", {}, sentence));
