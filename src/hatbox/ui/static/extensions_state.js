// The live list of extensions: installed ones, and those that run in any process.

import {browser} from "./api.js";
import {PartialList} from "./live_list.js";

const text = (extension) => `${extension.name.toLowerCase()}\0${extension.id}`;

const extensions = new PartialList(browser.hatbox.extensions, {
  key: (extension) => extension.id,
  compare: (one, other) => (text(one) < text(other) ? -1 : 1),
});

// Calls `onList(list)` now and after every change, or `onError(message)`. Returns {stop, refresh}.
export function followExtensions(onList, onError) {
  const stop = extensions.follow(() => (extensions.loaded ? onList(extensions.all()) : onError(extensions.error)));
  return {stop, refresh: () => extensions.reload()};
}
