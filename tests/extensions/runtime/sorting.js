// Sorts arrays with comparators of many kinds. Returns for each array the number of calls, and a hash of the pairs that
// were compared and of the result. The same in Firefox and here.
let seed = 12345;
const random = limit => (seed = (seed * 1103515245 + 12345) % 2147483648) % limit;
const comparators = {
  boolean: (a, b) => a > b,
  notLess: (a, b) => a >= b,
  reversed: (a, b) => b > a,
  numeric: (a, b) => a - b,
  nan: () => NaN,
  nothing: () => undefined,
  constant: () => 1,
  sometimesNaN: (a, b) => (a % 3 ? a - b : NaN),
  inconsistent: (a, b) => ((a * 7 + b * 13) % 5) - 2,
  text: (a, b) => (a > b ? "1" : "-1"),
};
const kinds = ["sort", "toSorted", "typed", "sparse"];
const answers = [];
for (let i = 0; i < 400; i++) {
  const [name, kind] = [Object.keys(comparators)[i % 10], kinds[Math.floor(i / 10) % 4]];
  const length = i < 200 ? i % 40 : random(600);
  const list = Array.from({length}, () => random(100));
  let hash = 7;
  let calls = 0;
  const note = value => { hash = (hash * 31 + (value === undefined ? 101 : value)) % 1000000007; };
  const compare = (a, b) => {
    calls++;
    note(a);
    note(b);
    return comparators[name](a, b);
  };
  if (kind === "sparse") {
    for (let j = 0; j < length; j += 5) delete list[j];
    for (let j = 3; j < length; j += 7) list[j] = undefined;
  }
  const result = kind === "toSorted" ? list.toSorted(compare) : (kind === "typed" ? Float64Array.from(list) : list).sort(compare);
  for (let j = 0; j < length; j++) note(j in result ? result[j] : 102);
  answers.push([`${name} ${kind} ${length}`, calls, hash]);
}
return answers;
