// The changes that can be undone, newest last. Knows no page.

export class UndoHistory {
  constructor(limit = 50) {
    this.limit = limit;
    this.entries = [];
  }

  // Returns the entry, by which it can be taken.
  add(undo, subject) {
    const entry = {undo, subject};
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

  // Removes the entries whose change cannot be undone any more, and returns them. subject: see changed() in undo.js.
  forget(isGone) {
    const gone = this.entries.filter(({subject}) => subject !== undefined && isGone(subject));
    for (const entry of gone) this.take(entry);
    return gone;
  }

  // Removes and returns the newest entry.
  takeLast() {
    return this.entries.pop();
  }
}
