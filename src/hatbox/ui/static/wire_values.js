// Encodes arguments and decodes results: JSON, with marks for what JSON lacks. hatbox/javascript/wire_codec.py
// describes the marks. A page needs few of them.

const MARK = "\0";
const UNDEFINED = {[MARK]: ["undefined"]};

// The arguments of a call. Trailing undefined ones are left out, others are marked.
export function encodeArguments(values) {
  let count = values.length;
  while (count > 0 && values[count - 1] === undefined) count--;
  return values.slice(0, count).map((value) => (value === undefined ? UNDEFINED : value));
}

// The messages in a text, with marks replaced.
export function decodeText(text) {
  const value = JSON.parse(text);
  return text.includes('"\\u0000') ? withoutMarks(value) : value;
}

function withoutMarks(value) {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === MARK) return special(value[MARK]);
  return Object.fromEntries(keys.map((key) => [key.startsWith(MARK) ? key.slice(1) : key, withoutMarks(value[key])]));
}

function special([kind, detail]) {
  if (kind === "number") return Number(detail);
  if (kind === "bigint") return BigInt(detail);
  return undefined;
}
