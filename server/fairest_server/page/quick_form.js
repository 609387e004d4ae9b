// The form of the lobby for a race against anybody who waits as well.
import { make } from "./dom.js";
import DATA from "./record_data.js";
import { TEXT } from "./texts.js";

/** The times in seconds after which a program may become the opponent, null for never; the second one is the default. */
const RIVAL_SECONDS = [20, 60, 300, null];
/** The levels of `fairest house`, the weakest first; null for any. */
export const RIVAL_LEVELS = [null, "careless", "learner", "club", "strong", "expert"];

const choices = (values, text) => values.map((value) => make("option", { value: value ?? "" }, text(value)));

/** Return the form. `onQuick(wish, name)` is called with what it says: `wish` has the fields of a `queue`. */
export function quickForm(onQuick) {
  const variant = make("select", {}, ...DATA.terms.rules.map((value) => make("option", { value }, value)));
  const rival = make("select", { class: "rival" }, ...choices(RIVAL_SECONDS, TEXT.rivalAfter));
  const level = make("select", { class: "level" }, ...choices(RIVAL_LEVELS, TEXT.rivalLevel));
  rival.value = RIVAL_SECONDS[1];
  rival.addEventListener("change", () => (level.disabled = !rival.value));
  const name = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", maxlength: 20, autocomplete: "nickname" });
  const submit = (event) => {
    event.preventDefault();
    const wish = rival.value ? { rival_after_seconds: Number(rival.value), rival_level: level.value || null } : {};
    onQuick({ rules: variant.value, ...wish }, name.value || null);
  };
  return make(
    "form", { class: "quick", onsubmit: submit },
    make("h2", {}, TEXT.quickTitle), make("p", { class: "hint" }, TEXT.quickHint),
    make("label", {}, TEXT.variant, variant), make("label", {}, TEXT.rival, rival), make("label", {}, TEXT.rivalStrength, level),
    make("label", {}, TEXT.yourName, name),
    make("button", { class: "main" }, TEXT.quick),
  );
}
