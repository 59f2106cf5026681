// Sizes of backups, and what a restore would change, in words. Pure.

import {plural, thousands} from "./numbers.js";

const UNITS = ["KB", "MB", "GB", "TB"];

// "96 bytes", "812 KB", "4.9 MB".
export function sizeText(bytes) {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  let value = bytes;
  let unit = -1;
  do {
    value /= 1000;
    unit += 1;
  } while (Math.round(value) >= 1000 && unit < UNITS.length - 1);
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

function identities(count) {
  return plural(count, "identity", "identities");
}

// "8 identities are the same, 1 would change back, 1 comes back."
export function planText(plan) {
  if (!plan.hasChanges) return "Nothing would change: everything is as in the backup.";
  if (plan.isNewProfile) {
    return `This profile is new. It becomes equal to the backup, with ${identities(plan.identities.length)}.`;
  }
  const {same, changing, coming} = parts(plan);
  const rest = [
    changing.length && `${thousands(changing.length)} would change back`,
    coming.length && `${thousands(coming.length)} ${coming.length === 1 ? "comes" : "come"} back`,
  ].filter(Boolean);
  const first = same.length && `${identities(same.length)} ${same.length === 1 ? "is" : "are"} the same`;
  return `${[first, ...rest].filter(Boolean).join(", ") || "No identity changes"}. All others stay as they are.`;
}

// Those with a name: the store of no identity has none.
function parts({identities: every}) {
  const all = every.filter((each) => each.name);
  return {
    same: all.filter((each) => !each.changes.length),
    changing: all.filter((each) => each.changes.length && !each.created),
    coming: all.filter((each) => each.created),
  };
}

// A line for each change: {name, text}. The name is empty for what belongs to no identity.
export function planLines(plan) {
  if (plan.isNewProfile) return [];
  const changed = plan.identities.filter((each) => each.changes.length);
  const lines = changed.map((each) => ({name: each.name || "Without an identity", text: each.changes.join(", ")}));
  return [...lines, ...plan.others.map((text) => ({name: "", text}))];
}

// The button that restores: "Restore 2 identities".
export function restoreLabel(plan) {
  const count = restoredCount(plan);
  return count ? `Restore ${identities(count)}` : "Restore";
}

function restoredCount(plan) {
  const {changing, coming} = parts(plan);
  return plan.isNewProfile ? plan.identities.length : changing.length + coming.length;
}

// After the restore.
export function restoredText(plan) {
  if (!plan.hasChanges) return "Nothing had to be changed: everything is as in the backup.";
  const count = restoredCount(plan);
  return count ? `${identities(count)} restored.` : "The backup is restored.";
}

// An error beside the backup that caused it does not name it again: "monday.hatbox: it is damaged." → "It is damaged."
export function errorText(message, name = "") {
  const text = name && message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
  return text && text[0].toUpperCase() + text.slice(1);
}
