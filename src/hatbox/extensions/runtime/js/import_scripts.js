// importScripts() of a service worker background. Independent of the pipe and the source of files.

import {
  NativeDOMException, NativeMap, NativeTypeError, append, captureStackTrace, mapGet, mapHas, mapSet, startsWith,
} from "./primordials.js";

const resolveUrl = URL;
const MODULE = "WorkerGlobalScope.importScripts: Using `ImportScripts` inside a Module Worker is disallowed.";

// `readSourceSync(url)` returns the text of a file, or null; `compileScript` is that of the loader.
export function createImportScripts({base, compileScript, readSourceSync}) {
  const sources = new NativeMap(); // URL → text: an imported script can be imported again at any time
  let worker = null; // the URL of the worker, which is the base URL of imports
  let installing = true; // whether the worker script runs for the first time; afterwards no new script can be imported

  function importScripts(...args) {
    const texts = [];
    for (let i = 0; i < args.length; i++) append(texts, `${args[i]}`);
    const urls = [];
    for (let i = 0; i < texts.length; i++) append(urls, resolve(texts[i]));
    for (let i = 0; i < urls.length; i++) compileScript(urls[i], sourceOf(urls[i]))();
  }

  function resolve(text) {
    try {
      return new resolveUrl(text, worker).href;
    } catch {
      throw exception(`"${text}" is not a valid URL`, "SyntaxError");
    }
  }

  function sourceOf(url) {
    if (mapHas(sources, url)) return mapGet(sources, url);
    const source = installing && startsWith(url, base) ? readSourceSync(url) : null;
    if (source === null) throw exception(`Failed to load worker script at "${url}"`, "NetworkError");
    mapSet(sources, url, source);
    return source;
  }

  function exception(message, name) {
    const error = new NativeDOMException(`WorkerGlobalScope.importScripts: ${message}`, name);
    captureStackTrace(error, importScripts);
    return error;
  }

  return {
    importScripts,
    start(url) { worker = url; },
    end() { installing = false; },
  };
}

// importScripts() of a module worker.
export function rejectImportScripts() {
  const importScripts = () => { throw new NativeTypeError(MODULE); };
  return importScripts;
}
