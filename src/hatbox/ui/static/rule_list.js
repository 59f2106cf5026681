// The list of rules, of which only the visible rows are in the DOM.

import {browser} from "./api.js";
import {attempt} from "./attempt.js";
import {chip, h, icon, iconButton, patternText} from "./dom.js";
import {identities} from "./identities_state.js";
import {NO_IDENTITY} from "./no_identity.js";
import {isPhone} from "./phone.js";
import {rules} from "./rules_state.js";
import {sentence} from "./sentences.js";
import {everyMinute, exactTime, timeAgo} from "./times.js";
import {undoable} from "./undo.js";
import {VirtualList} from "./virtual_list.js";

const MOST_CHIPS = 3;
const MOST_ON_PHONES = 2;
const api = browser.hatbox.rules;

export class RuleList extends VirtualList {
  // own: the cookieStoreId of the identity whose rules are shown; rows name only others.
  constructor(scroller, own) {
    super(scroller, {
      label: "Rules",
      cls: "rule-rows",
      key: (rule) => String(rule.id),
      create: (rule) => ruleRow(rule, own),
      signature: (rule) => {
        const faces = named(rule).map((to) => [to.name, to.color, to.icon, to.hidden]);
        return JSON.stringify([rule, faces, useText(rules.uses.get(rule.id))]);
      },
      size: () => ({minWidth: 0, height: !isPhone() ? 44 : this.hasSecondLine ? 70 : 52, gap: 0}),
    });
    this.own = own;
    this.stopUses = everyMinute(() => this.showUses());
    this.showUses();
  }

  async showUses() {
    await rules.readUses();
    if (!this.isDestroyed) this.set(this.items);
  }

  destroy() {
    super.destroy();
    this.isDestroyed = true;
    this.stopUses();
  }

  // On phones, identities and marks stand below the pattern. All rows have the same height.
  get hasSecondLine() {
    return !this.own || this.items.some((rule) => rule.identities.length > 1 || rule.limit || !rule.isValid);
  }
}

function named(rule) {
  return rule.identities.map((id) => identities.get(id) ?? {...NO_IDENTITY, cookieStoreId: id});
}

function ruleRow(rule, own) {
  const to = named(rule);
  const shown = to.filter((identity) => identity.cookieStoreId !== own);
  const label = `Remove the rule ${rule.pattern}`;
  const remove = iconButton("ui-x", label, () => removeRule(rule, remove), {"data-part": "remove"});
  const most = isPhone() ? MOST_ON_PHONES : MOST_CHIPS;
  const more = shown.length - most;
  const used = rules.uses.get(rule.id);
  return h(
    "div",
    {class: `row rule${rule.isValid ? "" : " is-off"}`},
    h("div", {class: "grow", title: rule.pattern}, patternText(rule.pattern)),
    h(
      "div",
      {class: "line targets"},
      to.length > 1 && h("span", {class: "small muted nowrap"}, own ? "Asks: here or" : "Asks:"),
      shown.slice(0, most).map(target),
      more > 0 && h("span", {class: "small muted", title: to.map((each) => each.name).join(", ")}, `+${more}`),
      marks(rule, to),
    ),
    h("span", {class: "when", title: used && exactTime(used)}, useText(used)),
    h("div", {class: "quick"}, remove),
  );
}

function useText(time) {
  return time ? `Used ${timeAgo(time)}` : "";
}

function target(identity) {
  if (identity.color === null) return h("span", {class: "chip maybe"}, identity.name);
  const el = chip(identity, null, `#/identity/${encodeURIComponent(identity.cookieStoreId)}/rules`);
  el.dataset.part = identity.cookieStoreId; // a row that is drawn anew keeps the focus
  return el;
}

function marks({limit, isValid}, to) {
  const names = to.map((identity) => identity.name).join(", ");
  const only = {class: "tag", title: `${names}: only addresses that have a rule open there`};
  const unread = {class: "tag", title: "This version cannot read the pattern"};
  return [
    limit && h("span", only, "Opens nothing else"),
    !isValid && h("span", unread, icon("ui-warn"), "Matches nothing"),
  ];
}

function removeRule(rule, anchor) {
  const text = sentence`Rule ${rule.pattern} removed.`;
  const change = async (done) => {
    const [removed] = await api.remove(rule.id);
    done(text, () => api.restore(removed));
  };
  return attempt(anchor, () => undoable(change), {key: `rule ${rule.id}`, control: anchor, done: text});
}
