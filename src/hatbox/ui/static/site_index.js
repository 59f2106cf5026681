// Sites and the identities that have cookies there, changed identity by identity. Knows no page.

export class SiteIndex {
  constructor() {
    this.hosts = new Map(); // host → Map of cookieStoreId → {cookieStoreId, signedInSince, lastUsed, cookies}
    this.byIdentity = new Map(); // cookieStoreId → Set of hosts
    this.sorted = null; // rows, made when needed
  }

  // Everything anew: the result of hatbox.sites.list().
  set(sites) {
    this.hosts.clear();
    this.byIdentity.clear();
    this.add(sites);
  }

  // These identities anew: the result of list({cookieStoreIds}).
  replace(cookieStoreIds, sites) {
    for (const id of cookieStoreIds) this.remove(id);
    this.add(sites);
  }

  // Rows, those with most sign-ins first, then by name: {host, signedIn: entries, others: entries}.
  rows() {
    this.sorted ??= [...this.hosts].map(([host, entries]) => rowOf(host, entries)).sort(compareRows);
    return this.sorted;
  }

  // Rows whose site, or one of whose identities, matches. matching: a Set of cookieStoreIds. These come first.
  find(text, matching) {
    const found = [];
    for (const row of this.rows()) {
      const has = (entry) => matching.has(entry.cookieStoreId);
      const isNamed = row.host.includes(text);
      if (matching.size && (row.signedIn.some(has) || row.others.some(has))) {
        found.push({...row, signedIn: matchesFirst(row.signedIn, has), others: matchesFirst(row.others, has)});
      } else if (isNamed) found.push(row);
    }
    return found;
  }

  // The sites of one identity: signed in first, then by name.
  of(cookieStoreId) {
    const entries = [...(this.byIdentity.get(cookieStoreId) ?? [])].map((host) => {
      return {host, ...this.hosts.get(host).get(cookieStoreId)};
    });
    return entries.sort((a, b) => isOut(a) - isOut(b) || compareText(a.host, b.host));
  }

  remove(cookieStoreId) {
    this.sorted = null;
    for (const host of this.byIdentity.get(cookieStoreId) ?? []) {
      const entries = this.hosts.get(host);
      entries.delete(cookieStoreId);
      if (!entries.size) this.hosts.delete(host);
    }
    this.byIdentity.delete(cookieStoreId);
  }

  add(sites) {
    this.sorted = null;
    for (const {host, identities} of sites) {
      const entries = this.hosts.get(host) ?? this.hosts.set(host, new Map()).get(host);
      for (const entry of identities) {
        const id = entry.cookieStoreId;
        entries.set(id, entry);
        (this.byIdentity.get(id) ?? this.byIdentity.set(id, new Set()).get(id)).add(host);
      }
    }
  }
}

function isOut(entry) {
  return entry.signedInSince === null;
}

function rowOf(host, entries) {
  const all = [...entries.values()];
  return {host, signedIn: all.filter((entry) => !isOut(entry)), others: all.filter(isOut)};
}

function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareRows(a, b) {
  return b.signedIn.length - a.signedIn.length || compareText(a.host, b.host);
}

function matchesFirst(entries, has) {
  return [...entries.filter(has), ...entries.filter((entry) => !has(entry))];
}
