// What an extension sees of native applications, in Firefox and in Hatbox: the body of a function that returns
// [name, how, value] for each case. The application is native_app.py.

const {runtime} = browser;

const shown = value => {
  if (value === undefined) return "$undefined";
  return value === null || typeof value !== "object" ? value : JSON.parse(JSON.stringify(value, (key, each) => {
    if (each === undefined) return "$undefined";
    return typeof each === "string" ? each.replaceAll(runtime.id, "$probe") : each;
  }));
};

// The first message or the end of a port, after `use` has been called.
function first(application, use = () => {}) {
  const port = runtime.connectNative(application);
  return new Promise((resolve, reject) => {
    port.onMessage.addListener((message, from) => {
      port.disconnect();
      resolve(from === port ? message : "another port");
    });
    port.onDisconnect.addListener(from => {
      resolve({error: from.error && failure(from.error), same: from === port, last: runtime.lastError?.message});
    });
    try {
      use(port);
    } catch (error) {
      port.disconnect();
      reject(error);
    }
  });
}

// ── Applications ──

for (const name of [
  "app", "missing", "other.extension", "relative", "no_file", "not_executable", "wrong_type", "wrong_name", "no_json", "folder",
  "unknown.key", "no_description", "nobody", "empty",
]) await probe(`application: ${name}`, () => first(name, port => port.postMessage("hello")));

for (const name of ["", "a b", "a..b", ".a", "../app", "a/b", "a-b", "é", "app\n"]) {
  await probe(`name: ${JSON.stringify(name)}`, () => runtime.connectNative(name).name);
}
await probe("no name", () => runtime.connectNative());
await probe("a number", () => runtime.connectNative(5));
await probe("two arguments", () => runtime.connectNative("app", "app"));

// ── Ports ──

await probe("port", () => {
  const port = runtime.connectNative("app");
  const members = Object.keys(port).sort().map(key => [key, typeof port[key]]);
  port.disconnect();
  return members;
});
await probe("arguments of the application", () => first("app", port => port.postMessage({do: "arguments"})));
const cyclic = {};
cyclic.self = cyclic;
for (const [name, value] of [
  ["null", null], ["undefined", undefined], ["text", "h\u00e9 \ud83d\ude00 \ud800"], ["number", 1.5], ["NaN", NaN], ["big integer", 2n],
  ["date", new Date(0)], ["map", new Map([[1, 2]])], ["function", () => {}], ["object with a function", {f() {}, a: [undefined, () => {}]}],
  ["toJSON", {toJSON: () => "json"}], ["toJSON that throws", {toJSON() { throw new RangeError("no"); }}], ["cyclic", cyclic],
  ["symbol", Symbol("x")], ["bytes", new Uint8Array([1, 2])], ["large number", 2 ** 60], ["__proto__", JSON.parse('{"__proto__": {"a": 1}}')],
]) await probe(`message: ${name}`, () => first("app", port => port.postMessage(value)));
await probe("message: none", () => first("app", port => port.postMessage()));
await probe("messages: two", () => first("app", port => { port.postMessage(1); port.postMessage(2); }));
await probe("text of the message", () => first("app", port => port.postMessage({do: "text", a: "é", b: 1e21, c: -0})));
await probe("messages keep their order", () => new Promise(resolve => {
  const port = runtime.connectNative("app");
  const got = [];
  port.onMessage.addListener(message => { if (got.push(message) === 300) { port.disconnect(); resolve(got.join() === [...Array(300).keys()].join()); } });
  for (let i = 0; i < 100; i++) port.postMessage(i);
  for (let i = 100; i < 300; i++) port.postMessage(i);
}));
await probe("after disconnect", () => {
  const port = runtime.connectNative("app");
  port.disconnect();
  port.disconnect();
  port.postMessage(1);
});
await probe("after the end", async () => {
  const port = runtime.connectNative("app");
  await new Promise(resolve => { port.onDisconnect.addListener(resolve); port.postMessage({do: "exit"}); });
  try {
    port.postMessage(1);
  } catch (error) {
    return failure(error);
  }
  return "posted";
});

// ── Answers ──

await probe("it exits", () => first("app", port => port.postMessage({do: "exit"})));
await probe("largest message", () => first("app", port => port.postMessage({do: "big", size: 1 << 20})).then(text => text.length));
await probe("too large", () => first("app", port => port.postMessage({do: "big", size: (1 << 20) + 1})));
await probe("garbage", () => first("app", port => port.postMessage({do: "garbage"})));
await probe("not JSON", () => first("app", port => port.postMessage({do: "raw", hex: "03000000" + "7b7b7b"})));
await probe("no UTF-8", () => first("app", port => port.postMessage({do: "raw", hex: "03000000" + "22ff22"})));
await probe("NaN as JSON", () => first("app", port => port.postMessage({do: "raw", hex: "03000000" + "4e614e"})));
await probe("an empty message", () => first("app", port => port.postMessage({do: "raw", hex: "00000000"})));
await probe("a huge number", () => first("app", port => port.postMessage({do: "raw", hex: "16000000" + "31323334353637383930313233343536373839303132"})));
await probe("standard error", () => first("app", port => port.postMessage({do: "stderr"})));

// ── sendNativeMessage ──

await probe("send", () => runtime.sendNativeMessage("app", {a: [1, null]}));
await probe("send: undefined", () => runtime.sendNativeMessage("app", undefined));
await probe("send: no message", () => runtime.sendNativeMessage("app"));
await probe("send: nothing", () => runtime.sendNativeMessage());
await probe("send: bad name", () => runtime.sendNativeMessage("a b", 1));
await probe("send: missing", () => runtime.sendNativeMessage("missing", 1));
await probe("send: no_file", () => runtime.sendNativeMessage("no_file", 1));
await probe("send: it exits", () => runtime.sendNativeMessage("app", {do: "exit"}));
await probe("send: too large", () => runtime.sendNativeMessage("app", {do: "big", size: (1 << 20) + 1}));
await probe("send: cyclic", () => runtime.sendNativeMessage("app", cyclic));
await probe("send: big integer", () => runtime.sendNativeMessage("app", 2n));
await probe("send: function", () => runtime.sendNativeMessage("app", () => {}));
await probe("send: callback", () => new Promise(resolve => {
  const result = runtime.sendNativeMessage("app", "x", (...args) => resolve([args, runtime.lastError, result]));
}));
await probe("send: callback, failed", () => new Promise(resolve => {
  runtime.sendNativeMessage("missing", "x", (...args) => resolve([args, runtime.lastError?.message]));
}));
await probe("send: too many", () => runtime.sendNativeMessage("app", 1, () => {}, 2));
return log;
