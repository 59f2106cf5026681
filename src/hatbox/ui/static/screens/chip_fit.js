// How many chips fit into a line. Pure: the widths are estimates. Chips that are wider in the end get shorter names.

const FRAME = 42; // px: tile, gaps, padding and edge of a chip, and the space before the next one
const MAX_NAME = 168; // px: a longer name is cut by the style sheet
const MORE = 56; // px: the chip "+9,999"
const SINCE_GAP = 6;

function textWidth(text) {
  let width = 0;
  for (const character of text) width += character.codePointAt(0) > 0x2e7f ? 14 : 7.1;
  return width;
}

function chipWidth({name, since}) {
  return FRAME + Math.min(textWidth(name), MAX_NAME) + (since ? SINCE_GAP + textWidth(since) * 0.9 : 0);
}

// labels: [{name, since}], the first ones of `total`. At least one fits.
export function chipsThatFit(labels, space, total) {
  let used = 0;
  for (let count = 0; count < labels.length; count++) {
    used += chipWidth(labels[count]);
    const isLast = count + 1 === total;
    if (used + (isLast ? 0 : MORE) > space) return Math.max(1, count);
  }
  return labels.length;
}
