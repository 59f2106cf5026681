// pageAction: what Firefox does without telling when it is done, or that it failed.

host => ({
  members: {
    setTitle(details, call) {
      host.send(call, call.text, (ok, value) => { if (!ok) host.report("error", host.errorOf(call, value)); });
    },
  },
})
