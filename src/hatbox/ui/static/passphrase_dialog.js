// Asks for a new passphrase, twice.

import {btn, errorLine, h} from "./dom.js";
import {dialog} from "./layers.js";

const LOST = "Only this passphrase opens the file. It cannot be recovered.";

// run(passphrase) is called after the dialog is closed. reason: what stands above the fields.
export function askNewPassphrase({title, label, reason = LOST, run}) {
  const error = h("div", {id: "new-passphrase-error"});
  const field = (id, text) => {
    const props = {class: "field", type: "password", id, autocomplete: "new-password", "aria-describedby": error.id};
    const input = h("input", props);
    return [input, h("div", {class: "f1"}, h("label", {for: id}, text), input)];
  };
  const [first, firstRow] = field("new-passphrase", "Passphrase");
  const [second, secondRow] = field("new-passphrase-again", "The same passphrase again");
  const form = h("form", {class: "dlg-text", novalidate: true, id: "new-passphrase-form"});
  form.append(h("p", {}, reason), firstRow, secondRow, error);
  const fail = (text, input) => {
    error.replaceChildren(errorLine(text));
    input.after(error); // beside its cause
    input.setAttribute("aria-invalid", "true");
    input.focus();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const input of [first, second]) input.removeAttribute("aria-invalid");
    if (!first.value) return fail("Write a passphrase, for example four words.", first);
    if (first.value !== second.value) return fail("The two passphrases differ. Write the same one twice.", second);
    box.close();
    run(first.value);
  });
  const box = dialog(title, form, (close) => [
    btn("Cancel", close, {kind: "quiet"}),
    h("button", {class: "btn primary", type: "submit", form: form.id}, label),
  ]);
  first.focus();
}
