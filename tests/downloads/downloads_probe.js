// What an extension sees of its downloads, in Firefox and in Hatbox: the body of a function that returns [name, value] for
// each case. SITE is that of test_downloads.py.

const {downloads} = browser;
const log = [];
const seen = [];
downloads.onCreated.addListener(item => { seen.push(["created", item.id, item.state]); });
downloads.onChanged.addListener(delta => { seen.push(["changed", delta]); });
downloads.onErased.addListener(id => { seen.push(["erased", id]); });

const shown = value => value === undefined ? "$undefined" : JSON.parse(JSON.stringify(value).replaceAll(SITE, "$site"));
async function outcome(name, f) {
  let result;
  try {
    result = f();
  } catch (error) {
    return log.push([name, ["threw", error.message]]);
  }
  log.push([name, await result.then(value => ["resolved", shown(value)], error => ["rejected", error.message])]);
}
async function ended(id) {
  for (;;) {
    const [item] = await downloads.search({id});
    if (item.state !== "in_progress") return item;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

{
  const id = await downloads.download({url: `${SITE}/a%20file.txt?x=1`});
  const item = await ended(id);
  item.startTime = item.startTime.replace(/\d/g, "0");
  item.filename = item.filename.split("/").at(-1);
  item.byExtensionId = item.byExtensionName = "$self";
  log.push(["a download", shown(item)]);
  log.push(["its events", shown(seen.splice(0))]);
  const [again] = await downloads.search({id: await downloads.download({url: `${SITE}/a%20file.txt?x=1`})});
  await ended(again.id);
  log.push(["the same name", again.filename.split("/").at(-1)]);
}
for (const code of [404, 403, 402, 500]) {
  const {state, error, paused, exists} = await ended(await downloads.download({url: `${SITE}/${code}`}));
  log.push([`status ${code}`, {state, error, paused, exists}]);
}
for (const options of [
  {filename: ""}, {filename: "/etc/x"}, {filename: "../x"}, {filename: "a/../../x"}, {filename: ".bashrc"}, {filename: "a\u0000b"},
  {filename: "a:b"}, {filename: " a"}, {filename: "a."}, {filename: "./a"}, {incognito: true}, {conflictAction: "prompt"},
  {headers: [{name: "Cookie", value: "a"}]}, {headers: [{name: "sec-x", value: "a"}]}, {cookieStoreId: "firefox-container-99"},
  {cookieStoreId: "x"}, {cookieStoreId: "firefox-private"}, {method: "PUT"}, {conflictAction: "frob"}, {frob: 1},
]) await outcome(JSON.stringify(options), () => downloads.download({url: `${SITE}/small`, ...options}));
await outcome("no arguments", () => downloads.download());
await outcome("no url", () => downloads.download({}));

const [{id: complete}] = await downloads.search({state: "complete", orderBy: ["id"], limit: 1});
const [{id: failed}] = await downloads.search({state: "interrupted", orderBy: ["id"], limit: 1});
log.push(["ids", [complete, failed]]);
await outcome("pause a complete one", () => downloads.pause(complete));
await outcome("resume a complete one", () => downloads.resume(complete));
await outcome("cancel a complete one", () => downloads.cancel(complete));
await outcome("pause a failed one", () => downloads.pause(failed));
await outcome("remove a failed one", () => downloads.removeFile(failed));
for (const member of ["pause", "resume", "cancel", "removeFile"]) await outcome(`${member} an unknown one`, () => downloads[member](9999));
await outcome("remove", () => downloads.removeFile(complete));
await outcome("remove again", () => downloads.removeFile(complete));
await outcome("an unknown order", () => downloads.search({orderBy: ["frob"]}));
await outcome("an unknown state", () => downloads.search({state: "frob"}));
await outcome("an unknown key", () => downloads.search({frob: 1}));
for (const query of [
  {query: ["file", "-(1)"]}, {query: ["FILE"]}, {urlRegex: "FILE\\.txt"}, {filenameRegex: "\\(1\\)"}, {url: `${SITE}/404`}, {totalBytesLess: 6},
  {totalBytesGreater: 5}, {startedAfter: "2000-01-01"}, {startedBefore: "2000-01-01"}, {startedBefore: "1"}, {mime: "text/plain"}, {exists: true},
  {error: "SERVER_FORBIDDEN"}, {limit: 1}, {orderBy: ["-id"], limit: 2}, {cookieStoreId: "firefox-container-1"}, {paused: true},
]) await outcome(`search ${shown(JSON.stringify(query))}`, () => downloads.search(query).then(found => found.map(each => each.id)));
await outcome("erase one", () => downloads.erase({id: failed}));
await outcome("search it", () => downloads.search({id: failed}));
return log;
