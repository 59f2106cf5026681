// menus: what is told when somebody chooses an item. The items are chosen by the host.

out.events = [];
const told = ([info, tab]) => {
  const {parentMenuItemId: parent, ...shown} = info ?? {};
  // Of an item at the top, Firefox tells the number of something that no script has made.
  return info && [{...shown, ...(typeof parent === "string" ? {parent} : {})}, tab?.url];
};
for (const name of ["onClicked", "onShown", "onHidden"]) browser.menus[name].addListener((...args) => { out.events.push([name, told(args)]); });
const make = properties => new Promise(resolve => { const id = browser.menus.create(properties, () => resolve(id)); });
async function choose(step, id, title) {
  out.events.push(step);
  await host("menu", {id, title});
  await sleep(300);
}

await make({id: "one", title: "tab one", contexts: ["tab"]});
await make({id: "two", title: "tab two", contexts: ["tab"], type: "checkbox"});
await make({id: "page", title: "for pages", contexts: ["page"]});
await make({id: "hidden", title: "hidden", contexts: ["tab"], visible: false});
await choose("normal", "one", "tab one");
await choose("checkbox", "two", "tab two");
await choose("checkbox again", "two", "tab two");
await browser.menus.removeAll();

await make({id: "parent", title: "parent", contexts: ["tab"]});
await make({id: "r1", parentId: "parent", type: "radio", title: "r1"});
await make({id: "r2", parentId: "parent", type: "radio", title: "r2", checked: true});
await make({id: "r3", parentId: "parent", type: "radio", title: "r3"});
await choose("radio", "r3", "r3");
await choose("radio again", "r3", "r3");
await choose("another radio", "r2", "r2");
await browser.menus.update("r1", {parentId: "parent", title: "r1, last"});
await choose("moved to the end", "r1", "r1, last");
await browser.menus.removeAll();

if (browser.runtime.getManifest().manifest_version === 2) {
  await make({id: "onclick", title: "onclick", contexts: ["tab"], onclick: (...args) => { out.events.push(["onclick", told(args)]); }});
  await choose("onclick", "onclick", "onclick");
  await browser.menus.update("onclick", {title: "still"});
  await choose("onclick stays", "onclick", "still");
  await browser.menus.update("onclick", {onclick: null});
  await choose("onclick null", "onclick", "still");
  await make({id: "button", title: "button", contexts: ["tab"], command: "_execute_browser_action"});
} else {
  await make({id: "button", title: "button", contexts: ["tab"], command: "_execute_action"});
}
(browser.action ?? browser.browserAction).onClicked.addListener((tab, info) => { out.events.push(["action", tab.url, info]); });
await choose("the command of the button", "button", "button");
