// Scripts and modules of the extension. Their sources come from the host, whatever their URL says: nothing else is loaded.

import {
  NativeMap, NativeTypeError, append, defineValue, mapGet, mapHas, mapSet, parse, startsWith,
} from "./primordials.js";
import {rememberFile} from "./errors.js";

const resolveUrl = URL;

// `fetchSource(url)` promises the text of a file, or null. `vm` is node:vm.
export function createLoader({vm, base, fetchSource}) {
  const {Script, SourceTextModule, SyntheticModule} = vm;
  const modules = new NativeMap(); // kind and url → promise of a module, not yet linked
  const linked = new NativeMap();

  function resolve(specifier, referrer) {
    if (!startsWith(specifier, "/") && !startsWith(specifier, "./") && !startsWith(specifier, "../") && !startsWith(specifier, base)) {
      throw new NativeTypeError(`The specifier “${specifier}” was a bare specifier, or names nothing in this extension.`);
    }
    const {href} = new resolveUrl(specifier, referrer);
    if (!startsWith(href, base)) throw new NativeTypeError(`Module “${href}” is not part of this extension.`);
    return href;
  }

  async function compile(url, kind) {
    const source = await fetchSource(url);
    if (source === null) throw new NativeTypeError(`error loading dynamically imported module: ${url}`);
    try {
      return kind === "json" ? jsonModule(url, source) : javascriptModule(url, source);
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

  function moduleAt(url, kind) {
    const key = `${kind}:${url}`;
    if (!mapHas(modules, key)) mapSet(modules, key, compile(url, kind));
    return mapGet(modules, key);
  }

  function kindOf(attributes) {
    const type = attributes?.type;
    if (type === undefined || type === "json") return type ?? "javascript";
    throw new NativeTypeError(`Module type “${type}” is not known.`);
  }

  // A module whose whole graph is there and linked. All sources are asked for before anything is linked.
  async function load(url, kind) {
    const root = await moduleAt(url, kind);
    const graph = new NativeMap();
    await gather(root, url, graph);
    link(root, graph);
    if (root.status === "unlinked") root.instantiate?.();
    return root;
  }

  async function gather(module, url, graph) {
    if (mapHas(graph, module) || module.status !== "unlinked") return;
    const requests = module.moduleRequests ?? [];
    const wanted = [];
    for (let i = 0; i < requests.length; i++) {
      const kind = kindOf(requests[i].attributes);
      const target = resolve(requests[i].specifier, url);
      append(wanted, {target, module: moduleAt(target, kind)});
    }
    const found = [];
    mapSet(graph, module, found);
    for (let i = 0; i < wanted.length; i++) append(found, await wanted[i].module);
    for (let i = 0; i < wanted.length; i++) await gather(found[i], wanted[i].target, graph);
  }

  function link(module, graph) {
    const found = mapGet(graph, module);
    if (found === undefined || mapHas(linked, module)) return;
    mapSet(linked, module, true);
    for (let i = 0; i < found.length; i++) link(found[i], graph);
    module.linkRequests?.(found);
  }

  async function importFrom(referrer, specifier, attributes) {
    const module = await load(resolve(specifier, referrer), kindOf(attributes));
    await module.evaluate();
    return module;
  }

  return {
    // A classic script, ready to be run; they share one scope.
    compileScript(url, source) {
      const script = new Script(source, {
        filename: url,
        importModuleDynamically: (specifier, _, attributes) => importFrom(url, specifier, attributes),
      });
      return () => script.runInThisContext();
    },
    // Throws if this is no code, also where `await` stands outside of functions.
    check(url, source) {
      new SourceTextModule(source, {identifier: url});
    },
    runModule: url => importFrom(base, url, undefined),
  };
}
