// The parts of the start page that show the identity, its tabs, its rules and its settings. Each returns an element, and
// a function that draws it again with changed data.

const MANY = "and %d more";

// The band: name and tile of the identity, and the actions of extensions.
function identityBand(send) {
  const face = element("span", {}), name = element("bdi"), whose = element("span"), signedIn = element("span");
  const buttons = element("div", {class: "buttons", role: "group", "aria-label": "Extensions"});
  const band = element("header", {class: "band"}, face, element("div", {class: "grow"}, element("h1", {}, name), element("p", {}, whose, " ", signedIn)), buttons);
  return {
    band,
    drawIdentity(page, identity) {
      paint(page, identity);
      face.replaceChildren(tile(identity, "large"));
      name.textContent = identity.name;
      whose.textContent = identity.line;
    },
    drawSignedIn(text) { signedIn.textContent = text; },
    drawButtons(list) {
      buttons.hidden = list.length === 0;
      fill(buttons, list, ({key}) => key, button => extensionButton(button, send));
    },
  };
}

function extensionButton({key, title, badge, badgeColor, icon, isEnabled}, send) {
  const label = badge ? `${title}, ${badge}` : title;
  const made = element("button", {
    type: "button", title, "aria-label": label, disabled: !isEnabled,
    click: event => { if (event.isTrusted) send("click", {key}); },
  }, icon ? element("img", {src: icon, alt: ""}) : element("bdi", {class: "cut"}, title || "?"));
  if (badge) {
    const shown = element("span", {class: "badge", "aria-hidden": "true"}, badge);
    if (badgeColor) Object.assign(shown.style, {background: badgeColor, color: inkOn(badgeColor)});
    made.append(shown);
  }
  return made;
}

// Black or white, whichever is easier to read on rgb(red green blue / alpha).
function inkOn(color) {
  const [red, green, blue] = (color.match(/[\d.]+/g) ?? []).map(part => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#111113" : "#fff";
}

// The other tabs of the identity. A click activates one.
function tabSection(send) {
  const heading = element("h2"), list = element("ul", {class: "box"}), none = element("p", {class: "muted"}, "No other tabs.");
  const draw = tab => element("li", {}, tab.more ? element("p", {class: "more note"}, MANY.replace("%d", tab.more)) : tabRow(tab, send));
  return {
    section: element("section", {}, heading, list, none),
    draw({shown, more}) {
      list.hidden = shown.length === 0;
      none.hidden = shown.length > 0;
      fill(list, more > 0 ? [...shown, {key: "more", more}] : shown, ({key}) => key, draw);
    },
    drawHeading(text) { heading.textContent = text; },
  };
}

function tabRow({key, title, place, pinned, note}, send) {
  const marks = [pinned && glyph(PIN), pinned && element("span", {class: "hint"}, "Pinned"), note && element("span", {class: "note"}, note)];
  return element("button", {type: "button", class: "row", click: event => { if (event.isTrusted) send("activate", {key}); }},
    letter(place || title),
    element("span", {class: "grow"},
      element("span", {class: "name"}, element("bdi", {class: "cut"}, title), marks),
      element("bdi", {class: "note cut"}, place)));
}

// The sites that the identity is signed in to.
function signedInSection() {
  const list = element("ul", {class: "sites"}), none = element("p", {class: "muted"}, "Nowhere yet.");
  const draw = ({host, since, more}) => element("li", {}, more ? element("span", {class: "note"}, MANY.replace("%d", more)) : [
    letter(host), element("span", {class: "grow cut"}, host), element("span", {class: "note"}, since)]);
  return {
    section: element("section", {}, element("h2", {}, "Signed in"), list, none),
    draw({shown, more}) {
      none.hidden = shown.length > 0;
      fill(list, more > 0 ? [...shown, {host: "", more}] : shown, ({host}) => host, draw);
    },
  };
}

// The patterns of the rules that open addresses in the identity.
function ruleSection() {
  const list = element("ul", {class: "patterns"}), none = element("p", {class: "muted"}, "No rules.");
  const draw = ({text, note, more}) => element("li", {}, more ? element("span", {class: "note"}, MANY.replace("%d", more)) : [
    pattern(text), note && element("div", {class: "note"}, note)]);
  return {
    section: element("section", {}, element("h2", {}, "Opens here by rule"), list, none),
    draw({shown, more}) {
      none.hidden = shown.length > 0;
      fill(list, more > 0 ? [...shown, {text: "more", more}] : shown, ({text}) => text, draw);
    },
  };
}

function settingSection() {
  const list = element("dl", {class: "facts"}), section = element("section", {}, element("h2", {}, "Settings"), list);
  return {
    section,
    draw(settings) {
      section.hidden = settings.length === 0;
      list.replaceChildren(...settings.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
    },
  };
}
