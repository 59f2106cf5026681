// Runs one case of a suite against a `browser` object and returns its log; record.py describes the format.
// Plain JavaScript without any I/O, so that every engine runs the same file.

const SETTLE_MS = 50;
const LONGEST_SHOWN = 200;
const LONGEST_MESSAGE = 700;
const DAY_SECONDS = 86400;

async function runCase(browser, testCase) {
  const log = [];
  const listeners = new Map();
  const added = [];

  const steps = {
    async call(step) { await call(step, {}); },
    async all(step) {
      await Promise.all(step.all.map((inner, index) => inner.call ? call(inner, {call: index}) : take(inner)));
    },
    listen(step) {
      const event = find(step.listen);
      const known = listeners.get(step.as);
      const listener = known ? known.listener : newListener(step);
      listeners.set(step.as, {event, listener});
      added.push({event, listener});
      event.addListener(listener);
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
    settle() { return settle(); },
  };

  function take(step) {
    const kind = Object.keys(steps).find(name => name in step);
    return steps[kind](step);
  }

  // Not an async function: what the API throws, and when it settles, must be seen exactly as a script sees it.
  function call({call: path, args = []}, entry) {
    const dot = path.lastIndexOf(".");
    const owner = find(path.slice(0, dot));
    let result;
    try {
      result = owner[path.slice(dot + 1)](...args.map(decode));
    } catch (error) {
      log.push({...entry, threw: showText(error.message, LONGEST_MESSAGE)});
      return undefined;
    }
    if (!result || typeof result.then !== "function") {
      log.push({...entry, returned: show(result)});
      return undefined;
    }
    return result.then(
      value => { log.push({...entry, resolved: show(value)}); },
      error => { log.push({...entry, rejected: showText(error.message, LONGEST_MESSAGE)}); });
  }

  function newListener({as, throws}) {
    return (...args) => {
      log.push({event: as, args: args.map(show)});
      if (throws) throw new Error("thrown by a listener, on purpose");
    };
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
    if ("$repeat" in value) return value.$repeat[0].repeat(value.$repeat[1]);
    if ("$inDays" in value) return Date.now() / 1000 + value.$inDays * DAY_SECONDS;
    if ("$callback" in value) return (...args) => { log.push({callback: value.$callback, args: args.map(show)}); };
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
  }

  // Results: JSON, with null for undefined, the length only of a very long string, and times as seen from now.
  function show(value) {
    if (value === undefined) return null;
    if (typeof value === "string") return showText(value, LONGEST_SHOWN);
    if (Array.isArray(value)) return value.map(show);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(
      ([key, item]) => [key, key === "expirationDate" ? showTime(item) : show(item)]));
  }

  function showText(text, longest) {
    return text.length > longest ? {$length: text.length} : text;
  }

  function showTime(seconds) {
    return {$inDays: Math.round((seconds - Date.now() / 1000) / DAY_SECONDS * 100) / 100};
  }

  function settle() {
    return new Promise(resolve => setTimeout(resolve, SETTLE_MS));
  }

  for (const step of testCase.steps) await take(step);
  await settle();
  for (const {event, listener} of added) event.removeListener(listener);
  return log;
}
