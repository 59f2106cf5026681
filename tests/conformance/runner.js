// Runs one case of a suite against a `browser` object and returns its log; record.py describes the format.
// Plain JavaScript without any I/O, so that every engine runs the same file.

const SETTLE_MS = 50;
const POLL_MS = 10;
const CALLBACK_MS = 2000; // how long all waits for a callback that may never be called
const PATIENCE_MS = 10000;
const LONGEST_SHOWN = 200;
const LONGEST_MESSAGE = 700;
const DAY_SECONDS = 86400;

const TAB_IDS = new Set(["tabId", "previousTabId", "openerTabId", "successorTabId", "tabIds"]);
const WINDOW_IDS = new Set(["windowId", "oldWindowId", "newWindowId"]);
const VOLATILE = new Set(["scheduledTime", "lastAccessed", "left", "top", "width", "height",
  "dateAdded", "dateGroupModified", "lastVisitTime", "visitTime", "lastModified"]);
const GUID_KEYS = new Set(["id", "parentId", "oldParentId"]);
const GUID = /^[A-Za-z0-9_-]{12}$/;

// `site` is the origin of the pages that cases may load: scheme, host and port. `quiet` says when a case has settled: after
// so many milliseconds without a new entry, or, if it is an async function, when two calls in a row returned true without one.
async function runCase(browser, testCase, site, quiet = SETTLE_MS) {
  const log = [];
  const saved = {};
  const tabs = new Map();  // id → the number that stands for it, in the order of first sight
  const windows = new Map();
  const guids = new Map(); // ids of bookmarks and of visited pages
  const groups = new Map();
  const listeners = new Map();
  const added = [];
  let awaited = 0; // callbacks of calls that have begun

  const steps = {
    async call(step) { await call(step, {}); },
    async all(step) {
      await Promise.all(step.all.map((inner, index) => inner.call ? call(inner, {call: index}) : take(inner)));
    },
    listen(step) {
      const event = find(step.listen);
      const known = listeners.get(step.as);
      const listener = known ? known.listener : newListener(step);
      try {
        event.addListener(listener, ...(step.args ?? []).map(decode));
      } catch (error) {
        log.push({threw: showMessage(error)});
        return;
      }
      listeners.set(step.as, {event, listener});
      added.push({event, listener});
    },
    unlisten(step) {
      const {event, listener} = listeners.get(step.unlisten);
      event.removeListener(listener);
    },
    hasListener(step) {
      const {event, listener} = listeners.get(step.hasListener);
      log.push({returned: event.hasListener(listener)});
    },
    keys(step) { log.push({returned: Object.keys(find(step.keys)).sort()}); },
    has(step) { log.push({returned: has(step.has)}); },
    value(step) { log.push({returned: show(find(step.value))}); },
    until(step) { return until(step); },
    async fetch({fetch: url, init, quiet}) {
      let entry;
      await settle(); // listeners are added in the parent process by a message, which a request can overtake
      try {
        const response = await fetch(decode(url), init);
        entry = {fetched: [response.status, showText(response.url, LONGEST_SHOWN), response.redirected, await response.text()]};
      } catch (error) {
        entry = {failed: [error.name, error.message]};
      }
      await settle(); // whether listeners or the script come first is anybody's guess
      if (!quiet) log.push(entry);
    },
    heard({heard: name, times = 1}) {
      return patiently(() => log.filter(entry => name === (entry.event ?? entry.callback)).length >= times, `heard ${name}`);
    },
    settle() { return settle(); },
  };

  function take(step) {
    const kind = Object.keys(steps).find(name => name in step);
    return steps[kind](step);
  }

  // Not an async function: what the API throws, and when it settles, must be seen exactly as a script sees it.
  function call({call: path, args = [], save, show: only}, entry) {
    let result;
    try {
      result = invoke(path, args);
    } catch (error) {
      log.push({...entry, threw: showMessage(error)});
      return undefined;
    }
    if (!result || typeof result.then !== "function") {
      if (args.some(value => value?.$callback)) awaited++;
      log.push({...entry, returned: show(result, {ids: idsOf(path), only})});
      return undefined;
    }
    return result.then(
      value => {
        if (save) saved[save] = value;
        log.push({...entry, resolved: show(value, {ids: idsOf(path), only})});
      },
      error => { log.push({...entry, rejected: showMessage(error)}); });
  }

  function invoke(path, args) {
    const dot = path.lastIndexOf(".");
    return find(path.slice(0, dot))[path.slice(dot + 1)](...args.map(decode));
  }

  function newListener({listen: path, as, throws, answers, show: only}) {
    return (...args) => {
      // Whether a page is an article is found out sooner or later, and of no interest here.
      if (args.length > 1 && Object.keys(args[1]).join() === "isArticle") return;
      log.push({event: as, args: args.map(value => show(value, {ids: idsOf(path), only}))});
      if (throws) throw new Error("thrown by a listener, on purpose");
      return decode(answers ?? null) ?? undefined;
    };
  }

  function until({until: path, args = [], is}) {
    const wanted = Object.entries(decode(is));
    return patiently(async () => {
      const answer = await invoke(path, args);
      return wanted.every(([key, value]) => answer[key] === value);
    }, `until ${path}`);
  }

  async function patiently(isDone, what) {
    const deadline = Date.now() + PATIENCE_MS;
    while (!await isDone()) {
      if (Date.now() > deadline) {
        log.push({never: what});
        return;
      }
      await new Promise(resolve => setTimeout(resolve, POLL_MS));
    }
  }

  function find(path) {
    return path.split(".").reduce((owner, name) => owner[name], browser);
  }

  // By its value, as scripts detect features: Firefox's `in` says yes to what the caller may not use, until it is touched.
  function has(path) {
    return path.split(".").reduce((owner, name) => owner?.[name], browser) !== undefined;
  }

  // Arguments: JSON, and {"$…": …} for what JSON has no word for.
  function decode(value) {
    if (Array.isArray(value)) return value.map(decode);
    if (value === null || typeof value !== "object") return value;
    if ("$number" in value) return Number(value.$number);
    if ("$function" in value) return () => {};
    if ("$undefined" in value) return undefined;
    if ("$repeat" in value) return value.$repeat[0].repeat(value.$repeat[1]);
    if ("$inDays" in value) return Date.now() / 1000 + value.$inDays * DAY_SECONDS;
    if ("$ref" in value) return value.$ref.split(".").reduce((owner, name) => owner[name], saved);
    if ("$site" in value) return site + value.$site;
    if ("$callback" in value) {
      return (...args) => {
        awaited--;
        log.push({callback: value.$callback, args: args.map(value => show(value))});
      };
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
  }

  // Results: JSON, with null for undefined, the length only of a very long string, times as seen from now, and ids of
  // tabs and windows by number. `ids` are those that bare numbers are, if they are; `only` the properties of tabs and
  // windows to show, if not all.
  function show(value, {ids, only} = {}) {
    if (value === undefined) return null;
    if (typeof value === "string") return ids === guids && GUID.test(value) ? showGuid(value) : showText(value, LONGEST_SHOWN);
    if (typeof value === "number") return ids && ids !== guids ? showId(value, ids) : value;
    if (Array.isArray(value)) return value.map(item => show(item, {ids, only}));
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).filter(([key]) => !only || !isTab(value) && !isWindow(value) && !isRequest(value) || only.includes(key));
    return Object.fromEntries(entries.map(([key, item]) => [key, showProperty(key, item, value, only)]));
  }

  function showProperty(key, value, owner, only) {
    if (GUID_KEYS.has(key) && typeof value === "string") return show(value, {ids: guids});
    if (key === "sessionId" || /^(v|referringV)isitId$/.test(key) && value !== "0") return "$number";
    if (key === "expirationDate") return showTime(value);
    if (key === "isArticle") return null;
    if (key === "extensionId") return "$self";
    if (VOLATILE.has(key) && typeof value === "number") return "$number";
    if (TAB_IDS.has(key) || key === "id" && isTab(owner)) return show(value, {ids: tabs});
    if (WINDOW_IDS.has(key) || key === "id" && isWindow(owner)) return show(value, {ids: windows});
    if (key === "groupId" || key === "id" && isGroup(owner)) return show(value, {ids: groups});
    return show(value, {only});
  }

  function isTab(value) {
    return "highlighted" in value;
  }

  function isWindow(value) {
    return "alwaysOnTop" in value;
  }

  function isGroup(value) {
    return "collapsed" in value;
  }

  function isRequest(value) {
    return "requestId" in value;
  }

  // The ids of which namespace a call or an event deals in.
  function idsOf(path) {
    if (path === "tabs.group") return groups;
    return {tabs, windows, tabGroups: groups, bookmarks: guids, history: guids}[path.split(".")[0]];
  }

  function showId(id, ids) {
    if (id < 0) return id;
    if (!ids.has(id)) ids.set(id, ids.size + 1);
    return {[ids === tabs ? "$tab" : ids === windows ? "$window" : "$group"]: ids.get(id)};
  }

  // The root folders of bookmarks have the same ids everywhere.
  function showGuid(id) {
    if (id.endsWith("_____")) return id;
    if (!guids.has(id)) guids.set(id, guids.size + 1);
    return {$guid: guids.get(id)};
  }

  function showText(text, longest) {
    const own = text.replaceAll(browser.runtime.getURL(""), "$own/");
    const told = site ? own.replaceAll(site, "$site").replaceAll(site.split("//")[1], "$host") : own;
    return told.length > longest ? {$length: told.length} : told;
  }

  function showMessage(error) {
    const message = error.message.replace(/(tab|window) ID: (\d+)$/, (all, kind, id) => {
      const number = (kind === "tab" ? tabs : windows).get(Number(id));
      return number ? `${kind} ID: $${kind} ${number}` : all;
    });
    const masked = message.replace(/"((?:parentG|g)uid)":"([^"]*)"/g, (all, key, id) => guids.has(id) ? `"${key}":"$guid ${guids.get(id)}"` : all);
    return showText(masked.replace(/sessionId (?!9999999)\d+/, "sessionId $$number"), LONGEST_MESSAGE);
  }

  function showTime(seconds) {
    return {$inDays: Math.round((seconds - Date.now() / 1000) / DAY_SECONDS * 100) / 100};
  }

  async function settle() {
    await (typeof quiet === "function" ? untilIdle(quiet) : untilQuiet(quiet));
  }

  async function untilIdle(isIdle) {
    for (let times = 0; times < 2;) {
      const before = log.length;
      times = await isIdle() && log.length === before ? times + 1 : 0;
    }
  }

  async function untilQuiet(settleMs) {
    const deadline = Date.now() + CALLBACK_MS;
    while (awaited > 0 && Date.now() < deadline) await new Promise(resolve => setTimeout(resolve, POLL_MS));
    let before;
    do {
      before = log.length;
      await new Promise(resolve => setTimeout(resolve, settleMs));
    } while (log.length > before);
  }

  async function seeFirst() {
    [saved.tab] = await browser.tabs.query({});
    saved.window = {id: saved.tab.windowId};
    showId(saved.tab.id, tabs);
    showId(saved.window.id, windows);
  }

  async function empty() {
    const areas = browser.runtime.id.endsWith("@temporary-addon") ? ["local", "session"] : ["local", "sync", "session"];
    if (browser.storage) for (const area of areas) await browser.storage[area].clear();
    if (browser.history) await browser.history.deleteAll();
    for (const root of browser.bookmarks ? ["menu________", "toolbar_____", "unfiled_____", "mobile______"] : []) {
      for (const {id} of await browser.bookmarks.getChildren(root)) await browser.bookmarks.removeTree(id);
    }
    for (const {tab, window} of await browser.sessions?.getRecentlyClosed?.() ?? []) {
      await (tab ? browser.sessions.forgetClosedTab(tab.windowId, tab.sessionId) : browser.sessions.forgetClosedWindow(window.sessionId));
    }
    if (browser.alarms) await browser.alarms.clearAll();
  }

  await empty();
  if (browser.tabs) await seeFirst();
  for (const step of testCase.steps) await take(step);
  await settle();
  for (const {event, listener} of added) event.removeListener(listener);
  return log;
}
