// The changes that can be undone, newest last. Knows no page.

export class UndoHistory {
  constructor(limit = 50) {
    this.limit = limit;
    this.entries = [];
  }

  // Returns the entry, by which it can be taken.
  add(undo) {
    const entry = {undo};
    this.entries.push(entry);
    if (this.entries.length > this.limit) this.entries.shift();
    return entry;
  }

  // Removes an entry. Whether it was still there: false when it is undone already.
  take(entry) {
    const at = this.entries.indexOf(entry);
    if (at >= 0) this.entries.splice(at, 1);
    return at >= 0;
  }

  // Removes and returns the newest entry.
  takeLast() {
    return this.entries.pop();
  }
}
