"""Errors of calls as the manager page shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hatbox.errors import HatboxError
from hatbox.manager_api.page_sentences import error_sentence

__all__ = ["refused", "shown"]


@contextmanager
def refused(match: str = "") -> Iterator[pytest.ExceptionInfo[HatboxError]]:
    """Expect an error in the block that the page shows with this text."""
    with pytest.raises(HatboxError) as caught:
        yield caught
    assert re.search(match, shown(caught.value)), shown(caught.value)


def shown(error: HatboxError) -> str:
    """What the page shows."""
    return error_sentence(error)
