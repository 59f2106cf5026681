// The console of an extension, live while its part of the card is open.

import {browser, connection} from "./api.js";
import {h} from "./dom.js";
import {clockTime} from "./times.js";

const api = browser.hatbox.extensions;
const RENEW = 12_000; // ms: a watch ends after 30 s
const MAX_LINES = 400;

export class ExtensionLog {
  constructor(id, name) {
    this.id = id;
    this.run = null;
    this.last = 0;
    this.hint = h("p", {class: "log-empty"}, "No lines yet.");
    this.el = h("div", {class: "log", role: "log", tabindex: "0", "aria-label": `Log of ${name}`}, this.hint);
    this.onLog = (lines) => lines.id === this.id && this.add(lines);
  }

  open() {
    if (this.timer) return;
    api.onLog.addListener(this.onLog);
    this.timer = setInterval(() => this.watch(), RENEW);
    this.stopResync = connection.onResync(() => this.watch());
    this.watch();
  }

  close() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
    this.stopResync();
    api.onLog.removeListener(this.onLog);
  }

  async watch() {
    try {
      this.add(await api.log(this.id));
    } catch (error) {
      this.hint.textContent = error.message;
    }
  }

  // New lines. Another run counts from one again.
  add({run, lines}) {
    if (!run || !lines.length) return;
    if (run !== this.run) [this.run, this.last] = [run, 0];
    const fresh = lines.filter((line) => line.number > this.last);
    if (!fresh.length) return;
    this.last = fresh.at(-1).number;
    this.hint.remove();
    const isAtEnd = this.el.scrollTop + this.el.clientHeight >= this.el.scrollHeight - 8;
    this.el.append(...fresh.map(lineOf));
    while (this.el.childElementCount > MAX_LINES) this.el.firstElementChild.remove();
    if (isAtEnd) this.el.scrollTop = this.el.scrollHeight;
  }
}

function lineOf({time, level, text}) {
  const cls = {warn: "w", error: "e"}[level];
  return h("div", {class: cls}, h("b", {}, clockTime(time * 1000)), " ", text);
}
