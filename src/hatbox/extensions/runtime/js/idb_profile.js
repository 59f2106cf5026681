// Reads and writes databases in the profile, through the host. A record is stored in one or more rows, because a row and
// a message have a maximum size. The host does not interpret what it stores.

import {
  Bytes, NativeMap, append, blobBytes, charCodeAt, indexOf, mapForEach, mapGet, mapSet, parse, promiseResolve, promiseThen, slice, stringify, toBase64,
} from "./primordials.js";
import {INDEXED_DB} from "./protocol.js";
import {decodeKey, encodeKey} from "./idb_keys.js";
import {Records} from "./idb_records.js";

const ROW_UNITS = 1 << 14; // code units of a row
const MESSAGE_UNITS = 1 << 18; // code units of the rows in a message
const MESSAGE_ROWS = 2000;

// `request(kind, text)` sends a request to the host and returns {promise}.
export function createProfile(request) {
  const send = (operation, fields) => request(INDEXED_DB, `"${operation}",${fields}`).promise;

  // All databases: [{id, revision, name, version, stores}].
  async function list() {
    const found = await send("list", "[]");
    const databases = [];
    for (let i = 0; i < found.length; i++) {
      append(databases, {__proto__: null, id: found[i][0], revision: found[i][1], ...parse(found[i][2])});
    }
    return databases;
  }

  // Load the records of an object store, unless they are loaded.
  async function load(databaseId, store) {
    if (store.records === null) store.loading ??= readAll(databaseId, store);
    await store.loading;
  }

  async function readAll(databaseId, store) {
    const parts = new NativeMap(); // record number → texts of its rows
    let after = "";
    try {
      do {
        const page = await send("read", `[${databaseId},${store.id},${stringify(after)}]`);
        for (let i = 0; i < page.rows.length; i++) addPart(parts, page.rows[i][0], page.rows[i][1]);
        after = page.next;
      } while (after !== null);
    } finally {
      store.loading = undefined;
    }
    const loaded = [];
    mapForEach(parts, (texts, number) => { append(loaded, recordOf(number, texts)); });
    const records = new Records();
    records.fill(loaded);
    store.records = records;
  }

  // Write the changes of a transaction; the promise resolves when they are durable. Commits of one database run one
  // after the other, each with the revision that the one before made.
  function commit(database, changes, description) {
    const run = async () => {
      const stores = [];
      const encoded = await encodeChanges(changes);
      mapForEach(database.stores, store => { append(stores, store.id); });
      for (let i = 0; i < encoded.length; i++) promiseThen(send("stage", encoded[i]), undefined, () => {}); // commit reports it
      const described = description === null ? "null" : stringify(stringify(description));
      await send("commit", `[${database.id},${database.revision},${stringify(stores)},${described}]`);
      database.revision++;
    };
    const result = promiseThen(database.lastCommit ?? promiseResolve(), run, run);
    return database.lastCommit = result;
  }

  const remove = ({id, revision}) => send("delete", `[${id},${revision}]`);
  const usage = () => send("usage", "[]");
  return {__proto__: null, list, load, commit, remove, usage};
}

// ── Rows ──

function addPart(parts, rowKey, text) {
  const dot = indexOf(rowKey, ".");
  const number = +slice(rowKey, 0, dot);
  let texts = mapGet(parts, number);
  if (texts === undefined) mapSet(parts, number, texts = new NativeMap());
  mapSet(texts, +slice(rowKey, dot + 1), text);
}

function recordOf(number, texts) {
  let text = "";
  let rows = 0;
  for (; mapGet(texts, rows) !== undefined; rows++) text += mapGet(texts, rows);
  const first = indexOf(text, ":");
  const second = indexOf(text, ":", first + 1);
  const keyEnd = second + 1 + +slice(text, 0, first);
  const valueEnd = keyEnd + +slice(text, first + 1, second);
  const key = decodeKey(parse(slice(text, second + 1, keyEnd)));
  const blobs = valueEnd === text.length ? [] : parse(slice(text, valueEnd));
  return {__proto__: null, key, number, text: slice(text, keyEnd, valueEnd), blobs, rows};
}

function textOf({key, text}, blobText) {
  const keyText = encodeKey(key);
  return `${keyText.length}:${text.length}:${keyText}${text}${blobText}`;
}

async function encodeBlobs(blobs) {
  let text = "";
  for (let i = 0; i < blobs.length; i++) {
    const {content, type, name, lastModified} = blobs[i];
    const base64 = blobs[i].base64 ?? toBase64(new Bytes(await blobBytes(content)));
    text += `${i ? "," : "["}${stringify({__proto__: null, base64, type, name, lastModified})}`;
  }
  return `${text}]`;
}

// The messages for changes: store → {cleared, rows}, in which rows maps a record number to {before, after}.
async function encodeChanges(changes) {
  const messages = [];
  const stores = [];
  mapForEach(changes, (change, store) => { append(stores, {__proto__: null, store, change}); });
  for (let i = 0; i < stores.length; i++) {
    const {store, change} = stores[i];
    if (change.cleared) append(messages, `[${store.id},true,[]]`);
    const changed = [];
    mapForEach(change.rows, (row, number) => { append(changed, {__proto__: null, number, row}); });
    const batch = createBatch(messages, store.id);
    for (let j = 0; j < changed.length; j++) {
      const {before, after} = changed[j].row;
      const number = changed[j].number;
      let rows = 0;
      if (after !== null) {
        const pieces = splitText(textOf(after, after.blobs.length === 0 ? "" : await encodeBlobs(after.blobs)));
        for (; rows < pieces.length; rows++) batch.add(`["${number}.${rows}",${stringify(pieces[rows])}]`);
        after.rows = rows;
      }
      for (; rows < before; rows++) batch.add(`["${number}.${rows}",null]`);
    }
    batch.end();
  }
  return messages;
}

function createBatch(messages, storeId) {
  let text = "";
  let rows = 0;
  const end = () => {
    if (rows > 0) append(messages, `[${storeId},false,[${text}]]`);
    text = "";
    rows = 0;
  };
  const add = row => {
    text += (rows++ ? "," : "") + row;
    if (rows >= MESSAGE_ROWS || text.length >= MESSAGE_UNITS) end();
  };
  return {__proto__: null, add, end};
}

function splitText(text) {
  const pieces = [];
  for (let start = 0; start < text.length;) {
    let end = start + ROW_UNITS;
    const last = end < text.length ? charCodeAt(text, end - 1) : 0;
    if (last >= 0xd800 && last < 0xdc00) end--; // do not split a surrogate pair
    append(pieces, slice(text, start, end));
    start = end;
  }
  return pieces;
}
