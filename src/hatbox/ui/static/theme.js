// Light, dark or the system's theme: remembered in this browser.

import {remember, remembered} from "./remembered_choices.js";

const CHOICE = "theme";

// [value, label, glyph]
export const THEMES = [
  ["auto", "System theme", "ui-auto"],
  ["light", "Light", "ui-sun"],
  ["dark", "Dark", "ui-moon"],
];

export function currentTheme() {
  return document.documentElement.dataset.theme ?? "auto";
}

// Shows the remembered theme, before the first paint.
export function restoreTheme() {
  const chosen = remembered(CHOICE);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}

export function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  remember(CHOICE, theme === "auto" ? "" : theme);
}
