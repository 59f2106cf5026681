// menus and contextMenus: the id of a new item is there at once, and functions of the script stay with the script.

host => {
  const {manifest} = host.data;
  const persistent = manifest.manifest_version === 2 && manifest.background?.persistent === true;
  const MADE = "\0"; // stands before an id that was made here: a number
  const clicks = new Map(); // id of an item → its onclick
  let listening = false;
  let made = 0;

  // A property that is data: getters are never called, as everywhere.
  const own = (properties, name) => Object.getOwnPropertyDescriptor(properties, name)?.value;

  // What forbids an onclick; null where there is none, or nothing forbids it.
  function forbidden(onclick, name) {
    return onclick && !persistent ? `Property "onclick" cannot be used in ${name}, replace with an "onClicked" event listener.` : null;
  }

  function listen(call) {
    if (!listening) host.listen(call.path.replace(/\w+$/, "onClicked"), (info, tab) => clicks.get(info.menuItemId)?.(info, tab), true);
    listening = true;
  }

  // Make a call with other arguments, for a callback or as a promise; `done` comes first if it went well.
  function send(call, args, callback, done) {
    const text = JSON.stringify(args);
    if (callback !== null) {
      host.send(call, text, (ok, value) => {
        if (ok) done();
        host.callBack(callback, ok, value, call);
      });
      return undefined;
    }
    return new Promise((resolve, reject) => {
      host.send(call, text, (ok, value) => {
        if (!ok) return reject(host.errorOf(call, value));
        done();
        resolve();
      });
    });
  }

  return {
    also: ["contextMenus"],
    members: {
      create(properties, callback, call) {
        const onclick = own(properties, "onclick");
        const problem = forbidden(onclick, "menus.create");
        if (problem !== null) throw host.errorOf(call, problem);
        if (onclick) listen(call);
        const [sent] = JSON.parse(call.text);
        delete sent.onclick;
        let {id} = sent;
        if (id === undefined && persistent) {
          id = ++made;
          sent.id = MADE + id;
        }
        const told = {__proto__: call, returns: false};
        send(told, [sent], callback ?? (() => {}), () => { if (onclick) clicks.set(id, onclick); });
        return id ?? null;
      },

      update(id, properties, callback, call) {
        const onclick = own(properties, "onclick");
        const problem = forbidden(onclick, "menus.update");
        if (problem !== null && callback !== null) return void host.callBack(callback, false, problem, call);
        if (problem !== null) return Promise.reject(host.errorOf(call, problem));
        if (onclick) listen(call);
        const args = JSON.parse(call.text);
        delete args[1].onclick;
        if (own(properties, "icons") === null) args[1].icons = {};
        return send(call, args, callback, () => {
          if (onclick) clicks.set(id, onclick);
          else if (onclick === null) clicks.delete(id);
        });
      },

      remove(id, callback, call) {
        clicks.delete(id);
        return send(call, JSON.parse(call.text), callback, () => {});
      },

      removeAll(callback, call) {
        clicks.clear();
        return send(call, [], callback, () => {});
      },
    },
  };
}
