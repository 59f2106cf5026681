// Which identities a search and a filter leave. Pure.

// filter: "all", "shown" or "hidden". Searches names, sites that it is signed in on, and the number of its id.
export function matching(identities, query, filter) {
  const text = folded(query.trim());
  return identities.filter((identity) => {
    if (filter !== "all" && (filter === "hidden") !== identity.hidden) return false;
    return !text || matches(identity, text);
  });
}

function matches({name, hosts, cookieStoreId}, text) {
  return (
    folded(name).includes(text) ||
    hosts.some((host) => host.includes(text)) ||
    cookieStoreId === text ||
    cookieStoreId.endsWith(`-${text}`)
  );
}

// Without case and accents: "cafe" finds "Café".
function folded(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
