// The words of removed identities. Pure.

import {plural} from "./numbers.js";
import {timeAgo} from "./times.js";

const DAY = 86_400_000; // ms

// "Removed 4 min ago by manager page". Which program it was may not be known.
export function removedText({removedAt, removedBy}, now = Date.now()) {
  const when = timeAgo(removedAt, now);
  return `Removed ${when === "now" ? "just now" : when}${removedBy ? ` by ${removedBy}` : ""}`;
}

// "30 days left". The days until then, rounded up.
export function leftText({expiresAt}, now = Date.now()) {
  const days = Math.ceil((expiresAt - now) / DAY);
  return days > 0 ? `${plural(days, "day")} left` : "Deleted soon";
}

// "31 cookies on 6 sites, 4 tabs". The number of sites may not be known.
export function contentsOf({cookies, tabs, sites}) {
  const on = sites ? ` on ${plural(sites, "site")}` : "";
  return `${cookies ? `${plural(cookies, "cookie")}${on}` : "No cookies"}, ${tabs ? plural(tabs, "tab") : "no tabs"}`;
}
