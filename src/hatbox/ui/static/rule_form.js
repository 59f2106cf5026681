// The form that adds a rule: a pattern, its identities, and whether they open nothing else.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {errorLine, h, icon, tile} from "./dom.js";
import {identities} from "./identities_state.js";
import {pickIdentity} from "./identity_picker.js";
import {toast} from "./layers.js";
import {isolated} from "./sentences.js";
import {undoable} from "./undo.js";

const api = browser.hatbox.rules;

// fixed: the cookieStoreId of the identity whose rules are shown; without it, the user picks.
export function ruleForm(fixed) {
  const chosen = new Set(fixed ? [fixed] : []);
  let isPicked = Boolean(fixed); // until then it is the first identity
  const below = h("div", {id: "rule-below"});
  const input = h("input", {
    class: "field mono",
    placeholder: "*.site.example/path/*",
    "aria-label": "Address pattern",
    "aria-describedby": "rule-below",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: 2048,
    oninput: () => clear(),
  });
  const limit = h("input", {type: "checkbox", id: "rule-limit"});
  const pick = h("button", {type: "button", class: "field pick-button", "aria-haspopup": "dialog", onclick: open});
  const bar = h(
    "div",
    {class: fixed ? "addbar" : "addbar stack"},
    input,
    !fixed && h("span", {class: "line small muted"}, "opens in"),
    !fixed && pick,
    h("button", {class: "btn", type: "submit"}, "Add rule"),
  );
  const option = h("label", {class: "line small muted limit-option", for: "rule-limit"}, limit, h("span", {}));
  const el = h("form", {novalidate: true, onsubmit: submit}, bar, below, option);

  function clear() {
    below.replaceChildren();
    input.removeAttribute("aria-invalid");
  }

  function paint() {
    for (const id of chosen) if (!identities.get(id)) chosen.delete(id);
    const [preset] = identities.all();
    if (!isPicked && !chosen.size && preset) chosen.add(preset.cookieStoreId);
    const names = [...chosen].map((id) => identities.get(id).name);
    const first = identities.get([...chosen][0]);
    const text = names.join(" or ") || "Choose an identity";
    const parts = [first && tile(first), h("span", {class: "grow ellipsis"}, text), icon("ui-down")];
    pick.replaceChildren(...parts.filter(Boolean));
    pick.setAttribute("aria-label", `Identity: ${names.length > 1 ? "ask, " : ""}${text}`);
    const subject = names.length > 1 ? "These identities open" : `${names[0] ?? "This identity"} opens`;
    option.lastChild.textContent = `${subject} only addresses that have a rule`;
  }

  function open() {
    pickIdentity(pick, {
      label: "Identities of the rule",
      heading: "Opens in (with several, it asks)",
      chosen,
      pick: ({cookieStoreId: id}) => {
        isPicked = true;
        if (!chosen.delete(id)) chosen.add(id);
        paint();
      },
    });
  }

  function submit(event) {
    event.preventDefault();
    clear();
    const onError = (error) => {
      below.replaceChildren(errorLine(error.message));
      input.setAttribute("aria-invalid", "true");
      if (el.contains(document.activeElement)) input.focus(); // it may come late
    };
    attempt(input, () => undoable(add), {control: el.querySelector("[type=submit]"), onError});
  }

  async function add(done) {
    const pattern = input.value;
    const empty = () => {
      if (input.value === pattern) input.value = ""; // else the next one is being typed
      limit.checked = false;
    };
    const rule = await resultOf(api.add(pattern, [...chosen], {limit: limit.checked}));
    empty();
    if (!rule) return toast("Rule added.");
    const names = rule.identities.map((id) => identities.get(id)?.name ?? id);
    const now = `now ${names.length > 1 ? "asks:" : "opens in"} ${names.map(isolated).join(" or ")}`;
    done(`${isolated(rule.pattern)} ${now}.`, () => api.remove(rule.id));
  }

  paint();
  return {el, update: paint};
}
