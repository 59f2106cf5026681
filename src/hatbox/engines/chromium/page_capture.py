"""Captures pages of Chromium as images, with limits on time and size."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, Final

from playwright.async_api import Page

from hatbox.engines.chromium.context_registry import map_browser_errors
from hatbox.engines.chromium.sessions import Session
from hatbox.errors import EngineError
from hatbox.tabs.open_pages import CaptureRect, PageCapture

__all__ = ["capture_page"]

_TIMEOUT: Final = 20.0  # seconds
_MAX_SIDE: Final = 16_384  # pixels; Chromium cannot draw more
_MAX_PIXELS: Final = 40_000_000
_MAX_BYTES: Final = 5_500_000  # of an image: as a data: URL it must fit into a message to the extension


async def capture_page(page: Page, capture: PageCapture) -> bytes:
    """An image of a page. Raises EngineError if it takes too long or is too large."""
    try:
        async with asyncio.timeout(_TIMEOUT):
            with map_browser_errors():
                session = await Session.of_page(page)
                try:
                    return await _capture(session, capture)
                finally:
                    await session.detach()
    except TimeoutError as error:
        raise EngineError(f"the page was not captured within {_TIMEOUT:g} seconds") from error


async def _capture(session: Session, capture: PageCapture) -> bytes:
    metrics: dict[str, Any] = await session.send("Page.getLayoutMetrics")
    view, device_view = metrics["cssVisualViewport"], metrics["visualViewport"]
    ratio = max(device_view["clientWidth"] / max(view["clientWidth"], 1), 0.1)
    rect = capture.rect or CaptureRect(view["pageX"], view["pageY"], view["clientWidth"], view["clientHeight"])
    scale = ratio if capture.scale is None else capture.scale
    _check_size(rect, scale)
    answer: dict[str, Any] = await session.send(
        "Page.captureScreenshot",
        {
            "format": capture.format,
            **({"quality": capture.quality} if capture.format == "jpeg" else {}),
            "clip": {"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height, "scale": scale / ratio},
            "captureBeyondViewport": capture.rect is not None,
        },
    )
    image = base64.b64decode(answer["data"])
    if len(image) > _MAX_BYTES:
        raise EngineError(
            f"the image has {len(image)} bytes; at most {_MAX_BYTES} are allowed. Use jpeg or a smaller area"
        )
    return image


def _check_size(rect: CaptureRect, scale: float) -> None:
    width, height = rect.width * scale, rect.height * scale
    if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE and width * height <= _MAX_PIXELS):
        raise EngineError(
            f"cannot capture {width:g} x {height:g} pixels: at most {_MAX_SIDE} a side and {_MAX_PIXELS} in all"
        )
