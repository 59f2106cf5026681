// How the page looks: chosen by the user, remembered in this browser for all servers of Hatbox. They have different
// ports, and localStorage belongs to one port. A link deletes it, too: another program may have had the port before.
// Cookies belong to the host. Other servers on it see them and may set them, so nothing else is remembered here.

const DAYS = 400; // browsers allow no more
const SECONDS_OF_DAY = 86_400;

// The value of a choice; "" without one.
export function remembered(name) {
  const start = `hatbox_${name}=`;
  const found = document.cookie.split("; ").find((each) => each.startsWith(start));
  return found ? found.slice(start.length) : "";
}

// Remember a value of letters; "" forgets the choice.
export function remember(name, value) {
  const age = value ? DAYS * SECONDS_OF_DAY : 0;
  document.cookie = `hatbox_${name}=${value}; path=/; max-age=${age}; samesite=strict`;
}
