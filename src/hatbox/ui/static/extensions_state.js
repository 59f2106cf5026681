// The live list of extensions: installed ones, and those that run in any process.

import {browser, connection} from "./api.js";

const api = browser.hatbox.extensions;

// Calls `onList(list)` now and after every change, or `onError(message)`. Returns {stop, refresh}.
export function followExtensions(onList, onError) {
  let isStopped = false;
  let reading = null;
  let isStale = false;

  // One read at a time: a late answer cannot overwrite a newer one.
  function refresh() {
    isStale = true;
    reading ??= (async () => {
      try {
        while (isStale && !isStopped) {
          isStale = false;
          const list = await api.list();
          if (!isStopped && !isStale) onList(list);
        }
      } catch (error) {
        if (!isStopped) onError(error.message);
      } finally {
        reading = null;
      }
    })();
    return reading;
  }

  api.onChanged.addListener(refresh);
  const stopResync = connection.onResync(refresh);
  refresh();
  return {
    refresh,
    stop() {
      isStopped = true;
      api.onChanged.removeListener(refresh);
      stopResync();
    },
  };
}
