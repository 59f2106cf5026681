// Which elements can stay where they are when others are moved into order. Pure.

// positions[i]: the present place of the element that comes i-th. pinned: an i that must stay, or -1.
// Returns the longest set of i whose places increase: only the other elements have to be moved.
export function stationary(positions, pinned = -1) {
  const candidates = positions.map((_, index) => index).filter((index) => fits(positions, index, pinned));
  const length = new Map(); // of the longest run that ends at an index
  const previous = new Map();
  let end = -1;
  for (const index of candidates) {
    let best = -1;
    for (const earlier of length.keys()) {
      const isLonger = best < 0 || length.get(earlier) > length.get(best);
      if (positions[earlier] < positions[index] && isLonger) best = earlier;
    }
    length.set(index, best < 0 ? 1 : length.get(best) + 1);
    previous.set(index, best);
    if (end < 0 || length.get(index) > length.get(end)) end = index;
  }
  const staying = new Set();
  for (let index = end; index >= 0; index = previous.get(index)) staying.add(index);
  return staying;
}

// Whether an element may stay together with the pinned one. Without those that may not, every longest run has it.
function fits(positions, index, pinned) {
  if (pinned < 0 || index === pinned) return true;
  return index < pinned === positions[index] < positions[pinned];
}
