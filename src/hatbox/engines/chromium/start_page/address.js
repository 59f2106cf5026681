// The address field. Before Enter, it shows in which identity the address opens.

const TEST_DELAY = 60; // milliseconds after the last key
const MAX_ADDRESS = 2048;

function addressField(send) {
  const label = element("label", {class: "hint", for: "address"}), field = element("input", {
    class: "field", id: "address", type: "text", inputmode: "url", enterkeyhint: "go", autocomplete: "off", autocapitalize: "off",
    autocorrect: "off", spellcheck: "false", maxlength: MAX_ADDRESS, "aria-describedby": "verdict",
  });
  const shown = element("div", {id: "verdict", "aria-live": "polite"});
  let asked = 0, timer;

  const test = () => {
    const text = field.value.trim();
    asked += 1;
    if (text) send("address", {number: asked, text, isEntered: false});
    else show({number: asked});
  };
  const show = ({number, error, title, face, note, matches = []}) => {
    if (number !== asked) return; // the text has changed since
    if (error) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    if (error) shown.replaceChildren(element("p", {class: "error"}, glyph(WARN), element("span", {}, error)));
    else if (title) shown.replaceChildren(verdict(title, face, note, matches));
    else shown.replaceChildren();
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(test, field.value.trim() ? TEST_DELAY : 0);
  });
  const form = element("form", {
    class: "address", novalidate: true,
    submit: event => {
      event.preventDefault();
      clearTimeout(timer);
      const text = field.value.trim();
      asked += 1;
      if (event.isTrusted && text) send("address", {number: asked, text, isEntered: true});
    },
  }, label, field, shown);
  return {
    form, field, show, test,
    drawLabel(text) {
      label.textContent = text;
      field.placeholder = text;
    },
  };
}

function verdict(title, face, note, matches) {
  const rows = matches.map(({text, decides, why}) => element("li", {class: decides ? "won" : null},
    glyph(decides ? CHECK : CROSS), pattern(text), element("span", {class: "why"}, why)));
  const made = element("div", {class: "verdict"}, face && tile(face), element("div", {class: "grow"},
    element("strong", {}, title), note && element("p", {class: "note"}, note), rows.length > 0 && element("ol", {}, rows)));
  if (face) paint(made, face);
  return made;
}
