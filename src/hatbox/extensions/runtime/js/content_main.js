// The entry of the bridge in the world of content scripts (content_scripts/runner.js).

import {mapResources} from "./content_resources.js";
import {encodeResult, encodeThrown} from "./content_values.js";
import {parsed, start as startDocument} from "./document_main.js";
import {defineValue} from "./primordials.js";

const {Request: NativeRequest, URL: NativeUrl} = globalThis;
const nativeFetch = globalThis.fetch.bind(globalThis);

// As start() of document_main.js, with the text of the settings. Returns the function that the host calls, and those that
// encode the results of executeScript.
export function start(post, text, members) {
  const settings = parsed(text);
  settings.data.page = location.href; // relative URLs are relative to the document
  let call;
  const frames = host => {
    call = host.call;
    return {__proto__: null};
  };
  const receive = startDocument(post, settings, {__proto__: null, ...members, frames});
  const {resources, hasFiles, data: {base}} = settings;
  if (resources !== null) mapResources({shown: base.slice(0, -1), loaded: resources, hasFiles, grantFrame: url => call("frames.grant", [url])});
  shareFetch(settings.hosts, settings.data.base, globalThis.fetch);
  return {__proto__: null, receive, encodeResult, encodeThrown};
}

// The host makes requests to other origins that the extension has the permission for: the page could not. They have no
// cookies, so requests that ask for them are those of the page, as are requests to its own origin. The host also reads
// files of the extension.
function shareFetch(hosts, base, hostFetch) {
  const fetch = async (input, init) => {
    const request = new NativeRequest(input, init);
    if (request.url.startsWith(base)) return hostFetch(request);
    const {protocol, hostname, origin} = new NativeUrl(request.url);
    const isOfPage = origin === self.origin || request.credentials === "include";
    const isPermitted = hosts.some(({schemes, domain, subdomains}) =>
      schemes.includes(protocol.slice(0, -1)) && (domain === null || domain === hostname || (subdomains && hostname.endsWith(`.${domain}`))));
    return isOfPage || !isPermitted ? nativeFetch(request) : hostFetch(request);
  };
  defineValue(globalThis, "fetch", fetch, {__proto__: null, writable: true, enumerable: true, configurable: true});
}
