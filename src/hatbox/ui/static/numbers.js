// Numbers for people. Pure. Not Intl: its first use takes longer than drawing the page.

// 10000 → "10,000"
export function thousands(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

// "1 tab", "7 tabs", "10,000 identities"
export function plural(count, one, many = `${one}s`) {
  return `${thousands(count)} ${count === 1 ? one : many}`;
}
