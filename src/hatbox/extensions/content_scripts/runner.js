// Runs first in each document, in the world of one extension or in the main world: chooses the content scripts of the
// document, starts the bridge when a script uses it, and runs them at their time. `config` is that of runner_source.py;
// `start` is that of content_main.js; `functions` are the scripts for the main world, where the page's policy may not allow
// eval(), and which has no bridge.
// It serves documents, not windows: Chromium reuses the window of an empty document, and this world with it, for a document
// of the same origin.
((config, start, functions) => {
  const AFTER_INTERACTIVE = 1000; // milliseconds until document_idle without an idle period
  const CHECK_EVERY = 2000; // milliseconds
  const POLL_EVERY = 10; // milliseconds
  const POLLS = 500;
  const RUN_AT = {__proto__: null, document_start: 0, document_end: 1, document_idle: 2};
  const BEFORE_ROOT = -1; // as in Firefox, scripts do not run before the document has its root element
  const {key} = config;
  if (key !== null && globalThis[key] !== undefined) return;
  const evaluate = eval; // an indirect call evaluates in the global scope
  const {requestIdleCallback, queueMicrotask, setTimeout, MutationObserver, Promise, SyntaxError, fetch} = globalThis;
  // Chromium creates an interface object when it is first read, so those that few documents need are read only there.
  const inherits = /^(?:about|data|blob):/.test(location.href); // also the window of a later document
  const URL = inherits ? globalThis.URL : null;
  const CSSStyleSheet = config.scripts.some(({css}) => css.length > 0) ? globalThis.CSSStyleSheet : null;
  const {defineProperty} = Object;
  const listenTo = Function.prototype.call.bind(globalThis.addEventListener);
  const listen = listenTo.bind(null, globalThis);
  let served = null; // the document whose scripts are running
  let waiting = []; // what runs later in it: {at, job}
  let isBooted = false;
  let sheets = []; // the style sheets in the served document
  let scripts = functions === undefined ? config.scripts : config.scripts.map((script, index) => ({...script, files: functions[index]}));
  let shadowing = []; // names and accessors of declarations with the name of a global
  const declared = new Set(); // the names of top-level let, const and class declarations

  const isTop = () => window === top;

  // Chromium has no policy for this world. As in Firefox, scripts of version 3 evaluate no texts.
  function forbidEval() {
    const {EvalError, Proxy} = globalThis;
    const refusing = (name) => () => { throw new EvalError(`call to ${name}() blocked by CSP`); };
    const refuseEval = refusing("eval"), refuse = refusing("Function");
    const blocked = new Proxy(evaluate, {apply: (_, self, [text]) => typeof text === "string" ? refuseEval() : text});
    defineProperty(globalThis, "eval", {value: blocked, writable: true, configurable: true});
    for (const made of [() => {}, async () => {}, function* () {}, async function* () {}]) {
      const {prototype} = made.constructor;
      const value = new Proxy(made.constructor, {apply: refuse, construct: refuse});
      defineProperty(prototype, "constructor", {value, configurable: true, writable: prototype === Function.prototype});
    }
    globalThis.Function = Function.prototype.constructor;
  }

  // Whether this is the first, empty document of a frame that loads another one. As in Firefox, scripts run in it only if it
  // exists already when the extension starts.
  function isReplacedSoon() {
    if (config.start === "open" || isTop() || location.href !== "about:blank") return false;
    try {
      const {src} = frameElement;
      return frameElement.hasAttribute("srcdoc") || !/^(?:about:blank(?:[?#]|$)|javascript:|$)/.test(src ?? "");
    } catch {
      return false; // a frame of another origin
    }
  }

  // The URL of the nearest ancestor or opener that does not inherit its origin. The path is unknown across origins.
  function creatorUrl() {
    let view = isTop() ? opener : parent;
    for (let level = 0; view !== null && level < 64; level++) {
      let href;
      try {
        href = view.location.href;
      } catch {
        const origin = isTop() ? self.origin : location.ancestorOrigins[level];
        return origin === undefined || origin === "null" ? null : `${origin}/`;
      }
      if (!/^(?:about|data|blob):/.test(href)) return href;
      view = view === view.parent ? view.opener : view.parent;
    }
    return self.origin === "null" ? null : `${self.origin}/`;
  }

  // As in content_script_matching.compared_url().
  function comparedUrl({blank, fallback}) {
    const {href} = location;
    const scheme = /^(about|data|blob):/.exec(href)?.[1];
    if (scheme === undefined) return href;
    if (fallback || scheme === "blob") return creatorUrl();
    if (/^about:(?:blank|srcdoc)(?:[?#]|$)/.test(href)) return blank && self.origin !== "null" ? creatorUrl() : null;
    return null;
  }

  function findWithQuestion(piece, text, from) {
    for (let at = from; at + piece.length <= text.length; at++) if (equal(piece, text, at, true)) return at;
    return -1;
  }

  function equal(piece, text, at, question) {
    if (!question) return text.startsWith(piece, at);
    for (let i = 0; i < piece.length; i++) if (piece[i] !== "?" && piece[i] !== text[at + i]) return false;
    return true;
  }

  // As in hatbox.urls.globs.
  function matchesGlob({pieces, question: withQuestion}, text) {
    const first = pieces[0];
    const question = withQuestion && pieces.some(piece => piece.includes("?"));
    if (pieces.length === 1) return text.length === first.length && equal(first, text, 0, question);
    const last = pieces[pieces.length - 1];
    const end = text.length - last.length;
    let at = first.length;
    if (at > end || !equal(first, text, 0, question) || !equal(last, text, end, question)) return false;
    for (let i = 1; i < pieces.length - 1; i++) {
      at = question ? findWithQuestion(pieces[i], text, at) : text.indexOf(pieces[i], at);
      if (at < 0) return false;
      at += pieces[i].length;
    }
    return at <= end;
  }

  function matchesPattern({schemes, domain, subdomains, path}, url) {
    if (!schemes.includes(url.protocol.slice(0, -1))) return false;
    const host = url.hostname;
    if (domain !== null && host !== domain && !(subdomains && host.endsWith(`.${domain}`))) return false;
    return path === null || matchesGlob(path, url.pathname + url.search);
  }

  const matchesAny = (patterns, url) => patterns.some(pattern => matchesPattern(pattern, url));

  // As in content_script_matching.script_matches().
  function matches(script) {
    if (!script.frames && !isTop()) return false;
    if (script.stores !== null && !script.stores.includes(config.store)) return false;
    const text = comparedUrl(script);
    if (text === null) return false;
    let url = location;
    try {
      if (inherits) url = new URL(text);
    } catch {
      return false;
    }
    if (config.restricted.includes(url.hostname) || `${url.protocol}//${url.hostname}${url.pathname}`.startsWith(config.protected)) return false;
    if (!matchesAny(script.matches, url) || matchesAny(script.excludes, url)) return false;
    if (script.hosts !== null && !matchesAny(script.hosts, url)) return false;
    const href = url.href.replace(/#.*/s, "");
    if (script.includeGlobs !== null && !script.includeGlobs.some(glob => matchesGlob(glob, href))) return false;
    return !script.excludeGlobs.some(glob => matchesGlob(glob, href));
  }

  // Start the bridge when a script first uses `browser`: many scripts do so after the page has loaded, or never. The names are
  // defined before any script runs, because an element with that id would be a global otherwise.
  function offerBrowser() {
    if (isBooted || start === null) return;
    for (const name of ["browser", "chrome", "fetch"]) {
      const get = () => {
        boot();
        return globalThis[name];
      };
      const set = value => {
        boot();
        globalThis[name] = value;
      };
      defineProperty(globalThis, name, {get, set, configurable: true, enumerable: false});
    }
  }

  function boot() {
    if (isBooted || start === null) return;
    isBooted = true;
    defineProperty(globalThis, "fetch", {value: fetch, writable: true, configurable: true, enumerable: true}); // the bridge uses it
    try { // the page may require Trusted Types, which do not apply to content scripts in Firefox
      const pass = text => text;
      trustedTypes.createPolicy("default", {createHTML: pass, createScript: pass, createScriptURL: pass});
    } catch {}
    const post = globalThis[config.binding];
    delete globalThis[config.binding];
    const {receive, encodeResult, encodeThrown} = start(post, config.settings);
    runner.encodeResult = encodeResult;
    runner.encodeThrown = encodeThrown;
    defineProperty(globalThis, config.receiver, {value: receive, configurable: true, enumerable: false});
  }

  const report = error => { queueMicrotask(() => { throw error; }); };

  // Declarations of an evaluated text are local to it, those of a script are not. So each name is defined as an accessor of
  // the global object. The accessors are functions of the text: they see its scope.
  function declare(lexical, others) {
    for (const name in lexical) {
      if (declared.has(name)) throw new SyntaxError(`Identifier '${name}' has already been declared`);
    }
    for (const name in lexical) {
      declared.add(name);
      // `const browser = globalThis.browser` reads the global: it is replaced when the script has ended.
      if (name in globalThis) shadowing.push([name, lexical[name]]);
      else define(name, lexical[name]);
    }
    for (const name in others) define(name, others[name]);
  }

  function define(name, [get, set]) {
    defineProperty(globalThis, name, {get, set, configurable: true, enumerable: false});
  }

  function defineShadowing() {
    for (const [name, accessors] of shadowing) {
      try {
        accessors[0](); // throws if the script has ended before the declaration
        define(name, accessors);
      } catch {}
    }
    shadowing = [];
  }

  function run(files) {
    for (const file of files) {
      try {
        if (typeof file === "string") evaluate(file);
        else file.call(globalThis, declare);
      } catch (error) {
        report(error);
      }
      defineShadowing();
    }
  }

  function addStyles(texts) {
    for (const text of texts) {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      document.adoptedStyleSheets.push(sheet);
      sheets.push(sheet);
    }
  }

  // The extension has ended: nothing runs any more, and its style sheets are removed.
  function end() {
    waiting = [];
    scripts = [];
    const removed = new Set(sheets);
    sheets = [];
    if (removed.size > 0) document.adoptedStyleSheets = document.adoptedStyleSheets.filter(sheet => !removed.has(sheet));
  }

  function reach(at, view) {
    if (view !== document) return;
    const due = waiting.filter(each => each.at <= at).sort((a, b) => a.at - b.at);
    waiting = waiting.filter(each => each.at > at);
    for (const {job} of due) job();
  }

  function reachIdleSoon(view) {
    requestIdleCallback(() => { reach(RUN_AT.document_idle, view); }, {timeout: AFTER_INTERACTIVE});
  }

  const TIMES = {__proto__: null, loading: RUN_AT.document_start, interactive: RUN_AT.document_end, complete: RUN_AT.document_idle};
  const reached = () => document.documentElement === null ? BEFORE_ROOT : TIMES[document.readyState];

  // The parser runs microtasks, and so this observer, before it runs the first script of the page.
  function waitForRoot() {
    const view = document;
    const observer = new MutationObserver(() => {
      if (view.documentElement === null) return;
      observer.disconnect();
      reach(RUN_AT.document_start, view);
    });
    observer.observe(view, {childList: true});
  }

  function serve() {
    if (document === served || isReplacedSoon()) return;
    served = document;
    waiting = [];
    sheets = [];
    declared.clear();
    const chosen = scripts.filter(matches);
    if (chosen.length > 0) offerBrowser();
    const now = reached();
    // At each time, the style sheets of all scripts come before the first script. Style sheets need no root element.
    for (const {at, css} of chosen) if (at === RUN_AT.document_start || at <= now) addStyles(css);
    for (const {at, css} of chosen) {
      if (at > RUN_AT.document_start && at > now) waiting.push({at, job: () => { addStyles(css); }});
    }
    for (const {at, files} of chosen) {
      if (at > now) waiting.push({at, job: () => { run(files); }});
      else run(files);
    }
    if (now === BEFORE_ROOT) waitForRoot();
    if (inherits) listenTo(document, "DOMContentLoaded", onParsed); // does not reach a window that is reused
    if (now === RUN_AT.document_end) reachIdleSoon(document);
    if (waiting.length > 0) checkLater(document);
  }

  // The events of this document may be dropped; see below.
  function checkLater(view) {
    setTimeout(() => {
      if (view !== document || waiting.length === 0) return;
      reach(reached(), view);
      if (waiting.length > 0) checkLater(view);
    }, CHECK_EVERY);
  }

  function onParsed(event) {
    if (!event.isTrusted || event.target !== document) return;
    serve();
    reach(RUN_AT.document_end, document);
    reachIdleSoon(document);
  }
  listen("DOMContentLoaded", onParsed, true);
  listen("load", event => {
    if (!event.isTrusted || event.target !== document) return;
    serve();
    reach(RUN_AT.document_idle, document);
  }, true);
  // The next document may have this window. Chromium drops the events of pages that are paused, as all pages of a process are
  // while one of them opens a window, but runs their tasks later. So a window that loads a document polls for it.
  if (location.href === "about:blank") {
    const {scheduler} = globalThis;
    const empty = document;
    // In a task of this priority the document is the new one, and has no element yet.
    const post = (job, delay) => { scheduler.postTask(job, {priority: "user-blocking", delay}); };
    const poll = left => {
      if (document !== empty) serve();
      else if (left > 0) post(() => { poll(left - 1); }, POLL_EVERY);
    };
    listen("pagehide", event => { if (event.isTrusted) post(serve, 0); }, true);
    if (isTop() ? opener !== null : isReplacedSoon()) poll(POLLS);
  }

  // The host calls these.
  const runner = {
    __proto__: null, boot, declare, end, serve,
    // Resolves when the document has reached this time.
    ready: name => new Promise(resolve => {
      serve();
      if (RUN_AT[name] <= reached()) resolve();
      else waiting.push({at: RUN_AT[name], job: resolve});
    }),
  };
  if (config.evaluates === false) forbidEval();
  if (key !== null) defineProperty(globalThis, key, {value: runner, enumerable: false, configurable: false, writable: false});
  serve();
})
