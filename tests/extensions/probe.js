// The start of messages_probe.js and native_messages_probe.js: records what a call returns or throws, as `shown` shows it.

const log = [];
const failure = error => [error.name, error.message];

async function probe(name, f) {
  let result;
  try {
    result = f();
  } catch (error) {
    return log.push([name, "threw", failure(error)]);
  }
  if (!(result instanceof Promise)) return log.push([name, "returned", shown(result)]);
  try {
    log.push([name, "resolved", shown(await result)]);
  } catch (error) {
    log.push([name, "rejected", failure(error)]);
  }
}

