// tabs: synchronous members.

host => ({
  members: {
    connect: (tabId, info) => host.ports.connect(info?.name ?? "", {
      tabId, frameId: info?.frameId ?? null, documentId: info?.documentId ?? null,
    }),
  },
})
