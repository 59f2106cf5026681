// The least that a call can cost: a frame to the host, which sends it back as it is, and a promise that resolves.
// The first that it gets is `[batches, calls, text]`: what to send, and how often; its last says what a call took in each
// batch, in µs.

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const incoming = new Uint8Array(1 << 16);
let arrived = null;

function send(text) {
  const payload = encoder.encode(text);
  const frame = new Uint8Array(4 + payload.length);
  new DataView(frame.buffer).setUint32(0, payload.length, true);
  frame.set(payload, 4);
  Deno.stdout.writeSync(frame);
}

const call = text => new Promise(resolve => {
  arrived = resolve;
  send(text);
});

// All frames here are small, and none is sent before the last was answered: one read is one frame.
async function pump() {
  for (;;) {
    const size = await Deno.stdin.read(incoming);
    if (size === null) Deno.exit(0);
    arrived(JSON.parse(decoder.decode(incoming.subarray(4, size))));
  }
}

const first = new Promise(resolve => { arrived = resolve; });
pump();
const [batches, calls, text] = await first;
for (let i = 0; i < calls; i++) await call(text);
const figures = [];
for (let batch = 0; batch < batches; batch++) {
  const begun = performance.now();
  for (let i = 0; i < calls; i++) await call(text);
  figures.push((performance.now() - begun) / calls * 1000);
}
send(JSON.stringify({figures}));
