// Sentences with names, titles and hosts, which anyone may choose: a right-to-left one must not reorder the words that
// are beside it. Pure.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\u061c\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g; // of direction; some would end the isolation, or reorder a line
const [ISOLATE, END] = ["\u2068", "\u2069"];

export function withoutControls(text) {
  return text.replace(CONTROLS, "");
}

// A text as part of another one. Only a right-to-left text gets the invisible marks: others are copied from the page,
// searched in it and compared as they are.
export function isolated(text) {
  const plain = withoutControls(text);
  return RIGHT_TO_LEFT.test(plain) ? `${ISOLATE}${plain}${END}` : plain;
}

// A tag: sentence`${name} is hidden.` isolates each value.
export function sentence(parts, ...values) {
  return parts.reduce((text, part, at) => `${text}${isolated(String(values[at - 1]))}${part}`);
}
