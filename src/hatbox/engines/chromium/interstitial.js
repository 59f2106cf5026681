// Replaces Chromium's error page by the message of a rule, and buttons for the identities that the user can choose. Runs
// in an isolated world of the error page, which has an opaque origin: no page can read it or click in it. Only a real
// click counts, and not in the first 0.7 seconds: a page could open the window under the mouse pointer.
((title, message, url, choices) => {
  if (location.protocol !== "chrome-error:") return; // another page was loaded meanwhile
  const add = (parent, name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  // Other children of the root, such as the identity indicator, stay.
  document.head.replaceWith(document.createElement("head"));
  document.body.replaceWith(document.createElement("body"));
  add(document.head, "title", title);
  add(document.head, "style", `
    :root { color-scheme: light dark; }
    body { font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 15vh auto; padding: 0 1.5em; }
    h1 { font-size: 1.5em; font-weight: 600; }
    p { overflow-wrap: anywhere; }
    button { font: inherit; display: block; min-width: 16em; margin: 0.5em 0; padding: 0.5em 1em; text-align: start; }
  `);
  add(document.body, "h1", title);
  add(document.body, "p", url).style.fontWeight = "600";
  if (choices.length === 0) add(document.body, "p", message);
  const shownAt = performance.now();
  choices.forEach((name, index) => {
    add(document.body, "button", name).addEventListener("click", (event) => {
      if (event.isTrusted && performance.now() - shownAt > DELAY) hatboxChoice(String(index));
    });
  });
})