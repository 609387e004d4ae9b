// The form of the lobby for a race against anybody who waits as well.
import { make } from "./dom.js";
import DATA from "./record_data.js";
import { TEXT } from "./texts.js";

/** Return the form. `onQuick(rules, name)` is called with what it says. */
export function quickForm(onQuick) {
  const variant = make("select", {}, ...DATA.terms.rules.map((value) => make("option", { value }, value)));
  const name = make("input", { pattern: "[A-Za-z0-9_\\-]{2,20}", maxlength: 20, autocomplete: "nickname" });
  const submit = (event) => {
    event.preventDefault();
    onQuick(variant.value, name.value || null);
  };
  return make(
    "form", { class: "quick", onsubmit: submit },
    make("h2", {}, TEXT.quickTitle), make("p", { class: "hint" }, TEXT.quickHint),
    make("label", {}, TEXT.variant, variant), make("label", {}, TEXT.yourName, name),
    make("button", { class: "main" }, TEXT.quick),
  );
}
