// Site data of an origin (localStorage, IndexedDB) to JSON and back. Runs in an isolated world.
({
  async collect(limit) {
    const local = Object.keys(localStorage).map((name) => [name, localStorage.getItem(name)]);
    const databases = [];
    for (const { name, version } of await indexedDB.databases()) {
      databases.push(await this.collectDatabase(name, version));
    }
    if (local.length === 0 && databases.length === 0) return "";
    const all = JSON.stringify({ local, databases });
    return all.length <= limit ? all : JSON.stringify({ left: all.length, local, databases: [] });
  },

  async collectDatabase(name, version) {
    const database = await this.withTimeout(this.done(indexedDB.open(name)));
    database.onversionchange = () => database.close(); // never block the page
    try {
      const names = [...database.objectStoreNames];
      if (names.length === 0) return { name, version, stores: [] };
      const transaction = database.transaction(names, "readonly");
      const stores = await Promise.all(names.map(async (each) => {
        const store = transaction.objectStore(each);
        const [keys, values] = await Promise.all([this.done(store.getAllKeys()), this.done(store.getAll())]);
        const indexes = [...store.indexNames].map((index) => {
          const { keyPath, unique, multiEntry } = store.index(index);
          return { name: index, keyPath, unique, multiEntry };
        });
        return { name: each, keyPath: store.keyPath, autoIncrement: store.autoIncrement, indexes, keys, values };
      }));
      for (const store of stores) {
        store.records = [];
        for (const [index, value] of store.values.entries()) {
          const key = store.keyPath === null ? await this.pack(store.keys[index]) : null;
          const packed = await this.pack(value);
          if (packed !== undefined) store.records.push([key, packed]);
        }
        delete store.keys;
        delete store.values;
      }
      return { name, version, stores };
    } finally {
      database.close();
    }
  },

  async restore(text) {
    const { local, databases } = JSON.parse(text);
    for (const [name, value] of local) localStorage.setItem(name, value);
    for (const { name, version, stores } of databases) {
      const opening = indexedDB.open(name, version);
      opening.onupgradeneeded = () => {
        for (const { name, keyPath, autoIncrement, indexes } of stores) {
          const store = opening.result.createObjectStore(name, { keyPath, autoIncrement });
          for (const { name, keyPath, unique, multiEntry } of indexes) {
            store.createIndex(name, keyPath, { unique, multiEntry });
          }
        }
      };
      const database = await this.done(opening);
      try {
        for (const { name, keyPath, records } of stores) {
          const unpacked = await Promise.all(records.map(([key, value]) =>
            Promise.all([key === null ? undefined : this.unpack(key), this.unpack(value)])));
          const transaction = database.transaction(name, "readwrite");
          const store = transaction.objectStore(name);
          for (const [key, value] of unpacked) keyPath === null ? store.put(value, key) : store.put(value);
          await new Promise((resolve, reject) => {
            transaction.oncomplete = resolve;
            transaction.onabort = () => reject(transaction.error);
          });
        }
      } finally {
        database.close();
      }
    }
  },

  done: (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  }),

  toText(bytes) {
    if (bytes.toBase64) return bytes.toBase64();
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
  },

  toBytes: (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (each) => each.charCodeAt(0)),

  // A database cannot be opened while the page deletes or upgrades it. It is saved later then.
  withTimeout: (promise) => Promise.race([promise, new Promise((_, reject) => {
    AbortSignal.timeout(1000).onabort = () => reject(new Error("busy"));
  })]),

  // Encode a structured-clone value as JSON: values without a JSON equivalent are arrays that start with a tag letter.
  // undefined for values that cannot leave the browser: keys that are not extractable, file handles.
  async pack(value) {
    const ids = new Map(), pending = [];
    let lost = false;
    const fillLater = (packed, index, promise) => pending.push(promise.then((text) => { packed[index] = text; }));
    const walk = (each) => {
      if (each === null || typeof each === "string" || typeof each === "boolean") return each;
      if (typeof each === "number") return Number.isFinite(each) && !Object.is(each, -0) ? each : ["n", Object.is(each, -0) ? "-0" : `${each}`];
      if (each === undefined) return ["u"];
      if (typeof each === "bigint") return ["i", `${each}`];
      if (ids.has(each)) return ["r", ids.get(each)];
      ids.set(each, ids.size);
      if (Array.isArray(each)) return ["a", ...Array.from(each, walk)];
      if (each instanceof Date) return ["d", each.getTime()];
      if (each instanceof RegExp) return ["x", each.source, each.flags];
      if (each instanceof Map) return ["m", ...[...each].map(([key, item]) => [walk(key), walk(item)])];
      if (each instanceof Set) return ["s", ...[...each].map(walk)];
      if (each instanceof ArrayBuffer) return ["b", this.toText(new Uint8Array(each))];
      if (ArrayBuffer.isView(each)) {
        return ["v", each.constructor.name, walk(each.buffer), each.byteOffset, each.length ?? each.byteLength];
      }
      if (each instanceof Blob) {
        const packed = ["f", "", each.type, ...(each instanceof File ? [each.name, each.lastModified] : [])];
        fillLater(packed, 1, each.arrayBuffer().then((buffer) => this.toText(new Uint8Array(buffer))));
        return packed;
      }
      if (each instanceof Error) return ["e", each.name, each.message, each.stack ?? ""];
      if (self.CryptoKey && each instanceof CryptoKey && each.extractable) {
        const packed = ["k", null, walk(each.algorithm), [...each.usages]];
        fillLater(packed, 1, crypto.subtle.exportKey("jwk", each));
        return packed;
      }
      if (Object.prototype.toString.call(each) !== "[object Object]") { lost = true; return null; }
      return ["o", ...Object.keys(each).map((key) => [key, walk(each[key])])];
    };
    const packed = walk(value);
    await Promise.all(pending);
    return lost ? undefined : packed;
  },

  async unpack(packed) {
    const objects = [];
    const register = (object) => (objects.push(object), object);
    const walk = async (each) => {
      if (!Array.isArray(each)) return each;
      const [kind, ...rest] = each;
      switch (kind) {
        case "n": return Number(rest[0]);
        case "u": return undefined;
        case "i": return BigInt(rest[0]);
        case "r": return objects[rest[0]];
        case "d": return register(new Date(rest[0] ?? NaN)); // JSON has null for the time of an invalid Date
        case "x": return register(new RegExp(...rest));
        case "b": return register(this.toBytes(rest[0]).buffer);
        case "f": {
          const bytes = this.toBytes(rest[0]), type = rest[1];
          return register(rest.length > 2
            ? new File([bytes], rest[2], { type, lastModified: rest[3] }) : new Blob([bytes], { type }));
        }
        case "e": {
          const { [rest[0]]: Kind = Error } = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
          return register(Object.assign(new Kind(rest[1]), { stack: rest[2] }));
        }
        case "a": {
          const array = register([]);
          for (const item of rest) array.push(await walk(item));
          return array;
        }
        case "m": {
          const map = register(new Map());
          for (const [key, item] of rest) map.set(await walk(key), await walk(item));
          return map;
        }
        case "s": {
          const set = register(new Set());
          for (const item of rest) set.add(await walk(item));
          return set;
        }
        case "o": {
          const object = register({});
          for (const [key, item] of rest) {
            Object.defineProperty(object, key, { value: await walk(item), writable: true, enumerable: true, configurable: true });
          }
          return object;
        }
        case "v": {
          const id = objects.push(null) - 1;
          const buffer = await walk(rest[1]);
          return (objects[id] = new self[rest[0]](buffer, rest[2], rest[3]));
        }
        case "k": {
          const id = objects.push(null) - 1;
          const algorithm = await walk(rest[1]);
          return (objects[id] = await crypto.subtle.importKey("jwk", rest[0], algorithm, true, rest[2]));
        }
      }
    };
    return walk(packed);
  },
})
