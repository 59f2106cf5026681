// The tabs of one identity, and the field that opens an address in it.

import {addressForm} from "../address_form.js";
import {command} from "../commands.js";
import {empty, h} from "../dom.js";
import {identities} from "../identities_state.js";
import {loadError} from "../screen_parts.js";
import {sentence} from "../sentences.js";
import {TabList} from "../tab_list.js";
import {tabs} from "../tabs_state.js";

// root: in an element that scrolls, with the class "scroll".
export function mount(root, cookieStoreId) {
  const form = addressForm(cookieStoreId);
  const note = h("p", {class: "muted", hidden: true});
  const other = h("div", {});
  const scroller = root.closest(".scroll") ?? root;
  const list = new TabList(scroller, {label: "Tabs", isGrouped: false});
  root.append(h("div", {class: "panel measure"}, form.el, note, list.host, other));

  function paint() {
    const identity = identities.get(cookieStoreId);
    if (!identity || (!tabs.loaded && !tabs.error)) return;
    const own = tabs.of(cookieStoreId);
    note.hidden = !identity.hidden || !own.length;
    const back = "These tabs come back, in this order and still signed in, when you show it.";
    note.textContent = sentence`${identity.name} is hidden. ${back}`;
    list.host.hidden = !own.length;
    list.showGroups([{identity, tabs: own}]);
    showOther(other, tabs.error && !tabs.loaded ? "error" : own.length ? "" : "empty", identity.name);
  }

  const stop = [tabs.follow(paint), identities.onChange(paint)];
  return {
    unmount() {
      for (const each of stop) each();
      form.destroy();
      list.destroy();
    },
  };
}

function showOther(other, name, identity) {
  const key = `${name} ${identity} ${tabs.error ?? ""}`;
  if (other.dataset.key === key) return;
  other.dataset.key = key;
  const text = `Open an address above, or run ${command(`open "${identity}"`)} in a terminal.`;
  if (name === "error") other.replaceChildren(loadError(tabs.error, () => tabs.reload()));
  else other.replaceChildren(...(name ? [empty("ui-tabs", "No tabs", text)] : []));
}
