// The glyphs of icons.svg as elements. They are cloned from the sprite: <use> of another file makes a shadow tree for
// each icon, which made scrolling 10,000 cards 2.5 times slower.

const SVG = "http://www.w3.org/2000/svg";

// XMLHttpRequest parses the file as a document: Trusted Types allow no parsing of text here.
function loadSprite() {
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("GET", new URL("icons.svg", import.meta.url));
    request.responseType = "document";
    request.onload = () => done(request.responseXML);
    request.onerror = () => done(null); // the page works without glyphs: every control has a name
    request.send();
  });
}

const sprite = await loadSprite();
const glyphs = new Map();

function makeGlyph(name) {
  const glyph = document.createElementNS(SVG, "svg");
  glyph.setAttribute("class", "i");
  glyph.setAttribute("viewBox", "0 0 20 20");
  glyph.setAttribute("aria-hidden", "true");
  for (const node of sprite?.getElementById(name)?.children ?? []) glyph.append(document.importNode(node, true));
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
