// What the scripts beside this one are put into: they report what calls do in `out`, and ask the host for clicks.

const out = {};
const plain = value => JSON.parse(JSON.stringify(value ?? null).replace(/moz-extension:\/\/[0-9a-f]{8}-[0-9a-f-]+/g, "moz-extension://$self"));
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

// Report what a function throws, returns or, if it promises, what becomes of that.
async function p(name, run) {
  let result;
  try {
    result = run();
  } catch (error) {
    out[name] = {threw: error.message};
    return;
  }
  if (typeof result?.then !== "function") {
    out[name] = {returned: plain(result)};
    return;
  }
  try {
    out[name] = {resolved: plain(await result)};
  } catch (error) {
    out[name] = {rejected: plain(error.message)};
  }
}

// The same for a function that is given a callback, which is waited for. It may be called with undefined or with nothing.
function cb(name, run) {
  return new Promise(resolve => {
    p(name, () => run((...args) => {
      out[`${name}: callback`] = {args: plain(args.filter(arg => arg !== undefined)), lastError: browser.runtime.lastError?.message ?? null};
      resolve();
    }));
  });
}
