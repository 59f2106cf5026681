"""Scripts that use IndexedDB, and what Firefox answers: `python -m tests.extensions.indexed_db` records it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.firefox import Firefox

RECORDING = Path(__file__).with_name("indexed_db.firefox.json")

PRELUDE = """
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
"""

CASES = [
    # Keys and their order.
    "const keys = [[], 1, -Infinity, Infinity, -0, 0.5, new Date(0), new Date(-5), '', 'a', 'b', '\\ud800', '\\uffff',"
    " '\\u{1f600}', new Uint8Array([1, 2]), new Uint8Array([1]).buffer, new Uint8Array(0), [1], [1, 2], [[1]], ['a'],"
    " [new Date(1)]]; return keys.sort((a, b) => indexedDB.cmp(a, b)).map(show)",
    "return [indexedDB.cmp(1, 2), indexedDB.cmp(2, 1), indexedDB.cmp('a', 'a'), indexedDB.cmp([1], [1, 0])]",
    "return [null, undefined, NaN, true, {}, new Date(NaN), [1, , 2], [null], /x/, 1n, Symbol.iterator, () => 1]"
    ".map(key => thrown(() => indexedDB.cmp(key, 1)))",
    "const loop = []; loop.push(loop); return thrown(() => indexedDB.cmp(loop, 1))",
    "return [thrown(() => indexedDB.cmp(1)), thrown(() => indexedDB.open()), thrown(() => indexedDB.open('x', 0)),"
    " thrown(() => indexedDB.open('x', -1)), thrown(() => indexedDB.open('x', 2 ** 53)),"
    " thrown(() => indexedDB.open('x', 'a')), thrown(() => indexedDB.open('x', null))]",
    # Key ranges.
    "const r = IDBKeyRange; return [r.only(1), r.lowerBound(1), r.lowerBound(1, true), r.upperBound('a', true),"
    " r.bound(1, 2), r.bound(1, 2, true, true)].map(x => [show(x.lower), show(x.upper), x.lowerOpen, x.upperOpen,"
    " x.includes(1), x.includes(2), x.includes('a'), Object.prototype.toString.call(x)])",
    "const r = IDBKeyRange; return [() => r.bound(2, 1), () => r.bound(1, 1, true), () => r.only(), () => r.only({}),"
    " () => r.lowerBound(null), () => new IDBKeyRange(), () => r.only(1).includes(), () => r.only(1).includes({})]"
    ".map(thrown)",
    # Opening, versions.
    "const r = indexedDB.open('v', 3); log.push(r.readyState, r.source, r.transaction, thrown(() => r.result),"
    " thrown(() => r.error)); await new Promise(f => { r.onupgradeneeded = e => { log.push(e.type, e.oldVersion,"
    " e.newVersion, r.readyState, r.transaction.mode, String(e), e.target === r, e.bubbles, e.cancelable,"
    " r.result.version) }; r.onsuccess = e => { log.push(e.type, String(e), r.readyState, r.result.version,"
    " r.result.name, r.transaction, r.error); f() } }); r.result.close(); return log",
    "(await open('v', 3)).close(); return [await rejected(open('v', 2)), (await open('v')).version,"
    " (await indexedDB.databases()).filter(d => d.name === 'v')]",
    "const d = await open('v1'); return [d.version, [...d.objectStoreNames], String(d), String(d.objectStoreNames)]",
    "const r = indexedDB.deleteDatabase('absent'); return await new Promise(f => { r.onsuccess = e =>"
    " f([e.type, String(e), e.oldVersion, e.newVersion, show(r.result), r.readyState]) })",
    "(await open('d', 4)).close(); const r = indexedDB.deleteDatabase('d'); return await new Promise(f => { r.onsuccess"
    " = e => f([e.oldVersion, e.newVersion, show(r.result)]) })",
    "const d = await open('vc', 1); d.onversionchange = e => { log.push(['change', e.oldVersion, e.newVersion,"
    " e.target === d]); d.close() }; const r = indexedDB.open('vc', 2); r.onblocked = () => log.push('blocked');"
    " await new Promise(f => { r.onupgradeneeded = () => log.push('upgrade'); r.onsuccess = f }); r.result.close();"
    " return log",
    "const d = await open('bl', 1); const r = indexedDB.open('bl', 2); await new Promise(f => { r.onblocked = e => {"
    " log.push(['blocked', e.oldVersion, e.newVersion]); d.close() }; r.onupgradeneeded = () => log.push('upgrade');"
    " r.onsuccess = f }); r.result.close(); return log",
    "const d = await open('dl', 1); d.onversionchange = e => log.push(['change', e.oldVersion, e.newVersion]);"
    " const r = indexedDB.deleteDatabase('dl'); await new Promise(f => { r.onblocked = e => { log.push(['blocked',"
    " e.newVersion]); d.close() }; r.onsuccess = f }); return log",
    "const r = indexedDB.open('ab', 1); await new Promise(f => { r.onupgradeneeded = () => {"
    " r.result.createObjectStore('s'); r.transaction.onabort = e => log.push(['abort', e.target === r.transaction,"
    " e.bubbles, r.transaction.error]); r.transaction.abort() }; r.onerror = e => { log.push([r.error.name,"
    " r.error.message, show(r.readyState), thrown(() => r.result), r.transaction]); e.preventDefault(); f() } });"
    " return [log, (await indexedDB.databases()).filter(d => d.name === 'ab')]",
    "(await open('ab2', 1, db => { db.createObjectStore('a', {autoIncrement: true}).add('x') })).close();"
    " const r = rejected(open('ab2', 2, (db, tx) => { tx.objectStore('a').add('y'); tx.objectStore('a').createIndex('i',"
    " 'k'); tx.objectStore('a').name = 'c'; db.createObjectStore('b'); db.deleteObjectStore('c'); tx.abort() }));"
    " log.push(await r); const d = await open('ab2'); const s = d.transaction('a', 'readwrite').objectStore('a');"
    " return [log, d.version, [...d.objectStoreNames], [...s.indexNames], await done(s.add('z')),"
    " await done(s.getAll())]",
    "const r = rejected(open('th', 1, () => { throw new Error('in upgrade') })); return await r",
    # Object stores.
    "return await new Promise(f => { indexedDB.open('cs', 1).onupgradeneeded = e => { const db = e.target.result; const"
    " c = (...a) => thrown(() => { const s = db.createObjectStore(...a); return [s.name, show(s.keyPath),"
    " s.autoIncrement, [...s.indexNames]] }); f([c('a'), c('a'), c('b', {keyPath: 'x.y'}), c('c', {keyPath: ['a',"
    " 'b']}), c('d', {autoIncrement: true}), c('e', {keyPath: '', autoIncrement: true}), c('f', {keyPath: ['a'],"
    " autoIncrement: true}), c('g', {keyPath: '1x'}), c('h', {keyPath: []}), c('i', {keyPath: null}), c('j', {keyPath:"
    " undefined}), c(), c('k', null), c('l', {keyPath: 5}), c('m', {keyPath: ''}), [...db.objectStoreNames],"
    " thrown(() => db.deleteObjectStore('zz')), thrown(() => db.transaction('a'))]) } })",
    "const d = await plain(); return [thrown(() => d.createObjectStore('x')), thrown(() => d.deleteObjectStore('s')),"
    " thrown(() => d.transaction('zz')), thrown(() => d.transaction([])), thrown(() => d.transaction('s', 'other')),"
    " thrown(() => d.transaction('s', 'versionchange')), thrown(() => d.transaction()),"
    " thrown(() => d.transaction('s').objectStore('q')), thrown(() => d.transaction('s').mode),"
    " [...d.transaction(['s', 's']).objectStoreNames], d.transaction('s', 'readwrite', {durability: 'strict'})"
    ".durability, d.transaction('s').durability, thrown(() => { d.close(); d.transaction('s') })]",
    "const d = await plain(); const s = d.transaction('s', 'readwrite').objectStore('s'); return [await done(s.put('v',"
    " 1)), show(await done(s.get(1))), show(await done(s.get(2))), await done(s.add('w', 'k')),"
    " await rejected(done(s.add('x', 1))), await done(s.count()), show(await done(s.delete(1))), await done(s.getAllKeys()),"
    " show(await done(s.clear())), await done(s.count()), show(await done(s.getKey('k')))]",
    "const d = await plain(); const s = d.transaction('s', 'readwrite').objectStore('s'); return [thrown(() => s.put(1)),"
    " thrown(() => s.put(1, {})), thrown(() => s.put(() => 1, 1)), thrown(() => s.put(Symbol.iterator, 1)),"
    " thrown(() => s.put({get a() { throw new RangeError('mine') }}, 1)), thrown(() => s.put()), thrown(() => s.get()),"
    " thrown(() => s.get({})), thrown(() => s.delete()), thrown(() => s.delete(null)), thrown(() => s.createIndex('a',"
    " 'b')), thrown(() => s.index('zz')), thrown(() => s.getAll({})), thrown(() => s.openCursor(null, 'sideways')),"
    " thrown(() => s.getAll(null, -1)), thrown(() => s.put(new WeakMap, 1)), thrown(() => s.put(globalThis, 1)),"
    " thrown(() => s.put(Promise.resolve(), 1)), thrown(() => s.put({u: new URL('http://x/')}, 1)), thrown(() => s.count({}))]",
    "const d = await plain(); const s = d.transaction('s').objectStore('s'); return [thrown(() => s.put(1, 1)),"
    " thrown(() => s.delete(1)), thrown(() => s.clear()), thrown(() => s.add(1, 1))]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); await ended(t); return"
    " [thrown(() => s.put(1, 1)), thrown(() => s.get(1)), thrown(() => t.objectStore('s')), thrown(() => t.abort()),"
    " thrown(() => t.commit()), t.error]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s');"
    " await new Promise(f => setTimeout(f, 50)); return [thrown(() => s.put(1, 1)), thrown(() => t.objectStore('s'))]",
    "const d = await open('kp', 1, db => db.createObjectStore('s', {keyPath: 'a.b'})); const s = d.transaction('s',"
    " 'readwrite').objectStore('s'); return [await done(s.put({a: {b: 5}})), thrown(() => s.put({a: {b: 1}}, 2)),"
    " thrown(() => s.put({a: 1})), thrown(() => s.put({a: {b: {}}})), thrown(() => s.put(null)), await done(s.get(5))]",
    "const d = await open('kl', 1, db => { db.createObjectStore('a', {keyPath: 'length'}); db.createObjectStore('n',"
    " {keyPath: ['x', 'y.length']}) }); const t = d.transaction(['a', 'n'], 'readwrite'); return [await"
    " done(t.objectStore('a').put('abc')), await done(t.objectStore('a').put([1, 2])), await done(t.objectStore('n')"
    ".put({x: 1, y: 'ab'}))]",
    # Key generators.
    "const d = await plain({autoIncrement: true}); const s = d.transaction('s', 'readwrite').objectStore('s'); return"
    " [await done(s.add('a')), await done(s.add('b', 10.7)), await done(s.add('c')), await done(s.put('d', 'text')),"
    " await done(s.add('e')), await done(s.put('f', 3)), await done(s.add('g')), await done(s.add('h', 2 ** 53)),"
    " await rejected(done(s.add('i')))]",
    "const d = await open('gi', 1, db => db.createObjectStore('s', {keyPath: 'k.id', autoIncrement: true})); const s ="
    " d.transaction('s', 'readwrite').objectStore('s'); const v = {x: 1}; return [await done(s.add(v)), v, await"
    " done(s.add({k: {y: 2}})), thrown(() => s.add({k: 1})), thrown(() => s.add(5)), await done(s.put({k: {id: 7}})),"
    " await done(s.add({})), await done(s.getAll())]",
    "const d = await plain({autoIncrement: true}); let t = d.transaction('s', 'readwrite'); await"
    " done(t.objectStore('s').add(1)); t.abort(); await ended(t); return await done(d.transaction('s', 'readwrite')"
    ".objectStore('s').add(2))",
    # Structured clone.
    "const d = await plain(); const s = d.transaction('s', 'readwrite').objectStore('s'); const loop = {n: 1};"
    " loop.self = loop; const shared = [1]; const f32 = new Float32Array([1.5, 2]); const all = [undefined, null, true,"
    " NaN, -0, 12n, 'text\\ud800\\0', new Date(5), new Date(NaN), /a\\/b/gi, new Map([[1, {a: 1}], ['k', new"
    " Set([1])]]), new Set(['a']), new Uint8Array([1, 2, 3]).subarray(1), f32, new DataView(new ArrayBuffer(3), 1),"
    " new ArrayBuffer(2), Object(true), Object(5), Object('s'), Object(5n), [1, , 3], [shared, shared], new"
    " TypeError('bad'), new Error('plain', {cause: 5}), {a: {b: {c: []}}, ['__proto__']: 5}, Object.assign([1], {x: 2})];"
    " const got = []; for (let i = 0; i < all.length; i++) { s.put(all[i], i); } for (let i = 0; i < all.length; i++)"
    " got.push(await done(s.get(i))); s.put(loop, 'loop'); const l = await done(s.get('loop'));"
    " return [got.map(show), l.self === l, got[21][0] === got[21][1], got[13] instanceof Float32Array, [...got[13]],"
    " Object.keys(got[24]), Object.keys(got[25])]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); s.put({b: new"
    " Blob(['hello'], {type: 'text/plain'}), f: new File(['x', 'yz'], 'n.txt', {type: 'a/b', lastModified: 5})}, 1); await"
    " ended(t); const {b, f} = await done(d.transaction('s').objectStore('s').get(1)); return [b instanceof Blob, b"
    " instanceof File, b.type, b.size, await b.text(), f instanceof File, f.name, f.type, f.lastModified, await f.text()]",
    "const d = await plain(); const s = d.transaction('s', 'readwrite').objectStore('s'); s.put({b: new Blob(['hello'])},"
    " 1); const v = await done(s.get(1)); return [v.b.size, v.b instanceof Blob]",
    "class P { constructor() { this.x = 1 } get y() { return 2 } } const d = await plain(); const s = d.transaction('s',"
    " 'readwrite').objectStore('s'); s.put(new P, 1); const v = {a: 1}; s.put(v, 2); v.a = 2; const g = await"
    " done(s.get(1)); const h = await done(s.get(2)), i = await done(s.get(2)); return [g.constructor === Object, g, h,"
    " h !== i]",
    # Ranges.
    "const d = await plain(); const s = d.transaction('s', 'readwrite').objectStore('s'); for (const k of [1, 2, 3, 4,"
    " 'a', 'b', [1]]) s.put('v' + k, k); const r = IDBKeyRange; return [await done(s.getAll()), await"
    " done(s.getAll(r.bound(2, 4, true))), await done(s.getAll(null, 2)), await done(s.getAllKeys(r.lowerBound('a'))),"
    " await done(s.getAllKeys(2)), await done(s.count(r.upperBound(3, true))), await done(s.get(r.lowerBound(2, true))),"
    " await done(s.getKey(r.lowerBound(5))), show(await done(s.delete(r.bound(2, 3)))), await done(s.getAllKeys()), await"
    " done(s.getAllKeys(undefined, 0)), show(await done(s.get(r.lowerBound([2]))))]",
    # Indexes.
    "const d = await people(); const s = d.transaction('people').objectStore('people'); const i = n => s.index(n); return"
    " [[...s.indexNames], await done(i('name').getAllKeys()), await done(i('name').get('b')), await"
    " done(i('name').getKey('b')), await done(i('name').count()), await done(i('tags').getAllKeys()), await"
    " done(i('tags').getAllKeys('x')), await done(i('both').getAllKeys()), await done(i('mail').getAll('3@x')), i('both')"
    ".keyPath, i('mail').unique, i('tags').multiEntry, i('name') === i('name'), i('name').objectStore === s,"
    " show(await done(i('name').get('zz'))), await done(i('name').count('b')), thrown(() => i('name').get())]",
    "const d = await people(); const t = d.transaction('people', 'readwrite'), s = t.objectStore('people'); return [await"
    " rejected(done(s.add({id: 9, mail: '1@x'}))), await rejected(done(s.put({id: 2, mail: '1@x'}))), await done(s.put({id:"
    " 2, mail: '2@x', name: 'c'})), await done(s.index('name').getAllKeys()), show(await done(s.delete(1))), await"
    " done(s.index('name').getAllKeys()), await done(s.index('tags').getAllKeys()), await done(s.count())]",
    "(await people()).close(); const d = await open('people', 2, (db, tx) => { const s = tx.objectStore('people');"
    " s.createIndex('age', 'age'); s.deleteIndex('name'); s.index('mail').name = 'post'; log.push([...s.indexNames],"
    " thrown(() => s.createIndex('age', 'x')), thrown(() => s.deleteIndex('q')), thrown(() => s.createIndex('m', ['a'],"
    " {multiEntry: true})), thrown(() => s.createIndex('m', '1x')), thrown(() => { s.name = 'people' })) }); const s ="
    " d.transaction('people').objectStore('people'); return [log, await done(s.index('age').getAllKeys()), [...s.indexNames],"
    " await done(s.index('post').getKey('2@x'))]",
    "(await plain()).close(); let d = await open('plain'); let t = d.transaction('s', 'readwrite'); t.objectStore('s')"
    ".put({u: 1}, 1); t.objectStore('s').put({u: 1}, 2); await ended(t); d.close(); return [await rejected(open('plain', 2,"
    " (db, tx) => { tx.objectStore('s').createIndex('u', 'u', {unique: true}) })), (await open('plain')).version]",
    # Cursors.
    "const d = await people(); const s = d.transaction('people').objectStore('people'); return [(await walk(s)).map(x =>"
    " x[0]), (await walk(s, null, null, 'prev')).map(x => x[0]), (await walk(s.index('name'))).map(x => x.slice(0, 2)),"
    " (await walk(s.index('name'), null, null, 'prev')).map(x => x.slice(0, 2)), (await walk(s.index('name'), null, null,"
    " 'nextunique')).map(x => x.slice(0, 2)), (await walk(s.index('name'), null, null, 'prevunique')).map(x => x.slice(0,"
    " 2)), (await walk(s, null, IDBKeyRange.bound(2, 3))).map(x => x[0]), (await walk(s.index('tags'), null, 'x')).map(x"
    " => x.slice(0, 2)), await walk(s, null, 99)]",
    "const d = await people(); const s = d.transaction('people').objectStore('people'); return [(await walk(s, c =>"
    " c.continue(c.key === 1 ? 3 : undefined))).map(x => x[0]), (await walk(s, c => c.advance(2))).map(x => x[0]), (await"
    " walk(s.index('name'), (c, n) => n.length === 1 ? c.continuePrimaryKey('b', 2) : c.continue())).map(x => x.slice(0,"
    " 2))]",
    "const d = await people(); const s = d.transaction('people').objectStore('people'); return await new Promise(f => {"
    " s.openCursor().onsuccess = e => { const c = e.target.result; f([thrown(() => c.continue(1)), thrown(() =>"
    " c.continue({})), thrown(() => c.advance(0)), thrown(() => c.advance()), thrown(() => c.update(1)), thrown(() =>"
    " c.delete()), thrown(() => c.continuePrimaryKey(1, 1)), c.direction, c.source === s, c.request === e.target,"
    " String(c), show(c.continue()), thrown(() => c.continue()), thrown(() => c.advance(1))]) } })",
    "const d = await people(); const t = d.transaction('people', 'readwrite'), s = t.objectStore('people'); await walk(s,"
    " c => { if (c.key === 1) c.update({...c.value, age: 50}); if (c.key === 2) c.delete(); if (c.key === 3)"
    " log.push(thrown(() => c.update({id: 8}))); c.continue() }); return [log, (await done(s.getAll())).map(x => [x.id,"
    " x.age])]",
    "const d = await people(); const t = d.transaction('people', 'readwrite'), s = t.objectStore('people'); const seen ="
    " await walk(s, c => { if (c.key === 1) { s.delete(2); s.put({id: 2.5}); s.put({id: 0}) } c.continue() }); return"
    " seen.map(x => x[0])",
    "const d = await people(); const i = d.transaction('people').objectStore('people').index('name'); return await new"
    " Promise(f => { i.openKeyCursor().onsuccess = e => { const c = e.target.result; f([String(c), c.key, c.primaryKey,"
    " 'value' in c, thrown(() => c.update(1)), c instanceof IDBCursor, c instanceof IDBCursorWithValue]) } })",
    "const d = await people(); const s = d.transaction('people').objectStore('people'); return await new Promise(f => {"
    " s.openKeyCursor().onsuccess = e => { const c = e.target.result; const k = c.key; c.continue(); f([String(c), k,"
    " c.key]) } })",
    # Transactions: order, abort, errors, commit.
    "const d = await plain(); const order = []; const t1 = d.transaction('s', 'readwrite'), t2 = d.transaction('s'), t3 ="
    " d.transaction('s'); t3.objectStore('s').get(1).onsuccess = e => order.push(['t3', e.target.result]);"
    " t2.objectStore('s').get(1).onsuccess = e => order.push(['t2', e.target.result]); t1.objectStore('s').put('v',"
    " 1).onsuccess = () => order.push('t1'); t1.oncomplete = () => order.push('t1 complete'); await Promise.all([ended(t2),"
    " ended(t3)]); return [order[0], order.slice(1).filter(x => x[0] !== 't').length, order.length]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); const r = s.put('v', 1),"
    " q = s.get(1); r.onerror = q.onerror = e => log.push([e.type, e.target.error.name, e.bubbles, e.cancelable]);"
    " d.onabort = e => log.push(['db', e.type, e.target === t]); t.onabort = e => log.push(['tx', e.bubbles,"
    " e.cancelable]); t.abort(); log.push(thrown(() => s.get(1))); await new Promise(f => t.addEventListener('abort', () =>"
    " setTimeout(f, 0))); return [log, t.error, r.readyState, thrown(() => r.result), await"
    " done(d.transaction('s').objectStore('s').count())]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); d.onerror = e =>"
    " log.push(['db error', e.target.error.name, e.eventPhase, e.currentTarget === d]); t.onerror = e => log.push(['tx"
    " error', e.eventPhase]); s.add(1, 1); const r = s.add(2, 1); r.onerror = e => log.push(['error', e.eventPhase,"
    " e.currentTarget === r]); const end = await new Promise(f => { t.onabort = () => f('abort'); t.oncomplete = () =>"
    " f('complete') }); return [log, end, t.error && [t.error.name, t.error.message], await"
    " done(d.transaction('s').objectStore('s').count())]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); s.add(1, 1); s.add(2,"
    " 1).onerror = e => e.preventDefault(); return [await ended(t), await done(d.transaction('s').objectStore('s')"
    ".get(1))]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); addEventListener('error',"
    " e => { e.preventDefault(); log.push(e.message.includes('mine')) }, {once: true}); s.add(1, 1).onsuccess = () => {"
    " throw new Error('mine') }; return [await ended(t), await done(d.transaction('s').objectStore('s').count())]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); const r = s.put(1, 1);"
    " r.onsuccess = () => log.push('success'); t.commit(); log.push(thrown(() => s.put(2, 2)), thrown(() => t.abort()),"
    " thrown(() => t.commit())); return [await ended(t), log]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'), s = t.objectStore('s'); const a = await"
    " done(s.put(1, 1)); await null; await Promise.resolve(); const b = await done(s.put(2, 2)); await (async () =>"
    " null)(); return [a, b, await done(s.count())]",
    "const d = await plain(); const t = d.transaction('s', 'readwrite'); d.close(); t.objectStore('s').put(1, 1); return"
    " [await ended(t), thrown(() => d.transaction('s'))]",
    "const d = await plain(); const t = d.transaction('s'); return [String(t), t.db === d, t.objectStore('s') ==="
    " t.objectStore('s'), t.objectStore('s').transaction === t, await ended(t)]",
    "const d = await plain(); const s = d.transaction('s', 'readwrite').objectStore('s'); const r = s.put(1, 1); return"
    " [String(r), r.source === s, r.transaction === s.transaction, r.readyState, await done(r), r.readyState, r.error]",
    "const d = await plain(); const s = d.transaction('s').objectStore('s'); const r = s.get(1); const order = [];"
    " r.addEventListener('success', () => order.push(1)); r.onsuccess = () => order.push(2); r.addEventListener('success',"
    " {handleEvent() { order.push(3) }}); const gone = () => order.push(4); r.addEventListener('success', gone);"
    " r.removeEventListener('success', gone); r.addEventListener('success', e => { order.push(5);"
    " e.stopImmediatePropagation() }, {once: true}); r.addEventListener('success', () => order.push(6)); s.transaction"
    ".addEventListener('success', () => order.push('tx bubble')); s.transaction.addEventListener('success', e =>"
    " order.push(['tx capture', e.eventPhase]), true); await ended(s.transaction); return order",
    # The shape of the classes.
    "return ['IDBFactory', 'IDBDatabase', 'IDBTransaction', 'IDBObjectStore', 'IDBIndex', 'IDBCursor',"
    " 'IDBCursorWithValue', 'IDBRequest', 'IDBOpenDBRequest', 'IDBKeyRange', 'IDBVersionChangeEvent'].map(n => [n,"
    " Object.getOwnPropertyNames(globalThis[n].prototype).filter(k => k !== 'constructor').sort(),"
    " Object.getPrototypeOf(globalThis[n].prototype).constructor.name, thrown(() => new globalThis[n]())])",
    "const e = new IDBVersionChangeEvent('x', {oldVersion: 2, newVersion: 3}); return [e.oldVersion, e.newVersion, e.type,"
    " new IDBVersionChangeEvent('y').newVersion, String(indexedDB), indexedDB instanceof IDBFactory]",
    "const e = await navigator.storage.estimate(); return [Object.keys(e).sort(), typeof e.quota, typeof e.usage,"
    " String(navigator.storage), typeof navigator.storage.persisted]",
]


def script(source: str) -> str:
    """The script of a case. It deletes all databases first."""
    return f"""{PRELUDE}
    for (const {{name}} of await indexedDB.databases()) await done(indexedDB.deleteDatabase(name));
    try {{ return await (async () => {{ {source} }})(); }}
    catch (e) {{ return ["threw", e.name, e.message]; }}
    """


def recorded() -> list[Any]:
    """Firefox's answers, in the order of CASES."""
    answers: list[Any] = json.loads(RECORDING.read_text("ascii"))
    return answers


def main() -> None:
    with Firefox() as firefox:
        answers = []
        for source in CASES:
            try:
                answers.append(firefox.run(script(source)))
            except Exception as error:  # noqa: BLE001 - shown, so that the case can be mended
                print(f"{source}\n  {error}")
                answers.append(["failed"])
    RECORDING.write_text("[\n" + ",\n".join(f" {json.dumps(answer)}" for answer in answers) + "\n]\n", "ascii")


if __name__ == "__main__":
    main()
