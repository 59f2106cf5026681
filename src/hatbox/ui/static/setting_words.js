// What stands under a setting that cannot be used. Pure.

// advice: what hatbox.identities.checkSettings says about the value.
export function settingProblem(name, value, advice) {
  if (name === "timezone") return `There is no time zone ${value}. ${suggestion(advice)}`;
  if (name === "locale") return "Write a language and a region, for example de-DE.";
  if (name === "proxy" && /^It needs a host and a port|^The host or the port/.test(advice)) {
    return "Write it as socks5://127.0.0.1:9050. The port is needed.";
  }
  return advice;
}

// "Did you mean A, B, C?" → "Try A or B."
function suggestion(advice) {
  const [, names] = /^Did you mean (.*)\?$/.exec(advice) ?? [];
  return `Try ${names ? names.split(", ").slice(0, 2).join(" or ") : "Europe/Berlin"}.`;
}

// The typed text that new settings would lose: "“Team inbox”: a text field", or what the browser said.
export function riskText({tabId, fields}, titleOf) {
  const what = fields.join(", ");
  if (!tabId) return what;
  return `${titleOf(tabId) ?? `Tab ${tabId}`}: ${what}`;
}
