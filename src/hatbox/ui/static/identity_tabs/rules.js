// The rules of one identity.

import {empty, h} from "../dom.js";
import {identities} from "../identities_state.js";
import {ruleForm} from "../rule_form.js";
import {RuleList} from "../rule_list.js";
import {rules} from "../rules_state.js";
import {loadError, skeletonAfter} from "../screen_parts.js";
import {sentence} from "../sentences.js";

// root: in an element that scrolls, with the class "scroll".
export function mount(root, cookieStoreId) {
  const intro = h("p", {class: "muted"});
  const form = ruleForm(cookieStoreId);
  const other = h("div", {});
  const list = new RuleList(root.closest(".scroll") ?? root, cookieStoreId);
  root.append(h("div", {class: "panel measure"}, intro, form.el, list.host, other));

  function paint() {
    const identity = identities.get(cookieStoreId);
    if (!identity) return;
    const text = sentence`Addresses that open in ${identity.name} by themselves,`;
    intro.textContent = `${text} from any program and any window.`;
    form.update();
    if (!rules.loaded && !rules.error) return;
    const own = rules.all().filter((rule) => rule.identities.includes(cookieStoreId));
    list.host.hidden = !own.length;
    list.set(own);
    showOther(other, rules.error && !rules.loaded ? "error" : own.length ? "" : "empty", identity.name);
  }

  const stop = [
    rules.follow(paint),
    identities.onChange(paint),
    skeletonAfter(other, "Loading rules", () => rules.loaded || rules.error),
  ];
  paint();
  return {
    unmount() {
      for (const each of stop) each();
      list.destroy();
    },
  };
}

function showOther(other, name, identity) {
  const key = `${name} ${identity} ${rules.error ?? ""}`;
  if (other.dataset.key === key) return;
  other.dataset.key = key;
  const text = `Nothing opens in ${identity} by itself yet.`;
  if (name === "error") other.replaceChildren(loadError(rules.error, () => rules.reload()));
  else other.replaceChildren(...(name ? [empty("ui-rules", "No rules", text)] : []));
}
