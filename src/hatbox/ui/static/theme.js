// Light, dark or the system's theme: remembered in this browser.

const KEY = "hatbox.theme";

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
  const chosen = localStorage.getItem(KEY);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}

export function setTheme(theme) {
  if (theme === "auto") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(KEY);
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(KEY, theme);
  }
}
