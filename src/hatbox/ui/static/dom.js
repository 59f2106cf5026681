// Elements without markup: text reaches the page only through textContent and attributes, so that a name such as
// "<img onerror>" is just a name.

import {icon} from "./glyphs.js";
import {plural} from "./numbers.js";

export {icon, plural};

const PROPERTIES = new Set(["value", "checked", "open", "disabled", "indeterminate"]);

// h("a", {href: "#/sites", onclick: go}, "Sites"): an element. Props that are false, null or undefined are left out;
// "on…" adds a listener; children may be nested arrays, nodes and strings, and false or null for none.
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (PROPERTIES.has(key)) el[key] = value;
    else el.setAttribute(key, value === true ? "" : value);
  }
  el.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return el;
}

// The face of an identity: its glyph on its color. size: "t16", "t28", "t36", "t48" or "" (20 px).
export function tile(identity, size = "", tag = "span", props = {}) {
  const cls = `tile ${size}${identity.hidden ? " is-hidden" : ""}`;
  return h(tag, {class: cls, "data-color": identity.color, ...props}, icon(`id-${identity.icon}`));
}

// Tile and name in one; a link when it has an address.
export function chip(identity, extra, href) {
  return h(
    href ? "a" : "span",
    {class: "chip", "data-color": identity.color, href},
    tile(identity),
    h("span", {class: `ellipsis${identity.isUnnamed ? " faint" : ""}`, dir: "auto"}, identity.name),
    extra && h("span", {class: "small faint"}, extra),
  );
}

// A letter that stands for a site. The page loads no icons from elsewhere.
export function fav(host) {
  return h("span", {class: "fav", "aria-hidden": "true"}, [...(host ?? "")][0] ?? "?");
}

export function iconButton(glyph, label, onclick, more = {}) {
  const props = {class: "icon-btn", type: "button", "aria-label": label, title: label, onclick: guarded(onclick), ...more};
  return h("button", props, icon(glyph));
}

// kind: "primary", "quiet", "danger", "danger solid", "sm" … ; lead: the glyph before the label.
export function btn(label, onclick, {kind = "", lead, ...more} = {}) {
  return h("button", {class: `btn ${kind}`, type: "button", onclick: guarded(onclick), ...more}, lead && icon(lead), h("span", {class: "ellipsis"}, label));
}

// A control that cannot be used now keeps the focus: with `disabled`, the keyboard would start again at the top.
export function setUnavailable(control, is) {
  if (is) control.setAttribute("aria-disabled", "true");
  else control.removeAttribute("aria-disabled");
}

export function isUnavailable(control) {
  return control.getAttribute("aria-disabled") === "true";
}

function guarded(onclick) {
  return onclick && ((event) => isUnavailable(event.currentTarget) || onclick(event));
}

// An error beside its cause.
export function errorLine(text) {
  return h("p", {class: "error", role: "alert"}, icon("ui-warn"), h("span", {}, text));
}

// In place of what would be shown. heading: "h1" where the screen has no other.
export function empty(glyph, title, text, action, heading = "h2") {
  return h("div", {class: "empty"}, icon(glyph), h(heading, {}, title), h("p", {}, text), action);
}

// The pattern of a rule, its host set off from scheme, wildcard and path. A regular expression has no host.
export function patternText(pattern) {
  const regex = /^regex:(.*)$/s.exec(pattern);
  if (regex) return h("span", {class: "pattern"}, h("i", {}, "regex:"), regex[1]);
  const [, before = "", host, rest] = /^((?:https?:\/\/)?(?:\*\.)?)([^/?]*)(.*)$/s.exec(pattern);
  return h("span", {class: "pattern"}, h("i", {}, before), h("b", {}, host), rest);
}

// In the page from the start: text that appears together with its live region is often not announced.
const spoken = {
  assertive: h("div", {class: "vh", "aria-live": "assertive"}),
  polite: h("div", {class: "vh", role: "status"}),
};
document.body.append(spoken.assertive, spoken.polite);

// Announces a text to screen readers; "polite" waits until they are silent. The region is emptied first: the same text
// twice is announced twice.
export function say(text, how = "assertive") {
  const region = spoken[how];
  region.textContent = "";
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}
