// Creates the start page in a closed shadow root of about:blank. Runs in the isolated world of the engine, after
// elements.js, sections.js and address.js; CSS, CHECK, CROSS, PIN and WARN are constants. Returns the functions that the
// engine calls: `draw` with the parts that have changed, `show` with the verdict on an address.

function createPage(post) {
  const own = document;
  const send = (kind, message = {}) => { if (own === document) post(JSON.stringify({kind, ...message})); };
  const host = element("x-start"), root = host.attachShadow({mode: "closed"}), sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS_TEXT);
  root.adoptedStyleSheets = [sheet];

  const top = identityBand(send), address = addressField(send);
  const tabs = tabSection(send), signedIn = signedInSection(), rules = ruleSection(), settings = settingSection();
  const page = element("div", {class: "page", lang: "en"}, top.band, element("main", {}, address.form, element("div", {class: "columns"},
    tabs.section, element("div", {class: "side"}, signedIn.section, rules.section, settings.section))));
  root.append(page);

  const drawers = {
    identity(identity) {
      top.drawIdentity(page, identity);
      drawTitle(identity);
      tabs.drawHeading(identity.tabsOf);
      address.drawLabel(identity.goTo);
    },
    buttons: top.drawButtons,
    tabs: tabs.draw,
    signedIn(data) {
      top.drawSignedIn(data.line);
      signedIn.draw(data);
    },
    rules: rules.draw,
    settings: settings.draw,
    verdict: address.test, // the rules have changed
  };

  const isEditing = event => event.composedPath().some(each => each instanceof HTMLInputElement) || root.activeElement === address.field;
  own.addEventListener("keydown", event => {
    if (event.key !== "/" || !event.isTrusted || event.ctrlKey || event.metaKey || event.altKey || isEditing(event)) return;
    event.preventDefault();
    address.field.focus();
  });
  own.addEventListener("visibilitychange", () => { send("visibility", {visible: own.visibilityState === "visible"}); });

  hideIndicator();
  ignoreTypedText(host);
  own.documentElement.style.colorScheme = "light dark"; // the canvas and its scrollbars
  own.body.append(host);
  return {
    shownIn: own,
    draw(changed) {
      for (const [part, data] of Object.entries(changed)) drawers[part](data);
    },
    show: address.show,
  };
}

// What the window, its tab and the list of windows show. The engine does not report them as those of a page.
function drawTitle(identity) {
  document.title = identity.title;
  const icon = document.querySelector("link[rel=icon]") ?? element("link", {rel: "icon"});
  icon.href = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(tileDrawing(identity)))}`;
  document.head.append(icon);
}

// The page is the indicator, except for the programs that are connected.
function hideIndicator() {
  Object.getOwnPropertyDescriptor(globalThis, "hatboxOnlyPrograms")?.value();
}

// The text of the address field is not saved, and so not lost when the tab is hidden.
function ignoreTypedText(host) {
  const typed = Object.getOwnPropertyDescriptor(globalThis, "hatboxTyped")?.value;
  if (typed) typed.ignored = host;
}
