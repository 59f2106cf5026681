// What an extension sees of webRequest.filterResponseData, in Firefox and in Hatbox: the body of a function that returns
// [name, value] for each case. SITE is a site with /text, which is "hello world", /empty and /go, which redirects to /text.

const {webRequest} = browser;
const log = [];
const ALL = {urls: ["http://localhost/*"]};
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const failure = error => [error.name, error.message];

// Fetch a page while `use(filter, seen)` is called for its requests. Logs what the filter saw, and the text.
async function filtered(name, path, use, {event = "onBeforeRequest", filters = 1} = {}) {
  const seen = [];
  const made = [];
  const listeners = [];
  for (let n = 1; n <= filters; n++) {
    const listener = ({requestId}) => {
      let filter;
      try {
        filter = webRequest.filterResponseData(requestId);
      } catch (error) {
        seen.push(["threw", failure(error)]);
        return;
      }
      made.push(filter);
      const note = (...what) => { seen.push(filters > 1 ? [n, ...what] : what); };
      note("made", filter.status, filter.error);
      for (const type of ["start", "data", "stop", "error"]) {
        filter[`on${type}`] = happened => {
          note(happened.type, filter.status, filter.error, ...(type === "data" ? [decoder.decode(happened.data)] : []));
        };
      }
      try {
        use(filter, note, n);
      } catch (error) {
        note("threw", failure(error), filter.status);
      }
    };
    const options = /onBefore|onHeaders/.test(event) ? [["blocking"]] : [];
    webRequest[event].addListener(listener, ALL, ...options);
    listeners.push(listener);
  }
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS)); // in Firefox, the request could overtake the listeners
  let text;
  try {
    text = await (await fetch(SITE + path, {cache: "no-store", signal: AbortSignal.timeout(3000)})).text();
  } catch {
    text = "failed";
  }
  for (const listener of listeners) webRequest[event].removeListener(listener);
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS / 3));
  log.push([name, {text, seen, end: made.map(each => [each.status, each.error])}]);
}

const also = (filter, type, more) => {
  const before = filter[type];
  filter[type] = event => { before(event); more(event); };
};
const attempt = (note, what, f) => {
  try {
    note(what, f() ?? "returned");
  } catch (error) {
    note(what, failure(error));
  }
};

await filtered("written in capitals", "/text", filter => {
  also(filter, "ondata", event => { filter.write(encoder.encode(decoder.decode(event.data).toUpperCase())); });
  also(filter, "onstop", () => { filter.close(); });
});
await filtered("replaced at the start", "/text", filter => {
  also(filter, "onstart", () => { filter.write(encoder.encode("new")); filter.close(); });
});
await filtered("appended at the end", "/text", filter => {
  also(filter, "ondata", event => { filter.write(event.data); });
  also(filter, "onstop", () => { filter.write(encoder.encode("!").buffer); filter.disconnect(); });
});
await filtered("disconnected at the start", "/text", filter => { also(filter, "onstart", () => { filter.disconnect(); }); });
await filtered("disconnected before the start", "/text", (filter, note) => { attempt(note, "disconnect", () => filter.disconnect()); });
await filtered("closed before the start", "/text", (filter, note) => { attempt(note, "close", () => filter.close()); });
await filtered("disconnected with the data", "/text", filter => {
  also(filter, "ondata", event => { filter.write(encoder.encode("a ")); filter.write(event.data); filter.disconnect(); });
});
await filtered("closed with the data", "/text", filter => { also(filter, "ondata", () => { filter.close(); }); });
await filtered("an empty page", "/empty", filter => { also(filter, "onstop", () => { filter.write(encoder.encode("x")); filter.close(); }); });
await filtered("used before the start", "/text", (filter, note) => {
  attempt(note, "write", () => filter.write(encoder.encode("x")));
  attempt(note, "suspend", () => filter.suspend());
  attempt(note, "resume", () => filter.resume());
  also(filter, "onstart", () => { filter.disconnect(); });
});
await filtered("used after the end", "/text", (filter, note) => {
  also(filter, "onstart", () => {
    filter.close();
    attempt(note, "write", () => filter.write(encoder.encode("x")));
    attempt(note, "close", () => filter.close());
    attempt(note, "disconnect", () => filter.disconnect());
    attempt(note, "suspend", () => filter.suspend());
    attempt(note, "resume", () => filter.resume());
  });
});
await filtered("used after disconnect", "/text", (filter, note) => {
  also(filter, "onstart", () => {
    filter.disconnect();
    attempt(note, "write", () => filter.write(encoder.encode("x")));
    attempt(note, "close", () => filter.close());
    attempt(note, "disconnect", () => filter.disconnect());
  });
});
await filtered("bad data", "/text", (filter, note) => {
  also(filter, "onstart", () => {
    attempt(note, "text", () => filter.write("text"));
    attempt(note, "nothing", () => filter.write());
    attempt(note, "null", () => filter.write(null));
    attempt(note, "list", () => filter.write([1]));
    filter.disconnect();
  });
});
await filtered("suspended and resumed", "/text", (filter, note) => {
  also(filter, "onstart", () => {
    filter.suspend();
    note("suspended", filter.status);
    setTimeout(() => { filter.resume(); note("resumed", filter.status); }, 50);
  });
  also(filter, "ondata", event => { filter.write(event.data); });
  also(filter, "onstop", () => { filter.close(); });
});
await filtered("two filters", "/text", (filter, note, n) => {
  also(filter, "ondata", event => { filter.write(encoder.encode(`${n}(${decoder.decode(event.data)})`)); });
  also(filter, "onstop", () => { filter.close(); });
}, {filters: 2});
await filtered("made with the headers", "/text", filter => {
  also(filter, "ondata", event => { filter.write(event.data); });
  also(filter, "onstop", () => { filter.write(encoder.encode("!")); filter.close(); });
}, {event: "onHeadersReceived"});
await filtered("made too late", "/text", () => {}, {event: "onCompleted"});

{
  const filter = webRequest.filterResponseData("987654321");
  const seen = [Object.prototype.toString.call(filter), filter.status, filter.error];
  await new Promise(resolve => {
    setTimeout(resolve, 3000);
    filter.onerror = event => { seen.push([event.type, filter.status, filter.error]); resolve(); };
  });
  log.push(["unknown request", seen]);
}
for (const args of [[], [5], ["x"], ["1", "2"]]) {
  try {
    log.push([`arguments ${JSON.stringify(args)}`, typeof webRequest.filterResponseData(...args)]);
  } catch (error) {
    log.push([`arguments ${JSON.stringify(args)}`, failure(error)]);
  }
}
log.push(["global", [typeof StreamFilter, typeof webRequest.filterResponseData]]);
return log;
