"""Every icon of an identity has a drawing, which pages of Hatbox build element by element."""

from __future__ import annotations

from hatbox.identity.glyphs import Glyph, glyph, identity_glyph
from hatbox.identity.palette import ICONS
from hatbox.ui.static_files import StaticFiles

_SHAPES = {"path", "circle", "ellipse", "rect", "g"}
_ACTIVE = {"href", "style", "class", "id"}


def _walk(shapes: Glyph) -> list[tuple[str, dict[str, str]]]:
    return [found for tag, attributes, inner in shapes for found in ((tag, attributes), *_walk(inner))]


def test_every_icon_has_a_drawing_of_its_own_and_an_unknown_one_is_the_circle() -> None:
    drawings = [identity_glyph(each.icon) for each in ICONS]
    assert len({str(each) for each in drawings}) == len(ICONS)
    assert identity_glyph("of a later version") == identity_glyph("circle") == glyph("id-circle")


def test_a_drawing_has_shapes_and_nothing_that_loads_or_runs() -> None:
    for each in ICONS:
        for tag, attributes in _walk(identity_glyph(each.icon)):
            assert tag in _SHAPES
            assert not _ACTIVE & set(attributes)
            assert not any(name.startswith("on") for name in attributes)


def test_the_manager_page_has_the_same_icons() -> None:
    served = StaticFiles().get("index.html")
    assert served is not None
    assert b'id="id-briefcase"' in served.content
