// Commands for a terminal, with the profile of this page: without it, they would speak of the default one.

let start = "hatbox";

export const command = (words) => `“${start} ${words}”`;

export function setCommandStart(text) {
  start = text;
}
