// What every script here starts with: `out` collects [name, how, value] for each probe, in Firefox and in Hatbox.
// SITE and OTHER are the origins of the pages; the extension has the host permission for SITE only.

const out = [];
const frames = new Map(); // frame id → number, in the order of first sight
const POLL_MS = 20;
const PATIENCE_MS = 20000;

const frameOf = id => {
  if (typeof id !== "number" || id <= 0) return id;
  if (!frames.has(id)) frames.set(id, frames.size + 1);
  return `$frame ${frames.get(id)}`;
};
const textOf = text => text
  .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "$uuid")
  .replaceAll(browser.runtime.id, "$self").replaceAll(SITE, "$site").replaceAll(OTHER, "$other")
  .replace(/frame IDs: \[[^\]]+\]/, "frame IDs: [$ids]").replace(/tab ID: \d+/, "tab ID: $id");
// Tabs are compared by their URL and status only: the rest is tested elsewhere.
const shown = (value, key = "") => {
  if (value === undefined) return "$undefined";
  if (key === "contextId" || key === "documentId") return `$${typeof value}`;
  if (key === "frameId") return frameOf(value);
  if (key === "tab" && value !== null) return {url: shown(value.url)};
  if (typeof value === "string") return textOf(value);
  if (value instanceof Error) return {error: textOf(`${value.name}: ${value.message}`)};
  if (value instanceof Date) return {date: value.getTime()};
  if (value instanceof Map) return {map: [...value].map(each => shown(each))};
  if (typeof value === "bigint" || typeof value === "number" && (value !== value || 1 / value === -Infinity)) return `$${typeof value} ${Object.is(value, -0) ? "-0" : value}`;
  if (Array.isArray(value)) return value.map(each => shown(each));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map(name => [name, shown(value[name], name)]));
};
const failure = error => [error?.name ?? null, textOf(`${error?.message ?? error}`)];

async function probe(name, f) {
  let result;
  try {
    result = f();
  } catch (error) {
    return out.push([name, "threw", failure(error)]);
  }
  if (!(result instanceof Promise)) return out.push([name, "returned", shown(result)]);
  try {
    out.push([name, "resolved", shown(await result)]);
  } catch (error) {
    out.push([name, "rejected", failure(error)]);
  }
}

async function until(what, is) {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const found = await is();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
}

// Open a page in a new tab, and wait until it has loaded.
async function open(url) {
  const {id} = await browser.tabs.create({url});
  await until(`loaded ${url}`, async () => {
    const tab = await browser.tabs.get(id);
    return tab.status === "complete" && (tab.url === undefined || tab.url === url) ? tab : null;
  });
  return id;
}
const byFrame = results => [...results].sort((a, b) => `${a.result?.url ?? a}`.localeCompare(`${b.result?.url ?? b}`));
