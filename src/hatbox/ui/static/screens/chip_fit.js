// How many chips fit into a line. Pure: the widths are estimates. Chips that are wider in the end get shorter names.

const FRAME = 42; // px: tile, gaps, padding and edge of a chip, and the space before the next one
const SINCE_GAP = 6;
// Texts grow with the font of the page: their px are those at 16 px.
const MAX_NAME = 168; // a longer name is cut by the style sheet
const MORE = 56; // the chip "+9,999"

function textWidth(text) {
  let width = 0;
  for (const character of text) width += character.codePointAt(0) > 0x2e7f ? 14 : 7.1;
  return width;
}

function chipWidth({name, since}, rem) {
  const text = Math.min(textWidth(name), MAX_NAME) + textWidth(since) * 0.9;
  return FRAME + text * rem + (since ? SINCE_GAP : 0);
}

// labels: [{name, since}], the first ones of `total`; space in px; rem: the font size of the page, 1 for 16 px. At
// least one fits.
export function chipsThatFit(labels, space, total, rem = 1) {
  let used = 0;
  for (let count = 0; count < labels.length; count++) {
    used += chipWidth(labels[count], rem);
    const isLast = count + 1 === total;
    if (used + (isLast ? 0 : MORE * rem) > space) return Math.max(1, count);
  }
  return labels.length;
}
