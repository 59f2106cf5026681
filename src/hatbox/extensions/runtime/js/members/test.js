// test: assertions, and messages to and from the test that runs the extension. Absent unless it runs in a test.

host => {
  if (host.data.testing !== true) return {members: {}};

  const listeners = new Set();
  const {is} = Object;

  const report = (kind, ...values) => { host.notify("testing.report", host.encodeMessage([kind, values])); };
  const check = (ok, message) => { report(ok ? "pass" : "fail", `${message ?? ""}`); };

  function receive(values) {
    for (const listener of [...listeners]) listener(...values);
  }
  host.listen("testing.onMessage", receive);
  host.listen("testing.onUserMessage", receive, true);

  // A value as it is shown in messages.
  function shown(value) {
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") return String(value);
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  }

  const withDetails = (message, expected, actual) => `${message === undefined ? "" : `${message} - `}Expected: ${expected}, Actual: ${actual}`;

  function isDeepEqual(a, b) {
    if (is(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && isDeepEqual(a[key], b[key]));
  }

  // Whether an error is the expected one: a part of its message, a pattern, a class or a function that decides.
  function isExpected(error, expected) {
    if (expected === undefined) return true;
    const message = error instanceof Error || typeof error?.message === "string" ? error.message : `${error}`;
    if (expected instanceof RegExp) return expected.test(message);
    if (typeof expected !== "function") return `${expected}` === message;
    return (expected.prototype !== undefined && error instanceof expected) || (!Error.isPrototypeOf(expected) && expected !== Error && expected(error) === true);
  }

  function checkError(error, expected, message) {
    const text = error instanceof Error || typeof error?.message === "string" ? error.message : `${error}`;
    check(isExpected(error, expected), withDetails(message, expected === undefined ? "an error" : String(expected), text));
  }

  const lastErrorText = () => host.lastError?.message ?? null;

  const members = {
    onMessage: {
      addListener(listener) {
        if (typeof listener !== "function") throw new Error("Invalid listener for test.onMessage.");
        listeners.add(listener);
      },
      removeListener(listener) { listeners.delete(listener); },
      hasListener: listener => listeners.has(listener),
    },
    sendMessage(...values) { report("message", ...values); },
    log(message) { report("log", `${message}`); },
    succeed(message) { check(true, message); },
    fail(message) { check(false, message); },
    notifyPass(name) { report("notifyPass", `${name ?? ""}`); },
    notifyFail(name) { report("notifyFail", `${name ?? ""}`); },
    assertTrue(value, message) { check(value === true || (typeof value !== "boolean" && Boolean(value)), withDetails(message, true, shown(value))); },
    assertFalse(value, message) { check(!value, withDetails(message, false, shown(value))); },
    assertEq(expected, actual, message) { check(is(expected, actual) || expected === actual, withDetails(message, shown(expected), shown(actual))); },
    assertDeepEq(expected, actual, message) { check(isDeepEqual(expected, actual), withDetails(message, shown(expected), shown(actual))); },
    assertLastError(expected) { check(lastErrorText() === expected, withDetails("lastError", shown(expected), shown(lastErrorText()))); },
    assertNoLastError() { check(lastErrorText() === null, withDetails("lastError", "none", shown(lastErrorText()))); },
    assertThrows(call, expected, message) {
      try {
        call();
      } catch (error) {
        checkError(error, expected, message);
        return;
      }
      check(false, withDetails(message, "an error", "none was thrown"));
    },
    async assertRejects(promise, expected, message) {
      try {
        await promise;
      } catch (error) {
        checkError(error, expected, message);
        return;
      }
      check(false, withDetails(message, "a rejection", "the promise was fulfilled"));
    },
    // Run a function as a user input handler.
    withHandlingUserInput(callback) {
      host.notify("testing.startUserInput", "[]");
      host.withUserInput(callback);
    },
    getBackgroundServiceWorkerEnabled: () => false,
    // Run test functions one after another. An exception is a failure of its test.
    async runTests(tests) {
      for (const test of tests) {
        report("log", `test ${test.name || "(anonymous)"}`);
        try {
          await test();
        } catch (error) {
          check(false, `${test.name || "(anonymous)"}: ${error?.message ?? error}`);
        }
      }
      report("notifyPass", "runTests");
    },
  };
  return {always: true, members};
}
