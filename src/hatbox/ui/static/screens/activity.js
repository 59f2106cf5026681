// Activity: to be built.

import {header} from "../screen_parts.js";

export const title = "Activity";

export function mount(root) {
  root.append(header(title));
  return {unmount() {}};
}
