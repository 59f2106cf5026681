// fetch(): the host makes the requests. It checks the current host permissions, and neither sends nor stores cookies.
// Package files, data: and blob: URLs are never requested from a server.

import {FETCH} from "./protocol.js";
import {
  Bytes, NativeMap, NativePromise, NativeTypeError, append, defineValue, mapDelete, mapGet, mapHas, mapSet, promiseThen, setBytes, startsWith, stringify, uncurryThis,
} from "./primordials.js";

const {Request: NativeRequest, Response: NativeResponse, URL: NativeUrl, Headers: NativeHeaders, DOMException: NativeDomException} = globalThis;
const getter = (prototype, name) => uncurryThis(Object.getOwnPropertyDescriptor(prototype, name).get);
const bodyBytes = uncurryThis(NativeRequest.prototype.arrayBuffer);
const requestMethod = getter(NativeRequest.prototype, "method");
const requestHeaders = getter(NativeRequest.prototype, "headers");
const requestRedirect = getter(NativeRequest.prototype, "redirect");
const requestSignal = getter(NativeRequest.prototype, "signal");
const requestUrl = getter(NativeRequest.prototype, "url");
const aborted = getter(AbortSignal.prototype, "aborted");
const abortReason = getter(AbortSignal.prototype, "reason");
const headersForEach = uncurryThis(NativeHeaders.prototype.forEach);
const addEventListener = uncurryThis(EventTarget.prototype.addEventListener);
const toBase64 = uncurryThis(Uint8Array.prototype.toBase64);
const sizeOf = getter(Object.getPrototypeOf(Uint8Array.prototype), "byteLength");
const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
const NULL_BODY = {__proto__: null, 101: 1, 103: 1, 204: 1, 205: 1, 304: 1};

const bodies = new NativeMap(); // request id → received chunks of the response body

export function addBodyChunk(id, chunk) {
  const chunks = mapGet(bodies, id);
  if (chunks !== undefined) append(chunks, fromBase64(chunk));
}

function bodyOf(id, last) {
  const chunks = mapGet(bodies, id);
  if (chunks.length === 0) return fromBase64(last);
  append(chunks, fromBase64(last));
  let size = 0;
  for (let i = 0; i < chunks.length; i++) size += sizeOf(chunks[i]);
  const body = new Bytes(size);
  for (let i = 0, at = 0; i < chunks.length; at += sizeOf(chunks[i++])) setBytes(body, chunks[i], at);
  return body;
}

// `request(kind, text)` sends a request to the host and returns {id, promise}; `cancel(id)` cancels it.
export function createFetch({base, nativeFetch, request: sendRequest, cancel}) {
  return async function fetch(input, init) {
    const request = input instanceof NativeRequest && init === undefined ? input : new NativeRequest(absolute(input), init);
    const url = requestUrl(request);
    if (startsWith(url, "data:") || startsWith(url, "blob:")) return nativeFetch(request);
    const signal = requestSignal(request);
    if (aborted(signal)) throw abortReason(signal);
    const method = requestMethod(request);
    const body = method === "GET" || method === "HEAD" ? null : toBase64(new Uint8Array(await bodyBytes(request)));
    const headers = [];
    headersForEach(requestHeaders(request), (value, name) => { append(headers, [name, value]); });
    const {id, promise} = sendRequest(FETCH, stringify({__proto__: null, url, method, headers, redirect: requestRedirect(request), body}));
    mapSet(bodies, id, []);
    return new NativePromise((resolve, reject) => {
      addEventListener(signal, "abort", () => {
        mapDelete(bodies, id);
        cancel(id);
        reject(abortReason(signal) ?? new NativeDomException("The operation was aborted.", "AbortError"));
      });
      promiseThen(promise, fields => {
        if (!mapHas(bodies, id)) return;
        try {
          resolve(responseOf(fields, id));
        } catch (error) {
          reject(error);
        }
        mapDelete(bodies, id);
      }, () => {
        mapDelete(bodies, id);
        reject(new NativeTypeError("NetworkError when attempting to fetch resource."));
      });
    });
  };

  function absolute(input) {
    return input instanceof NativeRequest ? input : new NativeUrl(`${input}`, base).href;
  }
}

function responseOf({status, statusText, headers, url, redirected, body}, id) {
  const response = new NativeResponse(status in NULL_BODY ? null : bodyOf(id, body), {status, statusText, headers});
  defineValue(response, "url", url);
  defineValue(response, "redirected", redirected);
  defineValue(response, "type", "basic");
  return response;
}
