// A progress bar.

import {h} from "./dom.js";

export class Meter {
  constructor(label) {
    this.bar = h("span", {});
    const range = {"aria-valuemin": "0", "aria-valuemax": "100"};
    this.el = h("div", {class: "meter", role: "progressbar", "aria-label": label, ...range, hidden: true}, this.bar);
  }

  name(label) {
    this.el.setAttribute("aria-label", label);
  }

  start() {
    this.show({done: 0, total: 1});
  }

  show({done, total}) {
    const share = total > 0 ? Math.min(1, done / total) : 0;
    this.el.hidden = false;
    this.el.setAttribute("aria-valuenow", String(Math.round(share * 100)));
    this.bar.style.transform = `scaleX(${share})`;
  }

  hide() {
    this.el.hidden = true;
  }
}
