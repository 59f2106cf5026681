// sidebarAction: values of tabs and windows; when it is open.

const S = browser.sidebarAction;
const [tab] = await browser.tabs.query({active: true});
const T = tab.id, W = tab.windowId;
out.keys = Object.keys(S).filter(name => S[name] !== undefined).sort();
for (const g of ["getTitle", "getPanel"]) {
  for (const [n, a] of [["{}", [{}]], ["tab", [{tabId: T}]], ["window", [{windowId: W}]], ["current", [{windowId: -2}]], ["both", [{tabId: T, windowId: W}]], ["bad tab", [{tabId: 9999}]], ["bad window", [{windowId: 9999}]], ["none", []], ["callback", [{}, () => {}]]]) await p(g + " " + n, () => S[g](...a));
}
await p("setTitle", () => S.setTitle({title: "G"})); await p("setTitle window", () => S.setTitle({title: "W", windowId: W})); await p("setTitle tab", () => S.setTitle({title: "T", tabId: T}));
for (const [n, d] of [["{}", {}], ["tab", {tabId: T}], ["window", {windowId: W}]]) await p("title of " + n, () => S.getTitle(d));
await p("setTitle tab null", () => S.setTitle({title: null, tabId: T})); await p("title of tab 2", () => S.getTitle({tabId: T}));
await p("setTitle empty", () => S.setTitle({title: ""})); await p("title 3", () => S.getTitle({}));
await p("setTitle null", () => S.setTitle({title: null})); await p("title 4", async () => (await S.getTitle({})).length > 0);
await p("setTitle nothing", () => S.setTitle({})); await p("setTitle number", () => S.setTitle({title: 1})); await p("setTitle both", () => S.setTitle({title: "x", tabId: T, windowId: W}));
await p("setPanel", () => S.setPanel({panel: "/other.html?x"})); await p("panel", () => S.getPanel({}));
await p("setPanel web", () => S.setPanel({panel: "https://site.example/"})); await p("panel 2", () => S.getPanel({}));
await p("setPanel chrome", () => S.setPanel({panel: "chrome://x/"}));
await p("setPanel tab", () => S.setPanel({panel: "tab.html", tabId: T})); await p("panel of tab", () => S.getPanel({tabId: T})); await p("panel 3", () => S.getPanel({}));
await p("setPanel tab empty", () => S.setPanel({panel: "", tabId: T})); await p("panel of tab 2", () => S.getPanel({tabId: T}));
await p("setPanel null", () => S.setPanel({panel: null})); await p("panel 4", () => S.getPanel({}));
await p("setPanel nothing", () => S.setPanel({})); await p("setPanel negative", () => S.setPanel({panel: "x", tabId: -1}));
await p("setIcon", () => S.setIcon({path: "x.png"})); await p("setIcon nothing", () => S.setIcon({})); await p("setIcon bad tab", () => S.setIcon({path: "x.png", tabId: 9999}));
await p("isOpen", () => S.isOpen({})); await p("isOpen window", () => S.isOpen({windowId: W})); await p("isOpen bad", () => S.isOpen({windowId: 9999})); await p("isOpen nothing", () => S.isOpen());
for (const name of ["open", "close", "toggle"]) { await p(name, () => S[name]()); await p(name + " 1", () => S[name](1)); }

let next;
browser.commands.onCommand.addListener(() => p(next, () => S[next.split(" ")[0]]()));
for (const name of ["open by the user", "open again", "close by the user", "close again", "toggle by the user", "toggle back"]) {
  next = name;
  await host("command", "one"); await sleep(300);
  await p("isOpen after " + name, () => S.isOpen({}));
}
await host("command", "_execute_sidebar_action"); await sleep(300); await p("isOpen after the command", () => S.isOpen({}));
await host("command", "_execute_sidebar_action"); await sleep(300); await p("isOpen after the command again", () => S.isOpen({}));
await S.setTitle({title: "T", tabId: T});
await host("navigate", {tabId: T, url: "/other"}); await p("title after another page", () => S.getTitle({tabId: T}));
