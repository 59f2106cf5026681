// One cookie in the table of a site. Its value is eight dots, whatever its length, until the eye is pressed.

import {browser} from "../api.js";
import {errorLine, h, icon, iconButton} from "../dom.js";
import {exactTime, timeAgo, timeUntil} from "../times.js";
import {domainText, flagsText} from "./cookie_texts.js";

const DOTS = "••••••••";

export class CookieRow {
  // remove: called with this row.
  constructor(cookieStoreId, cookie, remove) {
    this.cookieStoreId = cookieStoreId;
    this.code = h("code", {class: "masked"}, DOTS);
    this.problem = h("div");
    this.cells = Array.from({length: 5}, () => h("td"));
    const label = cookie.name || "the cookie without a name";
    this.eye = iconButton("ui-eye", `Show the value of ${label}`, () => this.toggle(), {"aria-pressed": "false"});
    this.deleter = iconButton("ui-x", `Delete ${label}`, () => remove(this));
    const [name, expires, path, flags, used] = this.cells;
    path.className = "path";
    flags.className = "faint small";
    const value = h("td", {}, h("span", {class: "value"}, this.code, this.eye), this.problem);
    this.el = h("tr", {}, name, value, expires, path, flags, used, h("td", {}, this.deleter));
    this.update(cookie);
  }

  get isShown() {
    return this.eye.getAttribute("aria-pressed") === "true";
  }

  update(cookie) {
    this.cookie = cookie;
    const [name, expires, path, flags, used] = this.cells;
    const where = domainText(cookie);
    name.replaceChildren(nameOf(cookie), where && h("small", {}, breakable(where)));
    expires.className = "muted nowrap";
    expires.title = cookie.expires === null ? "Deleted when the session ends" : exactTime(cookie.expires);
    path.replaceChildren(h("code", {class: "faint"}, cookie.path));
    flags.textContent = flagsText(cookie);
    used.className = "faint small nowrap";
    used.title = cookie.lastUsed === null ? "" : exactTime(cookie.lastUsed);
    this.showTimes();
    if (this.isShown) this.show();
  }

  // What becomes wrong by itself.
  showTimes() {
    const {expires, lastUsed} = this.cookie;
    const ago = lastUsed === null ? "" : timeAgo(lastUsed);
    const below = ago && h("small", {class: "only-phone-text"}, ago === "now" ? "in use now" : `used ${ago}`);
    this.cells[1].replaceChildren(expires === null ? "Session" : timeUntil(expires), ...(below ? [below] : []));
    this.cells[4].textContent = ago;
  }

  toggle() {
    if (this.isShown) this.hide();
    else this.show();
  }

  async show() {
    this.eye.setAttribute("aria-pressed", "true");
    try {
      const value = await browser.hatbox.sites.value(this.cookieStoreId, this.cookie.id);
      if (!this.isShown) return;
      this.code.textContent = value;
      this.code.classList.remove("masked");
      this.eye.replaceChildren(icon("ui-eye-off"));
      this.problem.replaceChildren();
    } catch (error) {
      this.hide();
      this.problem.replaceChildren(errorLine(error.message));
    }
  }

  hide() {
    this.eye.setAttribute("aria-pressed", "false");
    this.eye.replaceChildren(icon("ui-eye"));
    this.code.textContent = DOTS;
    this.code.classList.add("masked");
  }
}

// A host may be broken after its dots.
function breakable(text) {
  return text.split(/(?<=\.)/).flatMap((part) => [part, h("wbr")]);
}

function nameOf(cookie) {
  return cookie.name ? h("code", {}, cookie.name) : h("span", {class: "faint"}, "no name");
}
