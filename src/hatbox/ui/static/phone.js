// Whether the page has the layout for phones.

const NARROW = matchMedia("(max-width: 640px)"); // as in the style sheets

export function isPhone() {
  return NARROW.matches;
}
