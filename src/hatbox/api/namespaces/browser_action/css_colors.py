"""Parses CSS colors to red, green, blue and alpha from 0 to 255. Pure text and arithmetic.

Supports hexadecimal and named colors, rgb(), hsl(), hwb(), lab(), lch(), oklab() and oklch(), in legacy and modern
syntax; not color(), color-mix() and calc().
"""

from __future__ import annotations

import colorsys
import math
import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

__all__ = ["Rgba", "contrast_color", "parse_color"]

Rgba: TypeAlias = tuple[int, int, int, int]
_Floats: TypeAlias = tuple[float, float, float]

_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
# Possessive quantifiers, against backtracking: scripts choose the text.
_FUNCTION: Final = re.compile(r"([a-z]++)\((.*)\)", re.DOTALL)
_NUMBER: Final = re.compile(r"([+-]?(?:\d++\.?\d*+|\.\d++)(?:e[+-]?\d++)?+)(%|deg|grad|rad|turn)?")
_DEGREES: Final = {None: 1.0, "deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}


def parse_color(text: str) -> Rgba | None:
    """Parse a color; None if it is invalid."""
    text = text.strip(" \t\n\r\f").lower()
    if text == "transparent":
        return 0, 0, 0, 0
    if text == "currentcolor":
        return 0, 0, 0, 255
    if text in _NAMED:
        return _hex(_NAMED[text])
    if match := _HEX.fullmatch(text):
        return _hex(match[1])
    match = _FUNCTION.fullmatch(text)
    return _function(match[1], match[2].strip()) if match else None


def contrast_color(color: Sequence[int]) -> Rgba:
    """Black or white, whichever has more contrast to a color (WCAG 2.0, G18)."""
    linear = [_linear(channel / 255) for channel in color[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    shade = 0 if (luminance + 0.05) ** 2 > 1.05 * 0.05 else 255
    return shade, shade, shade, 255


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4


def _hex(digits: str) -> Rgba:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, alpha = bytes.fromhex(digits.ljust(8, "f"))
    return red, green, blue, alpha


def _function(name: str, inside: str) -> Rgba | None:
    space = _SPACES.get(name)
    parts = _parts(inside, legacy=name in ("rgb", "rgba", "hsl", "hsla"))
    if space is None or parts is None:
        return None
    (read, convert), (*channels, alpha) = space, parts
    values = read(channels)
    opacity = 1.0 if alpha is None else _component(alpha, whole=1)
    if values is None or opacity is None:
        return None
    red, green, blue = (_byte(channel) for channel in convert(values))
    return red, green, blue, _byte(opacity)


def _parts(inside: str, *, legacy: bool) -> list[str | None] | None:
    """Three channels and alpha, or None if the syntax is invalid."""
    parts: list[str | None]
    if "," in inside:
        parts = [part.strip() for part in inside.split(",")]
        if not legacy or "none" in parts or "/" in inside:
            return None
    else:
        channels, slash, alpha = inside.partition("/")
        parts = [*channels.split(), *([alpha.strip()] if slash else [])]
        if len(parts) != (4 if slash else 3):
            return None
    if len(parts) == 3:
        parts.append(None)
    return parts if len(parts) == 4 else None


def _component(text: str | None, whole: float, unit: float = 1) -> float | None:
    """A number in `unit`, or a percentage of `whole`."""
    if text == "none":
        return 0.0
    match = _NUMBER.fullmatch(text or "")
    if match is None or match[2] not in (None, "%"):
        return None
    return float(match[1]) * (whole / 100 if match[2] else unit)


def _hue(text: str | None) -> float | None:
    if text == "none":
        return 0.0
    match = _NUMBER.fullmatch(text or "")
    return float(match[1]) * _DEGREES[match[2]] if match and match[2] in _DEGREES else None


def _reader(*readers: Callable[[str | None], float | None]) -> Callable[[Sequence[str | None]], _Floats | None]:
    def read(channels: Sequence[str | None]) -> _Floats | None:
        first, second, third = (reader(channel) for reader, channel in zip(readers, channels, strict=True))
        return None if first is None or second is None or third is None else (first, second, third)

    return read


def _within(whole: float, unit: float = 1) -> Callable[[str | None], float | None]:
    return lambda text: _component(text, whole, unit)


def _byte(channel: float) -> int:
    return math.floor(min(max(channel, 0.0), 1.0) * 255 + 0.5 + 1e-6)


def _rgb(values: _Floats) -> _Floats:
    red, green, blue = values
    return red / 255, green / 255, blue / 255


def _hsl(values: _Floats) -> _Floats:
    hue, saturation, lightness = values
    return colorsys.hls_to_rgb(hue / 360 % 1, min(max(lightness, 0), 1), min(max(saturation, 0), 1))


def _hwb(values: _Floats) -> _Floats:
    hue, white, black = values
    if white + black >= 1:
        gray = white / (white + black)
        return gray, gray, gray
    red, green, blue = (
        channel * (1 - white - black) + white for channel in colorsys.hls_to_rgb(hue / 360 % 1, 0.5, 1.0)
    )
    return red, green, blue


def _lab(values: _Floats) -> _Floats:
    lightness, a, b = max(values[0], 0), values[1], values[2]
    middle = (lightness + 16) / 116
    scaled = (middle + a / 500, middle, middle - b / 200)
    x, y, z = (
        white * (part**3 if part**3 > 216 / 24389 else (116 * part - 16) * 27 / 24389)
        for part, white in zip(scaled, (0.3457 / 0.3585, 1.0, (1 - 0.3457 - 0.3585) / 0.3585), strict=True)
    )
    # From the white point D50 to D65, then to linear sRGB.
    return _encoded(_times(_XYZ_TO_RGB, _times(_D50_TO_D65, (x, y, z))))


def _oklab(values: _Floats) -> _Floats:
    cones = _times(_OKLAB_TO_LMS, values)
    long, medium, short = (cone**3 for cone in cones)
    return _encoded(_times(_LMS_TO_RGB, (long, medium, short)))


def _polar(convert: Callable[[_Floats], _Floats]) -> Callable[[_Floats], _Floats]:
    def from_polar(values: _Floats) -> _Floats:
        lightness, chroma, hue = values[0], max(values[1], 0), math.radians(values[2])
        return convert((lightness, chroma * math.cos(hue), chroma * math.sin(hue)))

    return from_polar


def _encoded(linear: _Floats) -> _Floats:
    red, green, blue = (
        12.92 * channel if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055 for channel in linear
    )
    return red, green, blue


def _times(matrix: Sequence[_Floats], vector: _Floats) -> _Floats:
    first, second, third = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return first, second, third


_D50_TO_D65: Final = (
    (0.9554734527042182, -0.023098536874261423, 0.0632593086610217),
    (-0.028369706963208136, 1.0099954580058226, 0.021041398966943008),
    (0.012314001688319899, -0.020507696433477912, 1.3303659366080753),
)
_XYZ_TO_RGB: Final = (
    (3.2409699419045226, -1.537383177570094, -0.4986107602930034),
    (-0.9692436362808796, 1.8759675015077202, 0.04155505740717559),
    (0.05563007969699366, -0.20397695888897652, 1.0569715142428786),
)
_OKLAB_TO_LMS: Final = (
    (1.0, 0.3963377773761749, 0.2158037573099136),
    (1.0, -0.1055613458156586, -0.0638541728258133),
    (1.0, -0.0894841775298119, -1.2914855480194092),
)
_LMS_TO_RGB: Final = (
    (4.0767416360759583, -3.3077115392580629, 0.2309699031821043),
    (-1.2684379732850315, 2.6097573492876882, -0.341319376002657),
    (-0.0041960761386756, -0.7034186179359362, 1.7076146940746117),
)

_RGB: Final = (_reader(_within(255), _within(255), _within(255)), _rgb)
_HSL: Final = (_reader(_hue, _within(1, 0.01), _within(1, 0.01)), _hsl)
_SPACES: Final[dict[str, tuple[Callable[[Sequence[str | None]], _Floats | None], Callable[[_Floats], _Floats]]]] = {
    "rgb": _RGB,
    "rgba": _RGB,
    "hsl": _HSL,
    "hsla": _HSL,
    "hwb": (_reader(_hue, _within(1, 0.01), _within(1, 0.01)), _hwb),
    "lab": (_reader(_within(100), _within(125), _within(125)), _lab),
    "lch": (_reader(_within(100), _within(150), _hue), _polar(_lab)),
    "oklab": (_reader(_within(1), _within(0.4), _within(0.4)), _oklab),
    "oklch": (_reader(_within(1), _within(0.4), _hue), _polar(_oklab)),
}

_WRITTEN: Final = """
aliceblue:f0f8ff antiquewhite:faebd7 aqua:00ffff aquamarine:7fffd4 azure:f0ffff beige:f5f5dc bisque:ffe4c4
black:000000 blanchedalmond:ffebcd blue:0000ff blueviolet:8a2be2 brown:a52a2a burlywood:deb887 cadetblue:5f9ea0
chartreuse:7fff00 chocolate:d2691e coral:ff7f50 cornflowerblue:6495ed cornsilk:fff8dc crimson:dc143c cyan:00ffff
darkblue:00008b darkcyan:008b8b darkgoldenrod:b8860b darkgray:a9a9a9 darkgreen:006400 darkgrey:a9a9a9
darkkhaki:bdb76b darkmagenta:8b008b darkolivegreen:556b2f darkorange:ff8c00 darkorchid:9932cc darkred:8b0000
darksalmon:e9967a darkseagreen:8fbc8f darkslateblue:483d8b darkslategray:2f4f4f darkslategrey:2f4f4f
darkturquoise:00ced1 darkviolet:9400d3 deeppink:ff1493 deepskyblue:00bfff dimgray:696969 dimgrey:696969
dodgerblue:1e90ff firebrick:b22222 floralwhite:fffaf0 forestgreen:228b22 fuchsia:ff00ff gainsboro:dcdcdc
ghostwhite:f8f8ff gold:ffd700 goldenrod:daa520 gray:808080 green:008000 greenyellow:adff2f grey:808080
honeydew:f0fff0 hotpink:ff69b4 indianred:cd5c5c indigo:4b0082 ivory:fffff0 khaki:f0e68c lavender:e6e6fa
lavenderblush:fff0f5 lawngreen:7cfc00 lemonchiffon:fffacd lightblue:add8e6 lightcoral:f08080 lightcyan:e0ffff
lightgoldenrodyellow:fafad2 lightgray:d3d3d3 lightgreen:90ee90 lightgrey:d3d3d3 lightpink:ffb6c1 lightsalmon:ffa07a
lightseagreen:20b2aa lightskyblue:87cefa lightslategray:778899 lightslategrey:778899 lightsteelblue:b0c4de
lightyellow:ffffe0 lime:00ff00 limegreen:32cd32 linen:faf0e6 magenta:ff00ff maroon:800000 mediumaquamarine:66cdaa
mediumblue:0000cd mediumorchid:ba55d3 mediumpurple:9370db mediumseagreen:3cb371 mediumslateblue:7b68ee
mediumspringgreen:00fa9a mediumturquoise:48d1cc mediumvioletred:c71585 midnightblue:191970 mintcream:f5fffa
mistyrose:ffe4e1 moccasin:ffe4b5 navajowhite:ffdead navy:000080 oldlace:fdf5e6 olive:808000 olivedrab:6b8e23
orange:ffa500 orangered:ff4500 orchid:da70d6 palegoldenrod:eee8aa palegreen:98fb98 paleturquoise:afeeee
palevioletred:db7093 papayawhip:ffefd5 peachpuff:ffdab9 peru:cd853f pink:ffc0cb plum:dda0dd powderblue:b0e0e6
purple:800080 rebeccapurple:663399 red:ff0000 rosybrown:bc8f8f royalblue:4169e1 saddlebrown:8b4513 salmon:fa8072
sandybrown:f4a460 seagreen:2e8b57 seashell:fff5ee sienna:a0522d silver:c0c0c0 skyblue:87ceeb slateblue:6a5acd
slategray:708090 slategrey:708090 snow:fffafa springgreen:00ff7f steelblue:4682b4 tan:d2b48c teal:008080
thistle:d8bfd8 tomato:ff6347 turquoise:40e0d0 violet:ee82ee wheat:f5deb3 white:ffffff whitesmoke:f5f5f5
yellow:ffff00 yellowgreen:9acd32
"""
_NAMED: Final = dict(pair.split(":") for pair in _WRITTEN.split())
