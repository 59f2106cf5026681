// Enters text in one call, which no script of another frame interrupts. Called with an element, or with null.
(element, [action, text]) => {
  const TYPES = ["email", "number", "password", "search", "tel", "text", "url"];
  const isInput = (each) => each.localName === "input" && TYPES.includes(each.type);
  const isText = (each) =>
    Boolean(each) && !each.disabled && !each.readOnly &&
    (isInput(each) || each.localName === "textarea" || each.isContentEditable);

  const focused = () => {
    let each = document.activeElement;
    while (each?.shadowRoot?.activeElement) each = each.shadowRoot.activeElement;
    return each;
  };

  // The element that gets the focus: of an editable one, the outermost.
  const focusable = (each) => {
    while (each.isContentEditable && each.parentElement?.isContentEditable) each = each.parentElement;
    return each;
  };

  const hasFocus = (each) => each.isConnected && each.getRootNode().activeElement === focusable(each);

  // The control of a label, as Playwright does.
  const field = (each) => (isText(each) ? each : each.closest("label")?.control ?? each);

  const select = (each) => {
    focusable(each).focus();
    if (each.isContentEditable) getSelection().selectAllChildren(each);
    else each.select();
  };

  const insert = (each, inserted) => {
    const inputType = inserted ? "insertText" : "deleteContentBackward";
    const event = { inputType, data: inserted || null, bubbles: true, cancelable: true, composed: true };
    // execCommand() has no such event. Editors that cancel it have inserted the text themselves.
    if (!each.dispatchEvent(new InputEvent("beforeinput", event))) return true;
    return hasFocus(each) && document.execCommand(inserted ? "insertText" : "delete", false, inserted);
  };

  const setValue = (each) => {
    if (each.isContentEditable) return false;
    const prototype = each.localName === "input" ? HTMLInputElement.prototype : HTMLTextAreaElement.prototype;
    Object.getOwnPropertyDescriptor(prototype, "value").set.call(each, text);
    each.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    each.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  };

  const fill = (each) => {
    if (!isText(each) || (each.type === "number" && isNaN(Number(text)))) return "value";
    if (each.type === "number") text = text.trim();
    select(each);
    const isEmpty = !text && (each.isContentEditable ? !each.textContent : !each.value);
    return isEmpty || (hasFocus(each) && insert(each, text)) || setValue(each) ? "done" : "focus";
  };

  const press = (each, type) => {
    const code = /^[a-z]$/i.test(text) ? `Key${text.toUpperCase()}` : /^[0-9]$/.test(text) ? `Digit${text}` : "";
    const keyCode = type === "keypress" ? text.charCodeAt(0) : code ? text.toUpperCase().charCodeAt(0) : 0;
    const event = { key: text, code: text === " " ? "Space" : code, keyCode, which: keyCode, view: window };
    return each.dispatchEvent(new KeyboardEvent(type, { ...event, bubbles: true, cancelable: true, composed: true }));
  };

  // Types one character. Returns the field that has got it: the page may move the focus to its next field.
  const type = (each) => {
    if (action === "continue" && !hasFocus(each) && isText(focused())) each = focused();
    if (!hasFocus(each)) {
      focusable(each).focus();
      if (isInput(each)) try { each.setSelectionRange(0, 0); } catch { /* numbers have no selection */ }
    }
    if (!hasFocus(each)) return null;
    if (press(each, "keydown") && press(each, "keypress")) {
      if (!hasFocus(each) && isText(focused())) each = focused();
      if (!insert(each, text)) return null;
    }
    press(each, "keyup");
    return each;
  };

  if (action === "focused") return focused();
  if (action === "press") {
    const each = focused();
    if (isText(each)) return type(each) ? "done" : "lost";
    return ["iframe", "frame", "fencedframe", "object", "embed"].includes(each?.localName) ? "frame" : "other";
  }
  const target = field(element);
  if (action === "select") return isText(target) && target.isContentEditable ? select(target) : null;
  return action === "fill" ? fill(target) : type(target);
}
