// commands: what the manifest says, what is changed of it, what is told of one.

const C = browser.commands;
out.events = [];
C.onChanged.addListener((...a) => out.events.push(["onChanged", plain(a)]));
await p("getAll", () => C.getAll()); await cb("getAll cb", c => C.getAll(c)); await p("getAll arg", () => C.getAll({}));
await p("update none", () => C.update({name: "none", shortcut: "Ctrl+A"}));
await p("update no name", () => C.update({}));
await p("update bad shortcut", () => C.update({name: "one", shortcut: "A"}));
await p("update bad shortcut2", () => C.update({name: "none", shortcut: "Foo+A"}));
await p("update same", () => C.update({name: "one", shortcut: "Ctrl+Shift+Y"}));
await p("update spaces", () => C.update({name: "one", shortcut: " Alt + Shift + 1 "})); await p("g1", () => C.getAll());
await p("update f13", () => C.update({name: "one", shortcut: "F13"}));
await p("update empty", () => C.update({name: "one", shortcut: ""})); 
await p("update desc", () => C.update({name: "one", description: "new"})); 
await p("update desc empty", () => C.update({name: "one", description: ""})); await p("g2", () => C.getAll());
await p("update both null", () => C.update({name: "one", description: null, shortcut: null}));
await p("update extra", () => C.update({name: "one", x: 1}));
await p("reset none", () => C.reset("none"));
await p("reset arg", () => C.reset());
await p("reset", () => C.reset("one")); await p("g3", () => C.getAll());
await p("reset two", () => C.reset("two"));
await p("update cb", () => C.update({name: "one"}, () => {}));

C.onCommand.addListener((name, tab, ...rest) => { out.events.push(["onCommand", name, tab.url, rest]); });
(browser.action ?? browser.browserAction).onClicked.addListener((tab, info) => { out.events.push(["action", tab.url, info]); });
await host("command", "one"); await sleep(300);
await host("command", browser.action ? "_execute_action" : "_execute_browser_action"); await sleep(300);
