// Deleting an extension. It cannot be undone: its data is deleted, and others are informed at once.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, errorLine, h} from "./dom.js";
import {dialog, toast} from "./layers.js";
import {sentence} from "./sentences.js";

export function confirmRemoval({id, name}) {
  const problem = h("div", {});
  const text = `Its settings, its data and its permissions are deleted, and it is stopped. This cannot be undone.`;
  const change = async () => {
    await resultOf(browser.hatbox.extensions.remove(id));
    box.close();
    toast(sentence`${name} deleted forever.`);
  };
  const onError = (error) => problem.replaceChildren(errorLine(error.message));
  const verb = btn("Delete forever", () => attempt(verb, change, {control: verb, onError}), {kind: "danger solid"});
  const box = dialog(sentence`Delete ${name} forever?`, [h("p", {}, text), problem], (close) => [
    btn("Keep it", close, {kind: "quiet"}),
    verb,
  ]);
}
