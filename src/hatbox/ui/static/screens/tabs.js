// Tabs: to be built.

import {header} from "../screen_parts.js";

export const title = "Tabs";

export function mount(root) {
  root.append(header(title));
  return {unmount() {}};
}
