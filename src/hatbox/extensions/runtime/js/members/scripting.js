// scripting: executeScript() sends the source text of a call of the function, as in Firefox.

host => {
  const NativePromise = Promise;
  const {stringify, parse} = JSON;
  const textOf = Function.prototype.toString;

  // The arguments of the call for the host, or the message of an error.
  function prepare(injection, text) {
    const [sent] = parse(text);
    const {func, args, files} = injection;
    if (files && args) return {problem: "'args' may not be used with file injections."};
    delete sent.args;
    if (!func) return {text: stringify([sent])};
    try {
      sent.func = `(${textOf.call(func)})(${args ? stringify(args).slice(1, -1) : ""});`;
    } catch {
      return {problem: "Unserializable arguments."};
    }
    return {text: stringify([sent])};
  }

  return {
    members: {
      executeScript(injection, callback, call) {
        const {problem, text} = prepare(injection, call.text);
        const execute = {__proto__: call, path: "scriptCalls.execute"};
        if (callback !== null) {
          if (problem !== undefined) host.callBack(callback, false, problem, call);
          else host.send(execute, text, (ok, value) => { host.callBack(callback, ok, value, call); });
          return undefined;
        }
        return new NativePromise((resolve, reject) => {
          if (problem !== undefined) return reject(host.errorOf(call, problem));
          host.send(execute, text, (ok, value) => { ok ? resolve(value) : reject(host.errorOf(call, value)); });
        });
      },
    },
  };
}
