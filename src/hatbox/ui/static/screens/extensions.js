// Extensions: to be built.

import {header} from "../screen_parts.js";

export const title = "Extensions";

export function mount(root) {
  root.append(header(title));
  return {unmount() {}};
}
