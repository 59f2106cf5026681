// The changes that can be undone, newest last, in the order in which they were started. Knows no page.

export class UndoHistory {
  constructor(limit = 50) {
    this.limit = limit;
    this.entries = [];
    this.added = 0;
  }

  // Returns the entry, by which it can be taken. undo: null for a change that is not done yet.
  add(undo, subject) {
    const entry = {number: ++this.added, undo, subject};
    this.putBack(entry);
    return entry;
  }

  // Adds an entry again that was taken, at its place.
  putBack(entry) {
    const later = this.entries.findIndex(({number}) => number > entry.number);
    this.entries.splice(later < 0 ? this.entries.length : later, 0, entry);
    if (this.entries.length > this.limit) this.entries.shift();
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
