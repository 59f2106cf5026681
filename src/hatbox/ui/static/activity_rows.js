// The rows of the activity: entries by day, newest first. Pure.

import {dayName} from "./times.js";

// Entries with those that were added. An entry that grew replaces the one with its id.
export function merged(entries, added) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  for (const entry of added) if (!(byId.get(entry.id)?.sequence > entry.sequence)) byId.set(entry.id, entry);
  return [...byId.values()].sort((a, b) => b.sequence - a.sequence || (a.id < b.id ? -1 : 1));
}

// The time of the oldest entry of a log; -Infinity if all of its entries are known.
function reachOf({entries, isComplete}) {
  return isComplete || !entries.length ? -Infinity : entries.at(-1).time;
}

// The entries of several logs as one list, newest first, as far back as all of them are known.
export function together(logs) {
  const reach = Math.max(...logs.map(reachOf));
  const known = logs.flatMap(({entries}) => entries.filter(({time}) => time >= reach));
  return known.sort((a, b) => b.time - a.time || b.sequence - a.sequence || (a.id < b.id ? -1 : 1));
}

// Whether more entries of this log would make the list of all of them longer.
export function isShortest(log, logs) {
  return logs.every((other) => reachOf(other) <= reachOf(log));
}

// Who did it: "manager page, laptop".
export function author(entry) {
  return [entry.program, entry.machine].filter(Boolean).join(", ");
}

export function matches(entry, query) {
  const text = [entry.identity?.name, entry.text, author(entry)].filter(Boolean).join(" ");
  return text.toLowerCase().includes(query);
}

// A heading for each day, then its entries; the first and the last of a day are marked. After the clock was set back, a
// day may have two headings: a number makes their keys unique, and unlike the id of an entry it stays when more are added.
export function rowsOf(entries, query, now = Date.now()) {
  const wanted = query.trim().toLowerCase();
  const rows = [];
  const headings = new Map(); // day → the number of its headings
  let day = null;
  for (const entry of entries) {
    if (wanted && !matches(entry, wanted)) continue;
    const name = dayName(entry.time, now);
    if (name !== day) {
      if (rows.length) rows.at(-1).isLast = true;
      const number = (headings.get(name) ?? 0) + 1;
      headings.set(name, number);
      rows.push({key: `day ${name} ${number}`, day: name});
      day = name;
    }
    rows.push({key: entry.id, entry, isFirst: Boolean(rows.at(-1).day), isLast: false});
  }
  if (rows.length) rows.at(-1).isLast = true;
  return rows;
}
