// Small helpers to build elements. Texts are always set as text: nothing that a server sends becomes markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Return a new element of HTML with these attributes, listeners (`onclick`) and children. */
export const make = (tag, properties = {}, ...children) => filled(document.createElement(tag), properties, children);

/** Return a new element of SVG. */
export const makeSvg = (tag, properties = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), properties, children);

/** Set the text of an element, unless it has it already, so that screen readers are told of changes only. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Whether the reader has asked for less motion. */
export const isMotionReduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Tell screen readers a sentence. */
export function announce(sentence) {
  setText(document.getElementById("announcer"), sentence);
}
