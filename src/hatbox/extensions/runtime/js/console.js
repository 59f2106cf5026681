// `console` for scripts: every message is sent to the host. Deno's own console must not be used, because stdout is the pipe.

import {
  NativeMap, create, defineValue, indexOf, mapDelete, mapGet, mapSet, repeat, slice,
} from "./primordials.js";
import {callSite, locationIn} from "./errors.js";

const MAX_LENGTH = 1 << 16;
const MAX_INDENT = 100; // levels of groups that are indented
const {round} = Math;
const toNumber = Number;
const toInteger = parseInt;
const now = performance.now.bind(performance);

// `inspect` formats a value; `emit(level, text, location)` is called for each message.
export function createConsole({inspect, emit}) {
  const counts = new NativeMap();
  const timers = new NativeMap();
  let depth = 0;

  const shown = value => typeof value === "string" ? value : inspect(value);

  function format(args) {
    let text = "";
    let next = 0;
    if (typeof args[0] === "string" && args.length > 1) {
      next = 1;
      const template = args[0];
      for (let i = 0; i < template.length; i++) {
        const character = template[i];
        if (character !== "%" || i + 1 === template.length) {
          text += character;
          continue;
        }
        const directive = template[++i];
        if (directive === "%") text += "%";
        else if (next >= args.length) text += `%${directive}`;
        else if (directive === "s") text += shown(args[next++]);
        else if (directive === "d" || directive === "i") text += asNumber(toInteger, args[next++]);
        else if (directive === "f") text += asNumber(toNumber, args[next++]);
        else if (directive === "o" || directive === "O" || directive === "j") text += inspect(args[next++]);
        else if (directive === "c") next++;
        else text += `%${directive}`;
      }
    }
    for (let i = next; i < args.length; i++) text += (i ? " " : "") + shown(args[i]);
    return text;
  }

  function write(level, text, hidden) {
    const cut = text.length > MAX_LENGTH ? `${slice(text, 0, MAX_LENGTH)}…` : text;
    emit(level, repeat("  ", depth < MAX_INDENT ? depth : MAX_INDENT) + cut, locationIn(`${callSite(hidden).stack}`));
  }

  const label = value => value === undefined ? "default" : `${value}`;
  const console = create(Object.prototype);
  const define = (name, method) => defineValue(console, name, method, {__proto__: null, writable: true, configurable: true});

  for (const [name, level] of [["log", "log"], ["info", "info"], ["warn", "warn"], ["error", "error"], ["debug", "debug"],
    ["dirxml", "log"], ["exception", "error"]]) {
    const method = (...args) => { write(level, format(args), method); };
    define(name, method);
  }
  const dir = value => { write("log", inspect(value), dir); };
  const table = value => { write("log", inspect(value), table); };
  const trace = (...args) => {
    const stack = `${callSite(trace).stack}`;
    write("log", `${format(args) || "console.trace()"}\n${slice(stack, indexOf(stack, "\n") + 1)}`, trace);
  };
  const assert = (condition, ...args) => {
    if (!condition) write("error", args.length ? `Assertion failed: ${format(args)}` : "Assertion failed", assert);
  };
  const group = (...args) => {
    if (args.length) write("log", format(args), group);
    depth++;
  };
  const count = name => {
    const total = (mapGet(counts, label(name)) ?? 0) + 1;
    mapSet(counts, label(name), total);
    write("log", `${label(name)}: ${total}`, count);
  };
  const elapsed = (name, hidden, text = "") => {
    const start = mapGet(timers, label(name));
    if (start === undefined) write("warn", `Timer “${label(name)}” doesn’t exist.`, hidden);
    else write("log", `${label(name)}: ${round(now() - start)}ms${text && ` ${text}`}`, hidden);
  };
  const timeLog = (name, ...args) => { elapsed(name, timeLog, format(args)); };
  const timeEnd = name => {
    elapsed(name, timeEnd);
    mapDelete(timers, label(name));
  };
  define("dir", dir);
  define("table", table);
  define("trace", trace);
  define("assert", assert);
  define("group", group);
  define("groupCollapsed", group);
  define("groupEnd", () => { if (depth > 0) depth--; });
  define("count", count);
  define("countReset", name => { mapDelete(counts, label(name)); });
  define("time", name => { mapSet(timers, label(name), now()); });
  define("timeLog", timeLog);
  define("timeEnd", timeEnd);
  define("clear", () => {});
  return console;
}

function asNumber(convert, value) {
  return typeof value === "symbol" || typeof value === "object" ? "NaN" : `${convert(value)}`;
}
