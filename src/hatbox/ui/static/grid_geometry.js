// Places of equal cells in columns: index → column and row → pixels, and back. Pure arithmetic.

export class GridGeometry {
  // width: of the whole grid. minWidth: of a cell; 0 for one column. All in px.
  constructor({width, minWidth = 0, height, gap = 0}) {
    this.height = height;
    this.gap = gap;
    this.columns = minWidth ? Math.max(1, Math.floor((width + gap) / (minWidth + gap))) : 1;
    this.width = (width - gap * (this.columns - 1)) / this.columns;
    this.step = height + gap; // from one row to the next
  }

  // [left, top] of a cell.
  place(index) {
    const column = index % this.columns;
    return [column * (this.width + this.gap), Math.floor(index / this.columns) * this.step];
  }

  // The height of a grid with this many cells.
  total(count) {
    return Math.max(0, Math.ceil(count / this.columns) * this.step - this.gap);
  }

  // [first, last) cells that a window of this place and height shows, and `margin` rows more each way.
  range(top, height, count, margin = 3) {
    const first = Math.max(0, Math.floor(top / this.step) - margin) * this.columns;
    const last = Math.max(0, Math.ceil((top + height) / this.step) + margin) * this.columns;
    return [Math.min(first, count), Math.min(last, count)];
  }

  // The index where a cell whose corner is at x, y would land.
  indexAt(x, y, count) {
    const column = clamp(Math.round(x / (this.width + this.gap)), 0, this.columns - 1);
    const row = Math.max(0, Math.round(y / this.step));
    return clamp(row * this.columns + column, 0, Math.max(0, count - 1));
  }

  // The index after an arrow key, Home or End; undefined for other keys.
  neighbour(index, key, count) {
    const last = count - 1;
    switch (key) {
      case "ArrowLeft":
        return clamp(index - 1, 0, last);
      case "ArrowRight":
        return clamp(index + 1, 0, last);
      case "ArrowUp":
        return index - this.columns < 0 ? index : index - this.columns;
      case "ArrowDown":
        return clamp(index + this.columns, 0, last);
      case "Home":
        return 0;
      case "End":
        return last;
    }
  }
}

export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

// The items with the one at `from` at `to` instead.
export function moved(items, from, to) {
  const result = [...items];
  result.splice(to, 0, ...result.splice(from, 1));
  return result;
}
