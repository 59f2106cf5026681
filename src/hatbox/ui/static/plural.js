// "1 tab", "7 tabs", "10,000 identities". Pure.
export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
