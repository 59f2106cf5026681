// The form with name, color and icon of an identity, used by "New identity" and by the editor at a tile.

import {btn, errorLine, h, icon, isUnavailable, setUnavailable, tile} from "./dom.js";
import {identities} from "./identities_state.js";
import {hasVisibleText} from "./identity_names.js";
import {COLORS, ICONS} from "./palette.js";
import {sentence} from "./sentences.js";

const MAX_NAME = 200;

let forms = 0;

// identity: null for a new one, which may be temporary. save(draft) is async: when it rejects, the reason stands beside the name and the form
// stays. The form focuses the name when it is in the page.
export function identityEditor(identity, {saveLabel, save, cancel}) {
  const number = ++forms;
  const draft = {
    name: identity && !identity.isUnnamed ? identity.name : "",
    color: identity?.color ?? "blue",
    icon: identity?.icon ?? "fingerprint",
    isTemporary: false,
  };
  const message = h("div", {id: `editor-message-${number}`});
  const name = h("input", {
    class: "field",
    id: `editor-name-${number}`,
    value: draft.name,
    maxlength: MAX_NAME,
    autocomplete: "off",
    placeholder: "For example Work",
    "aria-describedby": message.id,
    oninput: () => {
      draft.name = name.value.trim();
      showNote();
    },
  });
  const preview = h("span", {class: "preview"});
  const submit = h("button", {class: "btn primary", type: "submit"}, saveLabel);
  const form = h("form", {class: "editor", novalidate: true, onsubmit});

  function paint() {
    form.dataset.color = draft.color;
    preview.replaceChildren(tile({...draft, hidden: false}, "t36"));
  }

  function showError(text) {
    name.setAttribute("aria-invalid", "true");
    message.replaceChildren(errorLine(text));
    name.focus();
  }

  // A name that exists is allowed: a note, not an error.
  function showNote() {
    name.removeAttribute("aria-invalid");
    const same = identities.all().find((other) => other.name === draft.name && other !== identity);
    const isOther = same && same.cookieStoreId !== identity?.cookieStoreId;
    message.replaceChildren(isOther ? h("p", {class: "note"}, sameName(same.name)) : "");
  }

  async function onsubmit(event) {
    event.preventDefault();
    if (isUnavailable(submit)) return;
    if (!hasVisibleText(draft.name) && !draft.isTemporary) return showError("Give it a name, for example Work.");
    setUnavailable(submit, true); // Enter twice creates one identity
    try {
      await save({...draft});
    } catch (error) {
      showError(error.message);
    } finally {
      setUnavailable(submit, false);
    }
  }

  function radios(field, values, mark) {
    return values.map((value) => {
      const props = {type: "radio", name: `${field}-${number}`, value, "aria-label": value};
      const onchange = () => {
        draft[field] = value;
        paint();
      };
      return h("label", {title: value}, h("input", {...props, checked: draft[field] === value, onchange}), mark(value));
    });
  }

  function temporaryChoice() {
    const box = h("input", {type: "checkbox", id: `editor-temporary-${number}`, "aria-describedby": `editor-end-${number}`});
    box.addEventListener("change", () => {
      draft.isTemporary = box.checked;
      name.placeholder = box.checked ? "Temporary and a number" : "For example Work";
      showNote();
    });
    const end = h("span", {class: "small muted", id: `editor-end-${number}`}, "Deleted forever with its last tab.");
    return h("label", {class: "line limit-option", for: box.id}, box, h("span", {}, "Temporary"), end);
  }

  const swatch = (color) => h("span", {class: "sw", "data-color": color}, icon("ui-check"));
  const glyph = (value) => h("span", {class: "ic"}, icon(`id-${value}`));
  const field = h("div", {class: "grow"}, h("label", {class: "vh", for: name.id}, "Name"), name, message);
  form.append(...[
    h("div", {class: "preview"}, preview, field),
    h("fieldset", {class: "pick colors"}, h("legend", {}, "Color"), radios("color", COLORS, swatch)),
    h("fieldset", {class: "pick icons"}, h("legend", {}, "Icon"), radios("icon", ICONS, glyph)),
    !identity && temporaryChoice(),
    h("div", {class: "dlg-actions"}, btn("Cancel", cancel, {kind: "quiet"}), submit),
  ].filter(Boolean));
  paint();
  setTimeout(() => {
    name.focus();
    name.select();
  });
  return form;
}

function sameName(name) {
  return sentence`There is already one called ${name}. That is allowed; color and icon tell them apart.`;
}
