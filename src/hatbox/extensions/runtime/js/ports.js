// The ports of scripts (runtime.Port). The host identifies each by a number, and sends its messages and its end.

import {NativeError, NativeMap, append, apply, mapDelete, mapForEach, mapGet, mapHas, mapSet, parse, stringify} from "./primordials.js";
import {encodeMessage, jsonText} from "./values.js";

// `notify` calls the host, `listen` adds a listener that scripts do not see, `report` logs an uncaught error.
export function createPorts({notify, listen, report}) {
  const open = new NativeMap(); // number → {port, onMessage, onDisconnect}
  let nextNumber = -1; // negative for ports opened here, positive for ports opened by the host
  let listening = false;

  // `native`: the other end is a native application, and messages are JSON text.
  function portOf(number, name, sender, native = false) {
    if (!listening) {
      listening = true;
      listen("ports.onDelivery", onDelivery);
      listen("ports.onSync", () => []); // the reply follows all earlier deliveries
    }
    const onMessage = eventOf();
    const onDisconnect = eventOf();
    const port = {
      name, sender, error: null, onMessage: onMessage.api, onDisconnect: onDisconnect.api,
      postMessage: message => {
        if (!mapHas(open, number)) throw new NativeError("Attempt to postMessage on disconnected port");
        notify("ports.post", `[${number},${native ? stringify(jsonText(message)) : encodeMessage(message)}]`);
      },
      disconnect: () => {
        if (mapDelete(open, number)) notify("ports.close", `[${number}]`);
      },
    };
    mapSet(open, number, {__proto__: null, port, onMessage, onDisconnect, native});
    return port;
  }

  function eventOf() {
    const listeners = new NativeMap(); // listener → true, in the order of registration
    return {
      __proto__: null,
      api: {
        addListener(listener) {
          if (typeof listener === "function") mapSet(listeners, listener, true); // Firefox ignores other values too
        },
        removeListener(listener) { mapDelete(listeners, listener); },
        hasListener: listener => mapHas(listeners, listener),
      },
      emit(args) {
        const now = [];
        mapForEach(listeners, (_, listener) => { append(now, listener); });
        for (let i = 0; i < now.length; i++) {
          try {
            apply(now[i], undefined, args);
          } catch (error) {
            report("listener", error);
          }
        }
      },
    };
  }

  function onDelivery(number, kind, detail) {
    const entry = mapGet(open, number);
    if (entry === undefined) return;
    const {port, onMessage, onDisconnect, native} = entry;
    if (kind === "message") {
      onMessage.emit([native ? parse(detail) : detail, port]);
    } else {
      mapDelete(open, number);
      port.error = detail === null ? null : new NativeError(detail);
      onDisconnect.emit([port]);
    }
  }

  return {
    __proto__: null,
    // Open a port to the pages of an extension, or to its content scripts in a tab.
    connect(name, {extensionId = null, tabId = null, frameId = null, documentId = null}) {
      const number = nextNumber--;
      const port = portOf(number, name, undefined);
      notify("ports.open", stringify([number, name, extensionId, tabId, frameId, documentId]));
      return port;
    },
    // Open a port to a native application.
    connectNative(application) {
      const number = nextNumber--;
      const port = portOf(number, application, undefined, true);
      notify("ports.openNative", stringify([number, application]));
      return port;
    },
    // Open a port to a filter of a response. `onMessage` is called with its events; returns {post}.
    connectFilter(requestId, onMessage) {
      const number = nextNumber--;
      const port = portOf(number, "", undefined, true);
      port.onMessage.addListener(onMessage);
      notify("ports.openFilter", stringify([number, requestId]));
      return {__proto__: null, post: message => { if (mapHas(open, number)) port.postMessage(message); }};
    },
    // The port that another page has opened. The same object for every listener.
    accept({number, name, sender}) {
      return mapGet(open, number)?.port ?? portOf(number, name, sender);
    },
  };
}
