// Trash and backups: to be built.

import {header} from "../screen_parts.js";

export const title = "Trash and backups";

export function mount(root) {
  root.append(header(title));
  return {unmount() {}};
}
