// Functions for the cases of indexed_db.json.
const done = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = event => { event.preventDefault(); event.stopPropagation(); reject(request.error); };
});
const ended = tx => new Promise(resolve => {
  tx.oncomplete = () => resolve("complete");
  tx.onabort = () => resolve(["abort", tx.error && tx.error.name]);
});
const open = (name, version, upgrade) => new Promise((resolve, reject) => {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = event => upgrade && upgrade(request.result, request.transaction, event);
  request.onsuccess = () => resolve(request.result);
  request.onerror = event => { event.preventDefault(); reject(request.error); };
});
const thrown = job => { try { return ["returned", show(job())]; } catch (e) { return [e.name, e.name === "TypeError" ? "" : e.message, e.code ?? 0]; } };
const rejected = async promise => { try { return ["resolved", show(await promise)]; } catch (e) { return [e.name, e.message, e.code ?? 0]; } };
const show = value => {
  if (value === undefined) return "undefined";
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) return `number ${Object.is(value, -0) ? "-0" : value}`;
  if (typeof value === "bigint") return `bigint ${value}`;
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value !== "object" || value === null) return value;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag === "Date") return `Date ${value.getTime()}`;
  if (tag === "RegExp") return `RegExp ${value}`;
  if (tag === "Map") return ["Map", ...[...value].map(show)];
  if (tag === "Set") return ["Set", ...[...value].map(show)];
  if (tag === "ArrayBuffer") return ["ArrayBuffer", ...new Uint8Array(value)];
  if (ArrayBuffer.isView(value)) return [tag, value.byteOffset, ...new Uint8Array(value.buffer)];
  if (tag === "Error") return [value.constructor.name, value.name, value.message, Object.keys(value)];
  if (["Boolean", "Number", "String", "BigInt"].includes(tag)) return [`${tag} object`, String(value)];
  if (Array.isArray(value)) return Array.from({length: value.length}, (_, i) => (i in value ? show(value[i]) : "hole"));
  if (tag !== "Object") return tag;
  return Object.fromEntries(Object.keys(value).map(key => [key, show(value[key])]));
};
const log = [];
const walk = (source, visit, ...args) => new Promise((resolve, reject) => {
  const request = source.openCursor(...args), seen = [];
  request.onsuccess = () => {
    const cursor = request.result;
    if (cursor === null) return resolve(seen);
    seen.push([show(cursor.key), show(cursor.primaryKey), show(cursor.value)]);
    if (visit) visit(cursor, seen); else cursor.continue();
  };
  request.onerror = () => reject(request.error);
});
const people = () => open("people", 1, db => {
  const store = db.createObjectStore("people", {keyPath: "id"});
  store.createIndex("name", "name");
  store.createIndex("mail", "mail", {unique: true});
  store.createIndex("tags", "tags", {multiEntry: true});
  store.createIndex("both", ["name", "age"]);
  store.add({id: 1, name: "b", mail: "1@x", tags: ["x", "y", "x"], age: 3});
  store.add({id: 2, name: "a", mail: "2@x", tags: "y", age: 1});
  store.add({id: 3, name: "b", mail: "3@x", tags: [], age: 2});
  store.add({id: 4, name: null, mail: "4@x", tags: ["z", null, "x"]});
});
const plain = (options = {}) => open("plain", 1, db => { db.createObjectStore("s", options); });
