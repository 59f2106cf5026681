// Deleting an extension. It cannot be undone: its data is deleted, and others are informed at once.

import {browser} from "./api.js";
import {tookEffect} from "./attempt.js";
import {btn, errorLine, h} from "./dom.js";
import {dialog, toast} from "./layers.js";

export function confirmRemoval({id, name}) {
  const problem = h("div", {});
  const text = `Its settings, its data and its permissions are deleted, and it is stopped. This cannot be undone.`;
  const remove = async (close) => {
    try {
      await browser.hatbox.extensions.remove(id);
      close();
      toast(`${name} deleted forever.`);
    } catch (error) {
      if (tookEffect(error, `${name} deleted forever.`)) close();
      problem.replaceChildren(errorLine(error.message));
    }
  };
  dialog(`Delete ${name} forever?`, [h("p", {}, text), problem], (close) => [
    btn("Keep it", close, {kind: "quiet"}),
    btn("Delete forever", () => remove(close), {kind: "danger solid"}),
  ]);
}
