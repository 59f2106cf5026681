// Where an address opens, and which rule decides: what hatbox.rules.test answers, drawn.

import {h, icon, patternText, tile} from "./dom.js";
import {identities} from "./identities_state.js";

// here: the cookieStoreId of the identity in which the address was typed, or undefined.
export function verdictBox({outcome, title, identities: ids, matches, notes}, here) {
  const face = identities.get(ids.includes(here) ? here : ids[0]);
  const glyph = outcome === "blocked" ? "ui-warn" : "ui-sites";
  const lead = face ? tile(face, "t28") : h("span", {class: "verdict-glyph"}, icon(glyph));
  const body = h("div", {class: "grow"}, h("strong", {}, title), notes.map(note), matches.length > 0 && rules(matches));
  return h("div", {class: "verdict", "data-color": face?.color}, lead, body);
}

function note(text) {
  return h("p", {class: "muted small"}, text);
}

function rules(matches) {
  return h("ol", {}, matches.map(({pattern, decides, reason}) => {
    const mark = icon(decides ? "ui-check" : "ui-x");
    return h("li", {class: decides ? "won" : null}, mark, patternText(pattern), h("span", {class: "why"}, reason));
  }));
}

export function noVerdict(text) {
  return h("div", {class: "verdict muted"}, text);
}
