// Two hats, and how to wear them. Run it with:  hatbox run examples/two-hats/
// The same as examples/two_hats.py, as an extension. It leaves everything as it was.

const hats = browser.contextualIdentities;

/** The container of this name; made if there is none yet. */
async function putOn(name, color, icon) {
  const [found] = await hats.query({ name });
  return found ?? hats.create({ name, color, icon });
}

// Keep in mind what was made, to tidy up afterwards.
const made = [];
hats.onCreated.addListener(({ contextualIdentity }) => made.push(contextualIdentity.cookieStoreId));

const topHat = await putOn("Top hat", "purple", "gift");
const strawHat = await putOn("Straw hat", "yellow", "vacation");
for (const hat of [topHat, strawHat]) {
  console.log(`${hat.name} is ${hat.color} and lives in ${hat.cookieStoreId}.`);
}

const updated = await hats.update(strawHat.cookieStoreId, { color: "orange" });
console.log(`A day in the sun: ${updated.name} is ${updated.color} now.`);
await hats.update(strawHat.cookieStoreId, { color: strawHat.color });

console.log(`You own ${(await hats.query({})).length} hats.`);
for (const cookieStoreId of made) {
  const removed = await hats.remove(cookieStoreId);
  console.log(`${removed.name} goes back to the shop.`);
}
