// Loads files of the extension in every way, from the world that it runs in. `loads(base)` resolves to what happened.
// The same text runs as a content script and as a script of the page.

var loads = async base => {
  const LIMIT_MS = 20000;
  const found = {};
  const limited = promise => Promise.race([promise, new Promise(resolve => setTimeout(resolve, LIMIT_MS, "nothing happened"))]);
  const element = (tag, keys) => limited(new Promise(resolve => {
    const made = document.createElement(tag);
    made.onload = () => { resolve("load"); };
    made.onerror = () => { resolve("error"); };
    Object.assign(made, keys);
    document.body.append(made);
  }));
  const settled = (promise, show = value => value) => limited(promise.then(value => show(value), error => `rejected: ${error.name}`));
  const text = path => settled(fetch(base + path).then(response => response.text()));
  for (const access of ["open", "closed"]) {
    found[`${access}: img`] = await element("img", {src: `${base}${access}/image.svg`});
    found[`${access}: link`] = await element("link", {rel: "stylesheet", href: `${base}${access}/style.css`});
    found[`${access}: script`] = await element("script", {src: `${base}${access}/script.js`});
    found[`${access}: script has run`] = document.documentElement.dataset[`${access}Script`] ?? null;
    found[`${access}: module`] = await element("script", {type: "module", src: `${base}${access}/module.js`});
    found[`${access}: module has run`] = document.documentElement.dataset[`${access}Module`] ?? null;
    found[`${access}: fetch`] = await text(`${access}/text.txt`);
    found[`${access}: import()`] = await settled(import(`${base}${access}/exports.js`), module => module.answer);
    found[`${access}: XMLHttpRequest`] = await limited(new Promise(resolve => {
      const request = new XMLHttpRequest();
      request.onload = () => { resolve(request.responseText); };
      request.onerror = () => { resolve("error"); };
      request.open("GET", `${base}${access}/text.txt`);
      request.send();
    }));
  }
  found["color of the sheet"] = getComputedStyle(document.body).color;
  found["fetch: no such file"] = await text("open/none.txt");
  found["fetch: manifest.json"] = (await text("manifest.json")).slice(0, 21);
  found["fetch: with dots"] = await text("open/../closed/text.txt");
  found["fetch: with encoded dots"] = await text("open/%2e%2e/closed/text.txt");
  found["fetch: with an encoded slash"] = await text("open%2f..%2fclosed/text.txt");
  found["fetch: with a query"] = await text("open/text.txt?x=closed/text.txt#y");
  found["fetch: another extension"] = await settled(fetch("moz-extension://11111111-2222-3333-4444-555555555555/open/text.txt"));
  return found;
};
