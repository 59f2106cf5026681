// Loads scripts and modules of the extension. All sources come from the host.
// No promise here may be fulfilled with a module: a script can inspect the value of every promise (a getter `then` on
// Object.prototype, `constructor` on Promise.prototype), and with the class of a module it could compile code from
// strings, against its content security policy.

import {
  NativeMap, NativeTypeError, append, defineValue, mapGet, mapHas, mapSet, parse, startsWith,
} from "./primordials.js";
import {rememberFile} from "./errors.js";

const resolveUrl = URL;

// `fetchSource(url)` resolves to the text of a file, or null. `vm` is node:vm.
export function createLoader({vm, base, fetchSource}) {
  const {Script, SourceTextModule, SyntheticModule} = vm;
  const entries = new NativeMap(); // kind and url → {url, module, compiled}; `module` is set when `compiled` resolves
  const linked = new NativeMap();

  function resolve(specifier, referrer) {
    if (!startsWith(specifier, "/") && !startsWith(specifier, "./") && !startsWith(specifier, "../") && !startsWith(specifier, base)) {
      throw new NativeTypeError(`The specifier “${specifier}” was a bare specifier, or names nothing in this extension.`);
    }
    const {href} = new resolveUrl(specifier, referrer);
    if (!startsWith(href, base)) throw new NativeTypeError(`Module “${href}” is not part of this extension.`);
    return href;
  }

  async function compile(entry, kind) {
    const {url} = entry;
    const source = await fetchSource(url);
    if (source === null) throw new NativeTypeError(`error loading dynamically imported module: ${url}`);
    try {
      entry.module = kind === "json" ? jsonModule(url, source) : javascriptModule(url, source);
    } catch (error) {
      rememberFile(error, url);
      throw error;
    }
  }

  function jsonModule(url, source) {
    const value = parse(source);
    return new SyntheticModule(["default"], function () { this.setExport("default", value); }, {identifier: url});
  }

  function javascriptModule(url, source) {
    return new SourceTextModule(source, {
      identifier: url,
      initializeImportMeta: meta => { defineValue(meta, "url", url, {__proto__: null, writable: true, configurable: true}); },
      importModuleDynamically: (specifier, _, attributes) => importFrom(url, specifier, attributes),
    });
  }

  function entryOf(url, kind) {
    const key = `${kind}:${url}`;
    if (!mapHas(entries, key)) {
      const entry = {__proto__: null, url, module: null, compiled: null};
      mapSet(entries, key, entry);
      entry.compiled = compile(entry, kind);
    }
    return mapGet(entries, key);
  }

  function kindOf(attributes) {
    const type = attributes?.type;
    if (type === undefined || type === "json") return type ?? "javascript";
    throw new NativeTypeError(`Module type “${type}” is not known.`);
  }

  // Load and link the graph of a module. All sources are requested before anything is linked.
  async function load(entry) {
    await entry.compiled;
    const graph = new NativeMap();
    await gather(entry, graph);
    const root = entry.module;
    link(root, graph);
    if (root.status === "unlinked") root.instantiate?.();
  }

  async function gather({url, module}, graph) {
    if (mapHas(graph, module) || module.status !== "unlinked") return;
    const requests = module.moduleRequests ?? [];
    const wanted = [];
    for (let i = 0; i < requests.length; i++) {
      const kind = kindOf(requests[i].attributes);
      append(wanted, entryOf(resolve(requests[i].specifier, url), kind));
    }
    const found = [];
    mapSet(graph, module, found);
    for (let i = 0; i < wanted.length; i++) {
      await wanted[i].compiled;
      append(found, wanted[i].module);
    }
    for (let i = 0; i < wanted.length; i++) await gather(wanted[i], graph);
  }

  function link(module, graph) {
    const found = mapGet(graph, module);
    if (found === undefined || mapHas(linked, module)) return;
    mapSet(linked, module, true);
    for (let i = 0; i < found.length; i++) link(found[i], graph);
    module.linkRequests?.(found);
  }

  async function importFrom(referrer, specifier, attributes) {
    const entry = entryOf(resolve(specifier, referrer), kindOf(attributes));
    await load(entry);
    await entry.module.evaluate();
    return entry.module.namespace;
  }

  return {
    // Compile a classic script. All share the global scope.
    compileScript(url, source) {
      const script = new Script(source, {
        filename: url,
        importModuleDynamically: (specifier, _, attributes) => importFrom(url, specifier, attributes),
      });
      return () => script.runInThisContext();
    },
    // Throw if the source has a syntax error. Top-level `await` is allowed.
    check(url, source) {
      new SourceTextModule(source, {identifier: url});
    },
    runModule: url => importFrom(base, url, undefined),
  };
}
