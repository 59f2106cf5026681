// What stands under a setting that cannot be used. Pure.

// By the start of what hatbox/identity/proxy_url.py says.
const PROXY_PROBLEMS = [
  ["It needs a host and a port", "Write it as socks5://127.0.0.1:9050. The port is needed."],
  ["The port must be", "The port must be 1 to 65535."],
  ["The host is not valid", "The host is not valid. Write it as socks5://127.0.0.1:9050."],
];

// advice: what hatbox.identities.checkSettings says about the value.
export function settingProblem(name, value, advice) {
  if (name === "timezone") return `There is no time zone ${value}. ${suggestion(advice)}`;
  if (name === "locale") return "Write a language and a region, for example de-DE.";
  return (name === "proxy" && PROXY_PROBLEMS.find(([start]) => advice.startsWith(start))?.[1]) || advice;
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
