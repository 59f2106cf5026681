// Starts the page: frame, keys, the screen of the address. early.js has requested the identities.

import {browser} from "./api.js";
import {setCommandStart} from "./commands.js";
import {counts} from "./counts.js";
import {ignoreStrayFiles} from "./file_drops.js";
import {buildFrame} from "./frame.js";
import {startKeyboard} from "./keyboard.js";
import {openLinksInOwnTabs} from "./own_tabs.js";
import {startRouter} from "./router.js";

const app = document.getElementById("app");
const root = buildFrame(app);
startKeyboard();
ignoreStrayFiles();
openLinksInOwnTabs();
counts.start();
startRouter(root);
showProfile();

async function showProfile() {
  const profile = await browser.hatbox.getProfile().catch(console.error); // decoration
  if (!profile) return;
  const {label: name, command} = profile;
  setCommandStart(command);
  const label = app.querySelector(".brand small");
  label.textContent = name.split(/[/\\]/).at(-1) || name; // of a path or a URL
  label.title = name;
}
