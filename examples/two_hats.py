"""Two hats, and how to wear them. Run it with:  hatbox run examples/two_hats.py

`browser` is in scope, as in a browser extension, and you can await at the top level. It leaves everything as it was.
"""

hats = browser.contextualIdentities


async def put_on(name: str, color: str, icon: str) -> dict[str, str]:
    """The identity of this name; made if there is none yet."""
    found = await hats.query({"name": name})
    return found[0] if found else await hats.create({"name": name, "color": color, "icon": icon})


made: list[str] = []


def remember(change: dict[str, dict[str, str]]) -> None:
    """Keep in mind what this script has made, to tidy up afterwards."""
    made.append(change["contextualIdentity"]["cookieStoreId"])


hats.onCreated.addListener(remember)

top_hat = await put_on("Top hat", color="purple", icon="gift")
straw_hat = await put_on("Straw hat", color="yellow", icon="vacation")
for hat in (top_hat, straw_hat):
    print(f"{hat['name']} is {hat['color']} and lives in {hat['cookieStoreId']}.")

updated = await hats.update(straw_hat["cookieStoreId"], {"color": "orange"})
print(f"A day in the sun: {updated['name']} is {updated['color']} now.")
await hats.update(straw_hat["cookieStoreId"], {"color": straw_hat["color"]})

await hats.hide(top_hat["cookieStoreId"])
print("Top hat is in its box: all that belongs to it is hidden.")
await hats.show(top_hat["cookieStoreId"])
print("Top hat is out again.")

print(f"You own {len(await hats.query({}))} hats.")
for cookie_store_id in made:
    removed = await hats.remove(cookie_store_id)
    print(f"{removed['name']} goes back to the shop.")
