// Ports as scripts hold them (runtime.Port). The host knows each by a number, and tells what happens to it.

import {NativeError, NativeMap, append, apply, mapDelete, mapForEach, mapGet, mapHas, mapSet, stringify} from "./primordials.js";
import {encodeMessage} from "./values.js";

// `tell` asks something of the host, `listen` adds a listener that no script sees, `report` logs what a script threw.
export function createPorts({tell, listen, report}) {
  const open = new NativeMap(); // number → {port, onMessage, onDisconnect}
  let nextNumber = -1; // those that this side opens are below zero, those of the host above
  let listening = false;

  function portOf(number, name, sender) {
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
        tell("ports.post", `[${number},${encodeMessage(message)}]`);
      },
      disconnect: () => {
        if (mapDelete(open, number)) tell("ports.close", `[${number}]`);
      },
    };
    mapSet(open, number, {__proto__: null, port, onMessage, onDisconnect});
    return port;
  }

  function eventOf() {
    const listeners = new NativeMap(); // listener → true, in the order in which they came
    return {
      __proto__: null,
      api: {
        addListener(listener) {
          if (typeof listener === "function") mapSet(listeners, listener, true); // Firefox does not complain either
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
    const {port, onMessage, onDisconnect} = entry;
    if (kind === "message") {
      onMessage.emit([detail, port]);
    } else {
      mapDelete(open, number);
      port.error = detail === null ? null : new NativeError(detail);
      onDisconnect.emit([port]);
    }
  }

  return {
    __proto__: null,
    // A new port to the pages of an extension, or to what it has in a tab.
    connect(name, {extensionId = null, tabId = null, frameId = null, documentId = null}) {
      const number = nextNumber--;
      const port = portOf(number, name, undefined);
      tell("ports.open", stringify([number, name, extensionId, tabId, frameId, documentId]));
      return port;
    },
    // The end of a port that another page has opened; the same for every listener.
    accept({number, name, sender}) {
      return mapGet(open, number)?.port ?? portOf(number, name, sender);
    },
  };
}
