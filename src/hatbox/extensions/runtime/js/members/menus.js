// menus and contextMenus: create() returns the id at once, and onclick functions stay in the extension process.

host => {
  const {manifest} = host.data;
  const persistent = manifest.manifest_version === 2 && manifest.background?.persistent === true;
  const GENERATED = "\0"; // prefix of a generated numeric id
  const clicks = new Map(); // id of an item → its onclick
  let listening = false;
  let lastId = 0;

  // The value of a data property. Getters are never called.
  const own = (properties, name) => Object.getOwnPropertyDescriptor(properties, name)?.value;

  // The error message if onclick is not allowed, else null.
  function onclickError(onclick, name) {
    return onclick && !persistent ? `Property "onclick" cannot be used in ${name}, replace with an "onClicked" event listener.` : null;
  }

  function listen(call) {
    if (!listening) host.listen(call.path.replace(/\w+$/, "onClicked"), (info, tab) => clicks.get(info.menuItemId)?.(info, tab), true);
    listening = true;
  }

  // Send a call with other arguments, with a callback or as a promise. On success `done` is called first.
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
        const problem = onclickError(onclick, "menus.create");
        if (problem !== null) throw host.errorOf(call, problem);
        if (onclick) listen(call);
        const [sent] = JSON.parse(call.text);
        delete sent.onclick;
        let {id} = sent;
        if (id === undefined && persistent) {
          id = ++lastId;
          sent.id = GENERATED + id;
        }
        const withoutResult = {__proto__: call, returns: false};
        send(withoutResult, [sent], callback ?? (() => {}), () => { if (onclick) clicks.set(id, onclick); });
        return id ?? null;
      },

      update(id, properties, callback, call) {
        const onclick = own(properties, "onclick");
        const problem = onclickError(onclick, "menus.update");
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
