// The entry of the bridge in the world of content scripts (content_scripts/runner.js).

import {start as startPage} from "./page_main.js";
import {encodeResult, encodeThrown} from "./content_values.js";
import {parse, stringify} from "./primordials.js";

// As start() of page_main.js. Returns the function that the host calls, and those that encode the results of executeScript.
export function start(post, text, members) {
  const settings = parse(text);
  settings.data.page = location.href; // relative URLs are relative to the document
  return {__proto__: null, receive: startPage(post, stringify(settings), members), encodeResult, encodeThrown};
}
