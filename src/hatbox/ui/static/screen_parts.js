// Parts that most screens have: head, search field, segments, an error of loading.

import {btn, errorLine, h, icon} from "./dom.js";

// The head of a screen: its h1, a line beside it, and controls at the end.
export function header(title, sub, ...end) {
  const heading = h("h1", {}, title);
  return h("div", {class: "head"}, heading, sub && h("span", {class: "sub"}, sub), h("span", {class: "grow"}), end);
}

// oninput gets the text. Escape empties the field (keyboard.js), "/" focuses it.
export function searchBox(label, value, oninput) {
  const field = h("input", {
    class: "field",
    type: "search",
    placeholder: label,
    "aria-label": label,
    value,
    oninput: () => oninput(field.value),
    autocomplete: "off",
    spellcheck: "false",
  });
  return h("div", {class: "search"}, icon("ui-search"), field, h("kbd", {"aria-hidden": "true"}, "/"));
}

// One choice of several. options: [[value, text, glyph?], …]; with a glyph, the text is the name of the button.
export function segment(label, options, value, pick) {
  const buttons = options.map(([option, text, glyph]) => {
    const name = glyph ? {"aria-label": text, title: text} : {};
    const props = {type: "button", "aria-pressed": String(option === value), "data-value": option, ...name};
    return h("button", {...props, onclick: () => choose(option)}, glyph ? icon(glyph) : text);
  });
  function choose(option) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === option));
    pick(option);
  }
  return h("div", {class: "seg", role: "group", "aria-label": label}, buttons);
}

// In place of what could not be loaded.
export function loadError(message, again) {
  return h("div", {class: "load-error"}, errorLine(message), btn("Try again", again, {kind: "sm"}));
}

// Rows without content, where rows will be.
export function skeletonRows(label) {
  const row = () => h("div", {class: "skel-row"}, h("i"), h("i"), h("i"));
  const props = {class: "skel-rows", role: "status", "aria-busy": "true", "aria-label": label};
  return h("div", props, Array.from({length: 8}, row));
}

// Fills a place with rows without content when the first answer takes longer than 150 ms. What is drawn later in this
// place replaces them. Returns a function that ends the waiting.
export function skeletonAfter(place, label, isReady, delay = 150) {
  const timer = setTimeout(() => isReady() || place.replaceChildren(skeletonRows(label)), delay);
  return () => clearTimeout(timer);
}

// Calls `show` when the promise takes longer than 150 ms: an answer that comes at once needs no skeleton.
export function afterAMoment(promise, show, delay = 150) {
  const timer = setTimeout(show, delay);
  const stop = () => clearTimeout(timer);
  promise.then(stop, stop);
  return promise;
}
