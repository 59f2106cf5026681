// pageAction: setTitle() returns nothing in Firefox, so errors are only reported.

host => ({
  members: {
    setTitle(details, call) {
      host.send(call, call.text, (ok, value) => { if (!ok) host.report("error", host.errorOf(call, value)); });
    },
  },
})
