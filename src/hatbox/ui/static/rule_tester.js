// "Where does this address open?": a field, and the rule that decides.

import {browser} from "./api.js";
import {errorLine, h} from "./dom.js";
import {noVerdict, verdictBox} from "./verdict.js";

const PAUSE = 120; // ms after the last key
let remembered = ""; // the address, when the screen is shown again

// An element with update(), for changed rules or names.
export function ruleTester() {
  let asked = 0; // only the answer to the newest question is shown
  let timer = null;
  const below = h("div", {class: "below", "aria-live": "polite", id: "tester-below"});
  const input = h("input", {
    class: "field",
    id: "tester",
    value: remembered,
    placeholder: "forge.example/team/project",
    "aria-describedby": "tester-below",
    inputmode: "url",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: 65536,
    oninput: () => {
      remembered = input.value;
      clearTimeout(timer);
      timer = setTimeout(update, PAUSE);
    },
  });
  const heading = h("h2", {class: "cap"}, h("label", {for: "tester"}, "Where does this address open?"));

  async function update() {
    const own = ++asked;
    const address = input.value.trim();
    if (!address) return show(noVerdict("Type an address to see which identity it opens in."), null);
    try {
      const verdict = await browser.hatbox.rules.test(address);
      if (own === asked) show(verdictBox(verdict), JSON.stringify(verdict));
    } catch (error) {
      if (own === asked) show(errorLine(error.message), error.message);
    }
  }

  // The same answer is not announced again.
  function show(node, key) {
    if (below.dataset.key === key && below.textContent === node.textContent) {
      below.firstChild.replaceWith(node);
      return;
    }
    below.dataset.key = key;
    below.replaceChildren(node);
  }

  update();
  return {el: h("section", {}, heading, input, below), update, destroy: () => clearTimeout(timer)};
}
