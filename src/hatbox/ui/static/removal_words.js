// Why an identity cannot be moved to the trash, from the error of its removal. Pure.

// The end of the message: the name of the identity, which may be anything, comes before it.
const REASONS = [
  [/\. Remove it for ever, .* --trash-bytes$/, "It is too large for the trash."],
  [/\. Remove it for ever, .* --trash-days$/, "The trash of this profile is switched off."],
];

// null for another error.
export function foreverReason(message) {
  return REASONS.find(([end]) => end.test(message))?.[1] ?? null;
}
