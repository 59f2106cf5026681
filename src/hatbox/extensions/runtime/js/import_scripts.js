// importScripts() of a background that is a service worker. Knows neither the pipe nor where sources come from.

import {
  NativeDOMException, NativeMap, NativeTypeError, append, captureStackTrace, mapGet, mapHas, mapSet, startsWith,
} from "./primordials.js";

const resolveUrl = URL;
const MODULE = "WorkerGlobalScope.importScripts: Using `ImportScripts` inside a Module Worker is disallowed.";

// `sourceNow(url)` gives the text of a file, or null, at once; `compileScript` is the loader's.
export function createImportScripts({base, compileScript, sourceNow}) {
  const sources = new NativeMap(); // URL → text: what was imported once can always be imported again
  let worker = null; // the URL of the worker, from which all others are seen
  let first = true; // whether the worker runs for the first time; afterwards there is nothing new to import

  function importScripts(...given) {
    const texts = [];
    for (let i = 0; i < given.length; i++) append(texts, `${given[i]}`);
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
    const source = first && startsWith(url, base) ? sourceNow(url) : null;
    if (source === null) throw exception(`Failed to load worker script at "${url}"`, "NetworkError");
    mapSet(sources, url, source);
    return source;
  }

  function exception(words, name) {
    const made = new NativeDOMException(`WorkerGlobalScope.importScripts: ${words}`, name);
    captureStackTrace(made, importScripts);
    return made;
  }

  return {
    importScripts,
    begin(url) { worker = url; },
    end() { first = false; },
  };
}

// That of a worker that is a module.
export function refuseImportScripts() {
  const importScripts = () => { throw new NativeTypeError(MODULE); };
  return importScripts;
}
