// Runs in a hidden page, to which Chromium exposes a CDP connection of its own (Target.exposeDevToolsProtocol).
// Attaches to each page and frame before its first script runs, adds the scripts and bindings of the host, then resumes
// it. The host is not part of that path, so a slow host delays no page.
(connection, report) => {
  const FRAMES = [{type: "iframe"}, {exclude: true}];
  const PAGES = [{type: "page"}, {exclude: true}];
  const EVENTS = new Set([
    "Page.frameAttached", "Page.frameNavigated", "Page.frameDetached", "Page.navigatedWithinDocument", "Inspector.targetCrashed",
  ]);
  const LABEL = "%COOKIE_STORE_ID%";
  const contexts = new Map(); // cookieStoreId by browserContextId: only pages in these get scripts
  const scripts = new Map(); // {source, worldName} by key
  const bindings = new Map(); // world name by binding name
  const worlds = new Map(); // by the names of those worlds, what is evaluated in them when a new document has the same window
  const embedded = new Map(); // {binding, source, origin} by the id of the frame: for documents of extensions in their main world
  const MAX_EMBEDDED = 1000;
  const MAX_PAYLOAD = 8 * 2 ** 20; // characters in a call of a binding
  const sessions = new Map();
  const replies = new Map();
  const SOON = 30; // milliseconds
  const LATER = 250; // milliseconds: most pages have loaded by then
  const MAX_REPORTS = 200; // in one message to the host
  const RESPONSE_TIMEOUT = 1000; // milliseconds until a page without replies counts as unresponsive
  let ids = 0;
  let waiting = []; // {number, frameId} of the host's requests to wait for set-ups, of one frame or of all

  const send = (sessionId, method, params, onReply) => {
    const id = ++ids;
    if (onReply !== undefined) replies.set(id, onReply);
    connection.send(JSON.stringify({id, sessionId, method, params}));
  };
  // Events without a deadline are sent together with the next urgent one: a page load is one message to the host.
  let reports = [];
  let timer = null;
  let due = Infinity;
  const flush = () => {
    clearTimeout(timer);
    due = Infinity;
    const text = JSON.stringify(reports);
    reports = [];
    report(text);
  };
  // The events of a page are urgent if the host knows one of its worlds: then ports may end.
  const emitSoon = (session, ...message) => {
    reports.push(message);
    if (reports.length >= MAX_REPORTS) return flush();
    const delay = session.isKnown ? SOON : LATER;
    const at = performance.now() + delay;
    if (at >= due) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(flush, delay);
  };
  const emit = (...message) => {
    reports.push(message);
    flush();
  };

  // Send a command of a set-up. Until its reply the session is not ready.
  const prepare = (session, method, params, onResult = () => {}) => {
    session.pending++;
    send(session.id, method, params, (error, result) => {
      if (error === undefined) onResult(result);
      if (--session.pending > 0) return;
      session.isUnresponsive = false;
      answer();
    });
  };
  const unready = frameId => [...sessions.values()].filter(session => {
    const isAwaited = frameId === null || session.info.targetId === frameId;
    return isAwaited && session.pending > 0 && !session.isUnresponsive;
  });
  const answer = () => {
    const later = [];
    for (const each of waiting) {
      if (unready(each.frameId).length > 0) later.push(each);
      else emit("reply", each.number, null, {});
    }
    waiting = later;
  };
  // A page that hangs must not delay others: its set-up completes when it replies.
  const giveUp = slow => {
    for (const session of slow) if (session.pending > 0) session.isUnresponsive = true;
    answer();
  };

  const addScript = (session, key, {source, worldName}, runImmediately) => {
    const text = source.replaceAll(LABEL, () => contexts.get(session.contextId));
    prepare(session, "Page.addScriptToEvaluateOnNewDocument", {source: text, worldName, runImmediately}, ({identifier}) => {
      if (scripts.get(key)?.source === source) session.scripts.set(key, identifier);
      else send(session.id, "Page.removeScriptToEvaluateOnNewDocument", {identifier});
    });
  };
  const removeScript = (session, key) => {
    const identifier = session.scripts.get(key);
    session.scripts.delete(key);
    if (identifier !== undefined) prepare(session, "Page.removeScriptToEvaluateOnNewDocument", {identifier});
  };

  // Add the binding and script of an extension to the main world of a frame's session. The script removes the binding from
  // documents of other origins. Chromium adds it to the open document as well.
  const embed = session => {
    const found = embedded.get(session.info.targetId);
    embedded.delete(session.info.targetId);
    if (found === undefined || session.embedded.has(found.binding)) return;
    const {binding, source, origin} = found;
    const added = {origin, identifier: null, isLeft: false};
    session.embedded.set(binding, added);
    prepare(session, "Runtime.addBinding", {name: binding});
    if (!session.isNew) prepare(session, "Runtime.evaluate", {expression: `delete globalThis[${JSON.stringify(binding)}]`});
    prepare(session, "Page.addScriptToEvaluateOnNewDocument", {source, runImmediately: session.isNew}, ({identifier}) => {
      added.identifier = identifier;
      if (session.embedded.get(binding) !== added) removeEmbedded(session, added);
    });
  };
  const removeEmbedded = (session, {identifier}) => {
    if (identifier !== null) send(session.id, "Page.removeScriptToEvaluateOnNewDocument", {identifier});
  };
  const unembed = (session, binding) => {
    const added = session.embedded.get(binding);
    if (added === undefined) return;
    session.embedded.delete(binding);
    removeEmbedded(session, added);
    send(session.id, "Runtime.removeBinding", {name: binding});
  };
  // The frame shows another document. The first one of another origin may be that before the page of the extension.
  const unembedLeft = (session, frame) => {
    if (frame.id !== session.info.targetId) return;
    for (const [binding, added] of session.embedded) {
      if (added.isLeft && frame.securityOrigin !== added.origin) unembed(session, binding);
      added.isLeft = true;
    }
  };

  const activate = session => {
    session.active = true;
    emitSoon(session, "attached", session.id, session.info, session.parent);
    prepare(session, "Page.enable", {});
    prepare(session, "Runtime.enable", {});
    for (const [name, executionContextName] of bindings) prepare(session, "Runtime.addBinding", {name, executionContextName});
    for (const [key, script] of scripts) addScript(session, key, script, session.isNew);
    embed(session);
    if (!session.isNew) sendFrameTree(session);
  };
  const sendFrameTree = session => {
    prepare(session, "Page.getFrameTree", {}, ({frameTree}) => { emitSoon(session, "event", session.id, "Page.frameTree", frameTree); });
  };

  const onAttached = (parent, {sessionId, targetInfo, waitingForDebugger}) => {
    const contextId = targetInfo.browserContextId ?? sessions.get(parent)?.contextId;
    // A sandboxed srcdoc frame does not wait, and may have run its first script. Frames that existed before are no new ones.
    const isNew = waitingForDebugger || sessions.get(parent)?.hasChildren === true;
    const session = {id: sessionId, parent, contextId, info: targetInfo, isNew, active: false, hasChildren: false, pending: 0, isUnresponsive: false, isKnown: false};
    session.scripts = new Map();
    session.embedded = new Map(); // {origin, identifier, isLeft} by the bindings of its main world
    session.origins = new Map(); // those of the main worlds in it, by the id of the execution context
    session.worlds = new Map(); // {params of Runtime.executionContextCreated, isAnnounced} by id
    sessions.set(sessionId, session);
    const children = {autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: FRAMES};
    send(sessionId, "Target.setAutoAttach", children, () => { session.hasChildren = true; }); // those that exist are attached
    if (contexts.has(contextId)) activate(session);
    send(sessionId, "Runtime.runIfWaitingForDebugger");
    session.isNew &&= session.active;
    if (session.isNew && !waitingForDebugger) sendFrameTree(session);
  };
  const onDetached = ({sessionId}) => {
    const session = sessions.get(sessionId);
    if (session?.active) emitSoon(session, "detached", sessionId);
    sessions.delete(sessionId);
    answer();
  };

  // The host gets to know the context of a world when it first needs it: most documents never send a message.
  const announce = (session, id) => {
    const world = session.worlds.get(id);
    if (world === undefined || world.isAnnounced) return; // of another world, or known
    world.isAnnounced = true;
    session.isKnown = true;
    emitSoon(session, "event", session.id, "Runtime.executionContextCreated", world.params);
  };

  // A new document may have the window and the worlds of the empty one before it, where no event of it is certain: Chromium
  // drops those of pages that are paused, as all pages of a process are while one of them opens a window.
  const serveReused = (session, frameId) => {
    for (const [contextId, {params}] of session.worlds) {
      const {name, auxData} = params.context;
      if (auxData.frameId === frameId && worlds.has(name)) send(session.id, "Runtime.evaluate", {contextId, expression: worlds.get(name)});
    }
  };

  // Web documents may call the binding of a page of an extension in their frame.
  const isExpected = (session, {name, executionContextId}) => {
    if (bindings.has(name)) return true;
    const added = session.embedded.get(name);
    return added !== undefined && session.origins.get(executionContextId) === added.origin;
  };

  const onEvent = (session, method, params) => {
    switch (method) {
      case "Runtime.executionContextCreated": {
        const {id, name, auxData} = params.context;
        if (auxData?.isDefault) {
          session.origins.set(id, params.context.origin);
          break;
        }
        if (worlds.has(name)) session.worlds.set(id, {params, isAnnounced: false});
        return;
      }
      case "Runtime.executionContextDestroyed": {
        const world = session.worlds.get(params.executionContextId);
        session.worlds.delete(params.executionContextId);
        session.origins.delete(params.executionContextId);
        if (world?.isAnnounced === false) return;
        break;
      }
      case "Page.frameNavigated":
        serveReused(session, params.frame.id);
        unembedLeft(session, params.frame);
        break;
      case "Runtime.bindingCalled":
        if (!isExpected(session, params)) return;
        params.payload = params.payload.slice(0, MAX_PAYLOAD + 1); // a longer one is an error in the host
        announce(session, params.executionContextId);
        emit("event", session.id, method, params);
        return;
      case "Runtime.exceptionThrown":
        if (!session.worlds.has(params.exceptionDetails.executionContextId)) return;
        announce(session, params.exceptionDetails.executionContextId);
        break;
      case "Runtime.executionContextsCleared":
        session.worlds.clear();
        session.origins.clear();
        break;
      default:
        if (!EVENTS.has(method)) return;
    }
    emitSoon(session, "event", session.id, method, params);
  };

  connection.onmessage = text => {
    const {id, sessionId, method, params, error, result} = JSON.parse(text);
    if (method === undefined) {
      const onReply = replies.get(id);
      replies.delete(id);
      onReply?.(error, result);
    } else if (method === "Target.attachedToTarget") {
      onAttached(sessionId, params);
    } else if (method === "Target.detachedFromTarget") {
      onDetached(params);
    } else {
      const session = sessions.get(sessionId);
      if (session?.active) onEvent(session, method, params);
    }
  };

  const active = () => [...sessions.values()].filter(session => session.active);
  const commands = {
    __proto__: null,
    send(number, sessionId, method, params) {
      send(sessionId, method, params, (error, result) => {
        if (method === "Page.createIsolatedWorld" && result !== undefined) announce(sessions.get(sessionId), result.executionContextId);
        emit("reply", number, error === undefined ? null : error.message, result ?? {});
      });
    },
    context(contextId, cookieStoreId) {
      if (cookieStoreId === null) return contexts.delete(contextId);
      contexts.set(contextId, cookieStoreId);
      for (const session of sessions.values()) {
        if (session.contextId === contextId && !session.active) activate(session);
      }
    },
    binding(name, executionContextName, onReused) {
      bindings.set(name, executionContextName);
      worlds.set(executionContextName, onReused);
      for (const session of active()) prepare(session, "Runtime.addBinding", {name, executionContextName});
    },
    unbind(name) {
      worlds.delete(bindings.get(name));
      bindings.delete(name);
      for (const [frameId, {binding}] of embedded) if (binding === name) embedded.delete(frameId);
      for (const session of active()) {
        unembed(session, name);
        prepare(session, "Runtime.removeBinding", {name});
      }
    },
    embed(frameId, binding, source, origin) {
      if (embedded.size >= MAX_EMBEDDED) embedded.delete(embedded.keys().next().value); // the frame that waits longest
      embedded.set(frameId, {binding, source, origin});
      const session = active().find(each => each.info.targetId === frameId && each.parent !== undefined);
      if (session !== undefined) embed(session);
    },
    script(key, source, worldName) {
      const isReplaced = scripts.has(key);
      scripts.set(key, {source, worldName: worldName ?? undefined});
      for (const session of active()) {
        if (isReplaced) removeScript(session, key);
        addScript(session, key, scripts.get(key), false);
      }
    },
    remove(key) {
      scripts.delete(key);
      for (const session of active()) removeScript(session, key);
    },
    wait(number, frameId) {
      waiting.push({number, frameId});
      const slow = unready(frameId);
      if (slow.length > 0) setTimeout(() => { giveUp(slow); }, RESPONSE_TIMEOUT);
      answer();
    },
  };
  const params = {autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: PAGES};
  send(undefined, "Target.setAutoAttach", params, () => { emit("reply", 0, null, {}); });
  return (name, args) => { commands[name](...args); };
}
