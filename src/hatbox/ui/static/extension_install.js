// Installs an extension from a file. Its permissions are shown and confirmed first.

import {browser} from "./api.js";
import {attempt, resultOf} from "./attempt.js";
import {btn, errorLine, h, plural} from "./dom.js";
import {dialog, toast} from "./layers.js";
import {sentence} from "./sentences.js";

const api = browser.hatbox.extensions;
const PART = 786_432; // bytes, a multiple of 3: each part is base64 without padding

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
    token = await api.beginInstall(file.name, Math.max(1, file.size));
    for (let start = 0; start < file.size; start += PART) {
      await api.addInstallPart(token, await base64(file.slice(start, start + PART)));
    }
    confirmInstallation(await api.prepareInstall(token));
    onProblem(null, null);
  } catch (error) {
    onProblem(error.message, null);
    if (token) api.cancelInstall(token).catch(() => {});
  }
}

function base64(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(new Error("The file could not be read. Choose it again."));
    reader.readAsDataURL(blob);
  });
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
