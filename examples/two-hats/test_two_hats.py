"""The extension that the README runs first."""

from pathlib import Path

HERE = Path(__file__).parent


async def test_it_wears_two_hats_and_leaves_everything_as_it_was(extension, profile):
    before = await profile.identities.query()
    ext = await extension(HERE)
    assert [entry.text for entry in ext.log] == [
        "Top hat is purple and lives in firefox-container-6.",
        "Straw hat is yellow and lives in firefox-container-7.",
        "A day in the sun: Straw hat is orange now.",
        "You own 6 hats.",
        "Top hat goes back to the shop.",
        "Straw hat goes back to the shop.",
    ]
    assert await profile.identities.query() == before


async def test_hats_that_were_there_before_are_kept(extension, profile):
    await profile.identities.create("Top hat", color="red", icon="pet")
    await extension(HERE)
    assert (await profile.identities.query())[-1].name == "Top hat"
