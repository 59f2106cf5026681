// pageAction: values of tabs; what a click tells.

const A = browser.pageAction;
const [tab] = await browser.tabs.query({active: true});
const T = tab.id;
for (const g of ["getTitle", "getPopup", "isShown"]) {
  for (const [n, a] of [["{}", [{}]], ["tab", [{tabId: T}]], ["bad tab", [{tabId: 9999}]], ["neg", [{tabId: -1}]], ["none", []], ["win", [{tabId: T, windowId: 1}]]]) await p(g + " " + n, () => A[g](...a));
}
await p("show", () => A.show(T)); await p("shown", () => A.isShown({tabId: T}));
await p("hide", () => A.hide(T)); await p("shown2", () => A.isShown({tabId: T}));
await p("show none", () => A.show()); await p("show bad", () => A.show(9999));
await cb("show cb", c => A.show(T, c));
await p("setTitle", () => A.setTitle({tabId: T, title: "t"})); await p("title", () => A.getTitle({tabId: T}));
await p("setTitle none", () => A.setTitle({title: "t"}));
await p("setTitle bad tab", () => A.setTitle({tabId: 9999, title: "t"}));
await p("setTitle cb", () => A.setTitle({tabId: T, title: "t"}, () => {}));
await p("setTitle null", () => A.setTitle({tabId: T, title: null})); await p("title2", () => A.getTitle({tabId: T}));
await p("setTitle empty", () => A.setTitle({tabId: T, title: ""})); await p("title3", () => A.getTitle({tabId: T}));
await p("setPopup", () => A.setPopup({tabId: T, popup: "x.html"})); await p("popup", async () => (await A.getPopup({tabId: T})).replace(/\/\/[^/]*/, "//UUID"));
await p("setPopup null", () => A.setPopup({tabId: T, popup: null})); await p("popup2", () => A.getPopup({tabId: T}));
await p("setIcon", () => A.setIcon({tabId: T, path: "x.png"}));
await p("setIcon no tab", () => A.setIcon({path: "x.png"}));
await A.show(T);
await host("navigate", {tabId: T, url: "/other"}); await p("after another page", () => A.isShown({tabId: T}));
out.events = [];
A.onClicked.addListener((tab, info) => { out.events.push([tab.id === T, tab.url, info]); });
await A.setPopup({tabId: T, popup: ""}); await A.show(T);
await host("pageAction"); await sleep(300);
