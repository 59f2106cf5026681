// Installs an extension from a file. Its permissions are shown and confirmed first.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, errorLine, h, plural} from "./dom.js";
import {sendFile} from "./file_upload.js";
import {dialog, toast} from "./layers.js";
import {sentence} from "./sentences.js";

const api = browser.hatbox.extensions;
const UPLOAD = {
  begin: (name, size) => api.beginInstall(name, size),
  add: (token, part) => api.addInstallPart(token, part),
  cancel: (token) => api.cancelInstall(token),
};

// A file picker, then installFile.
export function chooseFile(onProblem) {
  const input = h("input", {type: "file", accept: ".xpi,.zip"});
  input.addEventListener("change", () => input.files[0] && installFile(input.files[0], onProblem));
  input.click();
}

// onProblem(message or null, status or null): shown beside the button.
export async function installFile(file, onProblem) {
  let token = null;
  try {
    onProblem(null, `Reading ${file.name}…`);
    token = await sendFile(file, UPLOAD);
    confirmInstallation(await api.prepareInstall(token));
    onProblem(null, null);
  } catch (error) {
    onProblem(error.message, null);
    if (token) api.cancelInstall(token).catch(() => {});
  }
}

function confirmInstallation(prepared) {
  const {token, name, version, replaces, isUpdate} = prepared;
  const isReplacement = Boolean(replaces) && !isUpdate;
  // Another extension can have the same id: it gets the data only if the user says so.
  const keepData = h("input", {type: "checkbox", checked: isReplacement && replaces.startsWith(`${name} `)});
  const problem = h("div", {});
  let isDone = false;
  let isSending = false;
  const install = async (close) => {
    isSending = true;
    try {
      await resultOf(api.install(token, {replace: isReplacement, keepData: isReplacement && keepData.checked}));
      isDone = true;
      close();
      toast(sentence`${name} ${version} installed.`);
    } finally {
      isSending = false;
    }
  };
  const onError = (error) => problem.replaceChildren(errorLine(error.message));
  const body = [
    prepared.description && h("p", {}, prepared.description),
    replaces && h("p", {}, isUpdate ? `Updates ${replaces}. Its data stays.` : replacementText(replaces)),
    isReplacement && h("label", {class: "check"}, keepData, " Keep its data"),
    prepared.added.length > 0 && addedBox(prepared.added),
    permissionList(prepared.permissions),
    problem,
  ];
  const verb = isReplacement ? "Replace" : isUpdate ? "Update" : "Install";
  const box = dialog(sentence`${verb} ${name} ${version}?`, body.filter(Boolean), (close) => {
    const run = () => attempt(button, () => install(close), {control: button, onError});
    const button = btn(verb, run, {kind: "primary"});
    return [btn("Cancel", close, {kind: "quiet"}), button];
  });
  box.addEventListener("close", () => isDone || isSending || api.cancelInstall(token).catch(() => {}));
}

function replacementText(replaces) {
  return sentence`Replaces ${replaces}, which has the same id. What you granted to that one is revoked.`;
}

// What an update may do more than before is easily overlooked among all that it may do.
function addedBox(added) {
  const items = added.map((each) => h("li", {}, each.sentence));
  return h("div", {class: "brought"}, h("strong", {}, "It wants more than before:"), h("ul", {}, items));
}

function permissionList(permissions) {
  const required = permissions.filter((each) => each.required || each.granted);
  const later = permissions.length - required.length;
  const items = required.map((each) => h("li", {}, each.sentence));
  return h(
    "div",
    {class: "wanted"},
    h("p", {}, items.length ? "It may:" : "It asks for no permissions."),
    items.length > 0 && h("ul", {}, items),
    later > 0 && h("p", {class: "small muted"}, `It may ask for ${plural(later, "further permission")} later.`),
  );
}
