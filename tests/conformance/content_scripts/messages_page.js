// The content script of messages.js.

const {runtime} = browser;
runtime.onMessage.addListener((message, sender, sendResponse) => {
  switch (message.way) {
    case "value": return Promise.resolve(message.value ?? null);
    case "respond": return void sendResponse({got: message.value});
    case "respondLater": Promise.resolve().then(() => sendResponse({got: message.value})); return true;
    case "promise": return Promise.resolve({got: message.value});
    case "reject": return Promise.reject(new TypeError("rejected"));
    case "throwError": throw new RangeError("thrown");
    case "sender": return Promise.resolve(sender);
    case "arguments": return Promise.resolve([typeof message, typeof sender, typeof sendResponse]);
    case "location": return Promise.resolve(location.href);
    case "ask": return runtime.sendMessage(message.message);
    case "askOther": return runtime.sendMessage("nobody@example.org", message.message);
    case "connect": {
      const port = runtime.connect({name: "from page"});
      port.onMessage.addListener(each => port.postMessage({back: each}));
      return Promise.resolve();
    }
  }
  return undefined;
});
runtime.onConnect.addListener(port => {
  if (port.name === "close me") port.disconnect();
  port.onMessage.addListener(({ask}) => {
    if (ask === "last") port.postMessage({last: true, name: port.name, sender: {id: port.sender.id, url: port.sender.url, keys: Object.keys(port.sender).sort()}});
    else port.postMessage({echo: ask});
  });
});
runtime.sendMessage({hello: location.href});
