// Why an identity cannot be moved to the trash, from the error of its removal, or should not be deleted. Pure.

const REASONS = {
  TooLargeForTrash: "It is too large for the trash.",
  TrashSwitchedOff: "The trash of this profile is switched off.",
};

// null for another error.
export function foreverReason({kind}) {
  return REASONS[kind] ?? null;
}

// Whether an identity has got cookies or tabs since it was as `before`.
export function isUsed(now, before) {
  return now.cookies > before.cookies || now.tabs > before.tabs;
}
