// Loads a file of the extension in each way that pages have, by its moz-extension:// URL. Returns what was loaded.
async moz => {
  const loaded = element => new Promise(resolve => {
    element.onload = () => resolve("loaded");
    element.onerror = () => resolve("failed");
    document.body.append(element);
  });
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const frameText = async frame => (await loaded(frame), frame.contentDocument?.body.textContent ?? "closed");
  const results = {};
  results.image = await loaded(make("img", {src: `${moz}/pixel.svg`}));
  results.icon = await loaded(make("img", {src: "resource://usercontext-content/briefcase.svg"}));
  results.script = (await loaded(make("script", {src: `${moz}/classic.js`})), window.classic);
  results.module = (await loaded(make("script", {type: "module", src: `${moz}/module.js`})), window.module);
  const attribute = make("script", {type: "module"});
  attribute.setAttribute("src", `${moz}/module2.js`);
  results.attribute = (await loaded(attribute), window.module2);
  results.style = (await loaded(make("link", {rel: "stylesheet", href: `${moz}/style.css`})), getComputedStyle(document.body).color);
  results.message = getComputedStyle(document.body, "::before").content;
  results.frame = await frameText(make("iframe", {src: `${moz}/frame.html`}));
  document.body.insertAdjacentHTML("beforeend", `<div><iframe id="parsed" src="${moz}/frame.html"></iframe></div>`);
  const parsed = document.getElementById("parsed");
  results.parsed = await new Promise(resolve => { parsed.onload = () => resolve(parsed.contentDocument.body.textContent); });
  results.fetch = await (await fetch(`${moz}/data.json?query#fragment`)).json();
  results.request = await (await fetch(new Request(new URL(`${moz}/data.json`)))).json();
  results.missing = await fetch(`${moz}/missing.json`).then(() => "found", error => error.name);
  results.xhr = await new Promise(resolve => {
    const request = new XMLHttpRequest();
    request.open("GET", `${moz}/data.json`);
    request.onload = () => resolve(request.responseText);
    request.onerror = () => resolve("failed");
    request.send();
  });
  results.worker = await new Promise(resolve => {
    const worker = new Worker(`${moz}/worker.js`);
    worker.onmessage = event => resolve(event.data);
    worker.onerror = () => resolve("failed");
  });
  results.imported = await window.importByUrl();
  return results;
}
