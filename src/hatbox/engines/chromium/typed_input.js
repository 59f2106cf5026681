// Runs after page_observer.js, in the isolated world of every document. Records the fields that the user has typed into:
// hide saves them (hatboxTyped), show fills them in (hatboxFill). It sets no timers, because the page could observe
// their ids. Named elements can shadow members of document and of forms, so these are called on their prototypes.
((document) => {
  const MAX_FIELDS = 200, MAX_TEXT = 200_000, MAX_NODES = 20_000, MAX_ALIKE = 10_000, MAX_DEPTH = 8;
  const SAVE_TIMEOUT = 1000, FILL_TIMEOUT = 15_000, MAX_ATTEMPTS = 500; // timeouts in milliseconds
  const FORBIDDEN = /^(off|one-time-code|current-password|new-password|cc-.*)$/;
  const SECRET_NAME = /passw|passphrase|pwd|secret|otp|cvc|cvv|card.?num|(^|[^a-z])(pass|pw)([^a-z]|$)/i;
  const NOT_TYPED = new Set(["hidden", "submit", "reset", "button", "image"]);

  const uncurried = (method) => Function.prototype.call.bind(method);
  const attribute = uncurried(Element.prototype.getAttribute);
  const rootOf = uncurried(Node.prototype.getRootNode);
  const innerText = uncurried(Object.getOwnPropertyDescriptor(HTMLElement.prototype, "innerText").get);
  const isConnected = uncurried(Object.getOwnPropertyDescriptor(Node.prototype, "isConnected").get);
  const inDocument = uncurried(Document.prototype.querySelectorAll);
  const inFragment = uncurried(DocumentFragment.prototype.querySelectorAll);
  const idInDocument = uncurried(Document.prototype.getElementById);
  const idInFragment = uncurried(DocumentFragment.prototype.getElementById);
  const all = (root, selector) => (root === document ? inDocument : inFragment)(root, selector);
  const byId = (root, id) => (root === document ? idInDocument : idInFragment)(root, id);
  const send = (message, ...args) => hatbox(JSON.stringify([0, message, ...args]));

  const touched = new Set(), passwords = new WeakSet();
  let isSent = false, isFull = false, unfilled = [];

  const kindOf = (element) => {
    if (element instanceof HTMLInputElement) return element.type;
    if (element instanceof HTMLTextAreaElement) return "textarea";
    if (element instanceof HTMLSelectElement) return "select";
    return element instanceof HTMLElement && element.isContentEditable ? "editable" : "unknown";
  };

  const addField = (element) => {
    if (!(element instanceof Element)) return;
    if (kindOf(element) === "password") passwords.add(element);
    if (touched.size >= MAX_FIELDS && !touched.has(element)) {
      for (const each of touched) if (!isConnected(each)) touched.delete(each);
      if (touched.size >= MAX_FIELDS) isFull = true;
    }
    if (touched.size < MAX_FIELDS) touched.add(element);
    if (!isSent) send("typed");
    isSent = true;
  };

  addEventListener("input", (event) => {
    const at = event.composedPath()[0];
    if (event.isTrusted && at !== self.hatboxTyped.ignored) addField(at);
  }, { capture: true, passive: true });

  // A button that shows a password changes the type of its field, maybe before the user types. Shadow roots are observed
  // after the first user event in them.
  const typeObserver = new MutationObserver((changes) => {
    for (const { target, oldValue } of changes) if (oldValue?.toLowerCase() === "password") passwords.add(target);
  });
  const observe = (root) => typeObserver.observe(root, { subtree: true, attributeFilter: ["type"], attributeOldValue: true });
  const observeRoot = (event) => {
    const at = event.composedPath()[0], root = at instanceof Node ? rootOf(at) : null;
    if (event.isTrusted && root instanceof ShadowRoot) observe(root);
  };
  observe(document);
  for (const name of ["pointerdown", "keydown"]) addEventListener(name, observeRoot, { capture: true, passive: true });

  // ------------------------------------------------------------------------------------------------------------ saving

  // A password may be displayed as text, and a site may forbid storing a field (autocomplete).
  const isSecret = (element) => {
    if (passwords.has(element) || kindOf(element) === "password") return "password";
    if (SECRET_NAME.test(attribute(element, "name") ?? "") || SECRET_NAME.test(attribute(element, "id") ?? "")) return "password";
    if ((getComputedStyle(element).webkitTextSecurity || "none") !== "none") return "password";
    const form = element.form instanceof HTMLFormElement ? element.form : null;
    const autocomplete = attribute(element, "autocomplete") ?? (form && attribute(form, "autocomplete")) ?? "";
    return autocomplete.toLowerCase().split(/\s+/).some((word) => FORBIDDEN.test(word)) ? "forbidden" : "";
  };

  const isShort = (element) => {
    // Whether the text of an editable element is short enough to be read fast.
    const walker = Document.prototype.createTreeWalker.call(document, element, NodeFilter.SHOW_ALL);
    for (let nodes = 0, size = 0; walker.nextNode();) {
      size += walker.currentNode instanceof Text ? walker.currentNode.length : 0;
      if (++nodes > MAX_NODES || size > MAX_TEXT) return false;
    }
    return true;
  };

  const valueOf = (element, kind) => {
    if (kind === "checkbox" || kind === "radio") return element.checked;
    if (kind === "select") return [...element.selectedOptions].slice(0, 100).map((option) => option.value);
    return kind === "editable" ? (isShort(element) ? innerText(element) : null) : element.value;
  };

  const isEmpty = (element, value) => value === "" && !element.defaultValue;

  const stepOf = (root, element) => {
    const tag = element.localName, id = attribute(element, "id") ?? "", name = attribute(element, "name") ?? "";
    if (id && byId(root, id) === element) return { tag, id, name: "", place: 0 };
    const alike = all(root, selectorOf({ tag, name }));
    for (let index = 0; index < Math.min(alike.length, MAX_ALIKE); index++) {
      if (alike[index] === element) return { tag, id: "", name, place: index };
    }
    return null;
  };
  const selectorOf = ({ tag, name }) => CSS.escape(tag) + (name ? `[name="${CSS.escape(name)}"]` : "");

  const stepsTo = (element) => {
    // From the document to the field, through the open shadow roots in between.
    const steps = [];
    for (let at = element; steps.length < MAX_DEPTH;) {
      const root = rootOf(at), step = root === document || root instanceof ShadowRoot ? stepOf(root, at) : null;
      if (step === null) return null;
      steps.unshift(step);
      if (root === document) return steps;
      at = root.host;
    }
    return null;
  };

  const framePath = () => {
    // The index of this frame in its parent, of the parent in its own parent, and so on.
    const indexes = [];
    for (let at = window; at !== at.parent && indexes.length < 10; at = at.parent) {
      let index = 0;
      while (index < 100 && at.parent[index] !== at) index++;
      indexes.unshift(index);
    }
    return indexes;
  };
  const documentUrl = () => (location.origin === "null" ? location.protocol + location.pathname : location.origin + location.pathname + location.search);

  // Its property `ignored` is an element whose text is not saved: the start page.
  self.hatboxTyped = () => {
    const deadline = performance.now() + SAVE_TIMEOUT, fields = [], lost = {};
    const lose = (reason) => { lost[reason] = (lost[reason] ?? 0) + 1; };
    let left = MAX_TEXT;
    if (isFull) lose("too much");
    for (const element of touched) {
      if (!isConnected(element)) continue;
      const kind = kindOf(element), secret = kind === "unknown" ? "" : isSecret(element);
      if (NOT_TYPED.has(kind)) continue;
      if (kind === "file") {
        if (element.files.length) lose("file");
        continue;
      }
      if (kind === "unknown") { lose("unreachable"); continue; }
      const value = valueOf(element, kind);
      if (isEmpty(element, value)) continue;
      if (secret) { lose(secret); continue; }
      const size = value === null ? Infinity : typeof value === "object" ? value.reduce((sum, each) => sum + each.length, 0) : String(value).length;
      if (size > left || performance.now() > deadline) { lose("too much"); continue; }
      const steps = stepsTo(element);
      if (steps === null || JSON.stringify(steps).length > 5000) { lose("unreachable"); continue; }
      left -= size;
      fields.push({ steps, kind, value });
    }
    fields.push(...unfilled);
    return JSON.stringify({ url: documentUrl().slice(0, 8000), place: framePath(), fields, lost });
  };

  // ----------------------------------------------------------------------------------------------------------- filling

  const find = (steps) => {
    let root = document, element = null;
    for (const step of steps) {
      if (root === null) return null;
      element = step.id ? byId(root, step.id) : all(root, selectorOf(step))[step.place];
      if (!element || element.localName !== step.tag) return null;
      root = element.shadowRoot;
    }
    return element;
  };

  const announce = (element, ...names) => {
    for (const name of names) element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  };

  const fillIn = (element, kind, value) => {
    if (kind === "checkbox" || kind === "radio") {
      // Frameworks listen to clicks. The event is not trusted, so it opens no window.
      if (element.checked !== value && !(kind === "radio" && !value)) element.click();
    } else if (kind === "select") {
      for (const option of element.options) option.selected = value.includes(option.value);
      announce(element, "input", "change");
    } else if (kind === "editable") {
      if (innerText(element) === value) return;
      element.focus();
      getSelection().selectAllChildren(element);
      Document.prototype.execCommand.call(document, "insertText", false, value);
    } else if (element.value !== value) {
      element.value = value;
      announce(element, "input", "change");
    }
  };

  const fill = ({ steps, kind, value }) => {
    const element = find(steps);
    if (element === null || kindOf(element) !== kind || isSecret(element)) return false;
    if (touched.has(element)) return true; // the user has typed into it since
    fillIn(element, kind, value);
    addField(element);
    return true;
  };

  self.hatboxFill = (saved) => {
    const url = documentUrl(), path = String(framePath());
    const form = saved.find((each) => each.url === url && String(each.place) === path);
    if (form === undefined) return false;
    let attempts = 0;
    unfilled = form.fields;
    const deadline = performance.now() + FILL_TIMEOUT;
    const attempt = () => {
      unfilled = unfilled.filter((field) => !fill(field));
      if (unfilled.length === 0) send("filled", form.url, form.place);
      return unfilled.length === 0;
    };
    const start = () => {
      if (attempt()) return;
      // A page may create its fields later.
      const observer = new MutationObserver(() => {
        if (performance.now() > deadline || ++attempts > MAX_ATTEMPTS) unfilled = [];
        if (unfilled.length === 0 || attempt()) observer.disconnect();
      });
      observer.observe(document, { childList: true, subtree: true });
    };
    if (document.readyState === "complete") start();
    else addEventListener("load", start, { once: true });
    return true;
  };
})(document);
