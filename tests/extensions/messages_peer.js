// The other extension of messages_probe.js: it answers each message in the way that the message names.

const seen = [];
const waiting = [];

function saw(text) {
  seen.push(text);
  for (const check of [...waiting]) check();
}

// The next `count` things that this extension has seen, once there are so many.
const sawNext = count => new Promise(done => {
  const check = () => {
    if (seen.length < count) return;
    waiting.splice(waiting.indexOf(check), 1);
    done(seen.splice(0));
  };
  waiting.push(check);
  check();
});

const ways = {
  respond: (message, _, respond) => { respond(message.value); },
  respondTwice: (_, __, respond) => { respond(1); respond(2); },
  respondNothing: (_, __, respond) => { respond(); },
  respondNull: (_, __, respond) => { respond(null); },
  respondLater: (message, _, respond) => { setTimeout(() => respond(message.value), 5); return true; },
  respondTooLate: (message, _, respond) => { setTimeout(() => respond(message.value), 5); },
  respondAndTrue: (_, __, respond) => { respond("responded"); return true; },
  respondAndPromise: (_, __, respond) => { respond("responded"); return Promise.resolve("promised"); },
  respondAndThrow: (_, __, respond) => { respond("before"); throw new Error("after"); },
  respondFunction: (_, __, respond) => { respond(() => 1); },
  whatRespondReturns: (_, __, respond) => Promise.resolve(String(respond(1))),
  returnValue: () => "returned",
  returnFalse: () => false,
  returnOne: () => 1,
  returnNothing: () => {},
  returnThenable: () => ({then(resolve) { resolve("thenable"); }}),
  promise: message => Promise.resolve(message.value),
  promiseOfNothing: () => Promise.resolve(),
  async: async message => { await null; return message.value; },
  throwError: () => { throw new Error("thrown on purpose"); },
  throwTypeError: () => { throw new TypeError("a type error"); },
  throwText: () => { throw "just text"; },
  throwObject: () => { throw {message: "an object with a message", code: 7}; },
  throwNothing: () => { throw undefined; },
  reject: () => Promise.reject(new RangeError("rejected on purpose")),
  rejectText: () => Promise.reject("just text"),
  rejectObject: () => Promise.reject({message: "an object", other: 1}),
  rejectNumber: () => Promise.reject({message: 5}),
  sender: (_, sender) => Promise.resolve(sender),
  arguments: (...args) => Promise.resolve(args.map(each => typeof each)),
  kindOf: ({value}) => {
    const keys = value !== null && typeof value === "object" ? Object.keys(value) : null;
    return Promise.resolve([Object.prototype.toString.call(value), keys]);
  },
  seen: ({count}) => sawNext(count),
};

const {onMessage, onMessageExternal, onConnectExternal} = browser.runtime;

onMessage.addListener(() => Promise.resolve("this is for its own pages only"));

onMessageExternal.addListener((message, ...rest) => {
  if (typeof message !== "object" || message === null) return Promise.resolve({got: String(message)});
  if (message.way in ways) return ways[message.way](message, ...rest);
  if (message.way === "both") return Promise.resolve("first");
  if (message.way === "slowFirst") return new Promise(done => setTimeout(() => done("slow"), 50));
  if (message.way === "throwFirst") throw new Error("the first throws");
});

onMessageExternal.addListener(message => {
  if (message?.way === "both") return Promise.resolve("second");
  if (message?.way === "slowFirst") return Promise.resolve("fast");
  if (message?.way === "throwFirst") return Promise.resolve("the second answers");
});

onConnectExternal.addListener(port => {
  const {name} = port;
  saw(`connected ${name}`);
  port.onDisconnect.addListener(same => { saw(`disconnected ${name} ${same === port} ${port.error}`); });
  if (name === "echo") port.onMessage.addListener((message, same) => { port.postMessage({echo: message, same: same === port}); });
  if (name === "silent") port.onMessage.addListener(message => { saw(message); });
  if (name === "greet") { port.postMessage("hello"); port.postMessage("again"); }
  if (name === "leave") port.disconnect();
  if (name === "greetAndLeave") { port.postMessage("last"); port.disconnect(); }
  if (name === "throw") { port.onMessage.addListener(message => { saw(message); }); throw new Error("onConnect throws"); }
  if (name === "shape") port.postMessage([Object.keys(port), port.sender, port.error]);
});

onConnectExternal.addListener(port => { if (port.name === "echo") saw("a second listener"); });
