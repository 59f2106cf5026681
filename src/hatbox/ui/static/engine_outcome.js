// What became of an engine that was just started. Pure.

// engines: as hatbox.engines.list returns them. tabId: the tab for which it was started; name: of the engine, when no
// tab is known. {running}, {error: its text}, {ended: true}, or null while it is starting.
// A started engine serves all identities: one that serves only some is another one.
export function startOutcome(engines, {tabId, name}) {
  const isStarted = (each) => (tabId === undefined ? each.name === name : each.tabId === tabId);
  const failed = engines.find((each) => each.status === "failed" && isStarted(each));
  if (failed) return {error: failed.error};
  const serving = (each) => !each.identities && (tabId !== undefined || each.name === name);
  const running = engines.find((each) => each.status === "running" && serving(each));
  if (running) return {running};
  if (engines.some((each) => each.status === "starting")) return null;
  const other = engines.find((each) => each.error); // of another tab, which started the engine too
  return other ? {error: other.error} : {ended: true};
}
