// The glyphs of icons.svg, which the server puts into the document. They are cloned: <use> makes a shadow tree for each
// icon, which made scrolling 10,000 cards 2.5 times slower.

const SVG = "http://www.w3.org/2000/svg";

const glyphs = new Map();

function makeGlyph(name) {
  const glyph = document.createElementNS(SVG, "svg");
  glyph.setAttribute("class", "i");
  glyph.setAttribute("viewBox", "0 0 20 20");
  glyph.setAttribute("aria-hidden", "true");
  for (const node of document.getElementById(name)?.children ?? []) glyph.append(node.cloneNode(true));
  return glyph;
}

// An <svg> with the glyph of this id in icons.svg; empty for an unknown one.
export function icon(name) {
  let glyph = glyphs.get(name);
  if (!glyph) {
    glyph = makeGlyph(name);
    glyphs.set(name, glyph);
  }
  return glyph.cloneNode(true);
}
