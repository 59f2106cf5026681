// The address of the page decides which screen is mounted: #/identities, #/identity/ID/TAB, #/sites …
// Screens are loaded when they are first shown.

import {btn, empty} from "./dom.js";

const SCREENS = ["identities", "identity", "sites", "tabs", "rules", "extensions", "trash", "activity"];

let root = null;
let current = null; // {name, screen}: screen is what mount() returned
let generation = 0; // of the newest route: a screen that is loaded too late is not mounted
const listeners = new Set();

// {name, id, tab} of an address. Unknown addresses are those of the first screen.
export function parseRoute(hash) {
  const [, name = "", id = "", tab = ""] = hash.split("/");
  if (!SCREENS.includes(name)) return {name: "identities", id: "", tab: ""};
  return {name, id: decoded(id), tab: decoded(tab)};
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function currentRoute() {
  return parseRoute(location.hash);
}

export function go(hash) {
  location.hash = hash;
}

// fn(route) after every change of the route. Returns a function that removes it.
export function onRoute(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

// "Work · Hatbox". A screen calls it when the name of what it shows changes.
export function setTitle(title) {
  document.title = `${title} · Hatbox`;
}

export function startRouter(element) {
  root = element;
  addEventListener("hashchange", () => show(currentRoute()));
  return show(currentRoute());
}

async function show(route) {
  const own = ++generation;
  for (const fn of listeners) fn(route);
  // A screen may show another part of itself, so that lists beside it do not move.
  if (current?.name === route.name && current.screen.update?.(route)) return;
  const module = await load(route.name);
  if (own !== generation) return;
  current?.screen.unmount();
  current = null;
  root.replaceChildren();
  if (!module) return showFailure(route);
  setTitle(module.title);
  current = {name: route.name, screen: module.mount(root, route)};
  // The link that led here may be gone with its screen; a reader must not start at the top of the page.
  if (document.activeElement === document.body && own > 1) root.closest("main").focus({preventScroll: true});
}

async function load(name) {
  try {
    return await import(`./screens/${name}.js`);
  } catch (error) {
    console.error(error);
    return null;
  }
}

function showFailure(route) {
  const again = btn("Try again", () => location.reload());
  root.append(empty("ui-warn", "This screen could not be loaded", "Hatbox may not be running any more.", again, "h1"));
  setTitle(route.name);
}
