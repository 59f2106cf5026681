"""The same two hats for programs of your own, with types. Run it with:  python examples/two_hats_python.py"""

import asyncio

import hatbox
from hatbox import ContextualIdentity, Identities


async def put_on(hats: Identities, name: str, color: str, icon: str) -> ContextualIdentity:
    """The identity of this name; made if there is none yet."""
    found = await hats.query(name)
    return found[0] if found else await hats.create(name, color=color, icon=icon)


async def main() -> None:
    """Wear two hats, and leave everything as it was."""
    async with hatbox.open() as profile:
        hats = profile.identities
        made: list[ContextualIdentity] = []
        hats.on_created.add_listener(made.append)

        top_hat = await put_on(hats, "Top hat", color="purple", icon="gift")
        straw_hat = await put_on(hats, "Straw hat", color="yellow", icon="vacation")
        for hat in (top_hat, straw_hat):
            print(f"{hat.name} is {hat.color} and lives in {hat.cookie_store_id}.")

        updated = await hats.update(straw_hat, color="orange")
        print(f"A day in the sun: {updated.name} is {updated.color} now.")
        await hats.update(straw_hat, color=straw_hat.color)

        await hats.hide(top_hat)
        print("Top hat is in its box: all that belongs to it is hidden.")
        await hats.show(top_hat)
        print("Top hat is out again.")

        print(f"You own {len(await hats.query())} hats.")
        for hat in made:
            removed = await hats.remove(hat)
            print(f"{removed.name} goes back to the shop.")


if __name__ == "__main__":
    asyncio.run(main())
