// Rules: where does this address open, and why?

import {btn, empty, h, plural} from "../dom.js";
import {identities} from "../identities_state.js";
import {ruleForm} from "../rule_form.js";
import {importMenu} from "../rule_import.js";
import {RuleList} from "../rule_list.js";
import {ruleTester} from "../rule_tester.js";
import {rules} from "../rules_state.js";
import {header, loadError, skeletonAfter} from "../screen_parts.js";

export const title = "Rules";

export function mount(root) {
  const total = h("span", {role: "status"});
  const scroller = h("div", {class: "scroll"});
  const list = new RuleList(scroller);
  const other = h("div", {});
  const tester = ruleTester();
  const form = ruleForm();
  const add = h("section", {}, h("h2", {class: "cap"}, "Add a rule"), form.el);
  const imports = btn("Import", () => importMenu(imports), {"aria-haspopup": "menu"});
  scroller.append(h("div", {class: "measure panel-gap"}, tester.el, add, list.host, other));
  root.append(h("div", {class: "main-in narrow fill"}, header(title, total, imports), scroller));

  function paint() {
    if (!rules.loaded && !rules.error) return;
    const all = rules.all();
    total.textContent = rules.loaded ? plural(all.length, "rule") : "";
    list.host.hidden = !all.length;
    list.set(all);
    showOther(other, rules.error && !rules.loaded ? "error" : all.length ? "" : "empty");
  }

  const stop = [
    skeletonAfter(other, "Loading rules", () => rules.loaded || rules.error),
    rules.follow(() => {
      paint();
      tester.update();
    }),
    identities.onChange(() => {
      paint();
      form.update();
      tester.update();
    }),
  ];
  return {
    unmount() {
      for (const each of stop) each();
      tester.destroy();
      list.destroy();
    },
  };
}

// Drawn once: a button in it keeps the focus while other things change.
function showOther(other, name) {
  const key = `${name} ${rules.error ?? ""}`;
  if (other.dataset.key === key) return;
  other.dataset.key = key;
  const text = "Without a rule, an address opens where you open it. With one, it opens in its identity by itself.";
  if (name === "error") other.replaceChildren(loadError(rules.error, () => rules.reload()));
  else other.replaceChildren(...(name ? [empty("ui-rules", "No rules", text)] : []));
}
