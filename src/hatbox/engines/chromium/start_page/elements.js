// Elements of the start page. What the profile contains is text: it is set as text or as an attribute, never as markup.

const HTML = "http://www.w3.org/1999/xhtml", SVG = "http://www.w3.org/2000/svg";

// An element with attributes, listeners (functions, by the name of the event) and children. Null and false are left out.
function element(tag, attributes = {}, ...children) {
  const made = document.createElementNS(HTML, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== false));
  return made;
}

// A glyph: [tag, attributes, children] for each shape, on a grid of 20 by 20.
function glyph(shapes) {
  const draw = ([tag, attributes, children]) => {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    shape.append(...children.map(draw));
    return shape;
  };
  return draw(["svg", {viewBox: "0 0 20 20", "aria-hidden": "true"}, shapes]);
}

// The tile of an identity as one drawing.
function tileDrawing({color, ink, glyph: shapes}) {
  const inner = ["g", {transform: "translate(3 3) scale(.7)", color: ink ?? "#ffffff"}, shapes];
  return glyph([["rect", {width: 20, height: 20, rx: 5, fill: color ?? "#5b5b66"}, []], inner]);
}

// The tile of an identity. Its color is that of the nearest element with `paint`.
const tile = (face, size = "") => element("span", {class: `tile ${size}`}, glyph(face.glyph));

// Sets the color of an element from a face; null is the neutral color of no identity.
function paint(target, {color, ink}) {
  target.classList.toggle("none", color === null);
  for (const [name, value] of [["--id", color], ["--on-id", ink]]) {
    if (color === null) target.style.removeProperty(name);
    else target.style.setProperty(name, value);
  }
}

const letter = text => element("span", {class: "letter", "aria-hidden": "true"}, [...text][0] ?? "");

// A pattern of a rule, with its host in bold. A regular expression is plain text.
function pattern(text) {
  const found = text.startsWith("regex:") ? null : /^((?:[a-z]+:\/\/)?(?:\*\.)?)([^/]*)(.*)$/s.exec(text);
  return element("span", {class: "pattern"}, found === null ? text : [found[1], element("b", {}, found[2]), found[3]]);
}

// Makes the children of a list those of `items`. The element of an item that has not changed stays, with its focus.
function fill(list, items, keyOf, draw) {
  const drawn = new Map([...list.children].map(child => [child.hatboxKey, child]));
  const focused = list.getRootNode().activeElement;
  const focusedKey = [...list.children].find(child => child.contains(focused))?.hatboxKey;
  const children = items.map(item => {
    const key = keyOf(item), text = JSON.stringify(item), known = drawn.get(key);
    if (known?.hatboxText === text) return known;
    return Object.assign(draw(item), {hatboxKey: key, hatboxText: text});
  });
  if (children.length === list.children.length && children.every((child, index) => child === list.children[index])) return;
  list.replaceChildren(...children);
  if (focusedKey === undefined) return;
  const again = children.find(child => child.hatboxKey === focusedKey);
  (again?.querySelector("button") ?? again)?.focus({preventScroll: true});
}
