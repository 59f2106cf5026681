// Tabs: what is open as whom, which engine runs?

import {command} from "../commands.js";
import {btn, empty, h, plural} from "../dom.js";
import {engineBox} from "../engine_box.js";
import {identities} from "../identities_state.js";
import {NO_IDENTITY} from "../no_identity.js";
import {header, loadError, searchBox, skeletonAfter} from "../screen_parts.js";
import {TabList} from "../tab_list.js";
import {grouped, searched} from "../tab_order.js";
import {tabs} from "../tabs_state.js";

export const title = "Tabs";

const FEW = 8; // a search field stands above more tabs
const state = {query: "", scrollTop: 0};

export function mount(root) {
  const total = h("span", {role: "status"});
  const scroller = h("div", {class: "scroll"});
  const list = new TabList(scroller, {label: "Tabs by identity", isGrouped: true});
  const box = engineBox();
  const other = h("div", {});
  const search = searchBox("Find a tab", state.query, (text) => {
    state.query = text;
    paint();
  });
  const tools = h("div", {class: "tools"}, search);
  scroller.append(h("div", {class: "measure"}, box.box, list.host, other));
  root.append(h("div", {class: "main-in narrow fill"}, header(title, total), tools, scroller));
  let isFirst = true;

  function clearSearch() {
    state.query = "";
    search.querySelector("input").value = "";
    paint();
    search.querySelector("input").focus();
  }

  function paint() {
    if (!tabs.loaded && !tabs.error) return;
    const all = tabs.all();
    const groups = grouped(all, identities.all(), NO_IDENTITY);
    const found = searched(groups, state.query);
    tools.hidden = all.length <= FEW && !state.query;
    total.textContent = totalText(all.length, groups.length);
    list.showGroups(found);
    list.host.hidden = !found.length;
    box.update();
    const name = tabs.error && !tabs.loaded ? "error" : found.length ? "" : all.length ? "nothing" : "empty";
    showOther(other, name, clearSearch);
    if (isFirst) scroller.scrollTop = state.scrollTop;
    isFirst = false;
    list.paint();
  }

  const stop = [
    tabs.follow(paint),
    identities.onChange(paint),
    skeletonAfter(other, "Loading tabs", () => tabs.loaded || tabs.error),
  ];
  return {
    unmount() {
      state.scrollTop = scroller.scrollTop;
      for (const each of stop) each();
      box.destroy();
      list.destroy();
    },
  };
}

function totalText(count, groups) {
  return count ? `${plural(count, "tab")} in ${plural(groups, "identity", "identities")}` : "";
}

function nothingFound(clear) {
  const text = `No tab matches “${state.query.trim()}”.`;
  return empty("ui-search", "Nothing found", text, btn("Clear search", clear));
}

function noTabs() {
  const link = h("a", {class: "btn", href: "#/identities"}, "Choose an identity");
  return empty("ui-tabs", "No tabs open", `Choose an identity and type an address there, or run ${command("open")}.`, link);
}

function showOther(other, name, clear) {
  const key = `${name} ${name === "nothing" ? state.query : ""} ${tabs.error ?? ""}`;
  if (other.dataset.key === key) return;
  other.dataset.key = key;
  const made = {
    error: () => loadError(tabs.error, () => tabs.reload()),
    nothing: () => nothingFound(clear),
    empty: noTabs,
  }[name];
  other.replaceChildren(...(made ? [made()] : []));
}
