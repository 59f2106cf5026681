"""The texts of errors on the manager page: sentences without commands and options."""

from __future__ import annotations

import pytest

from hatbox.errors import (
    AlreadyInstalled,
    ApiError,
    ArchiveError,
    EngineError,
    ExtensionNotFound,
    HatboxError,
    IdentityNotFound,
    InvalidIdentity,
    NoContainerNames,
    NotInTrash,
    SiteRuleNotFound,
    TooLargeForTrash,
    TrashSwitchedOff,
)
from hatbox.manager_api.page_sentences import error_sentence


@pytest.mark.parametrize(
    "error",
    [
        AlreadyInstalled("made@site.example", "made 1", "made 2", "It has other files."),
        ExtensionNotFound("made@site.example"),
        IdentityNotFound("firefox-container-9"),
        InvalidIdentity("firefox-container-9"),
        NoContainerNames("line"),
        NotInTrash("firefox-container-9"),
        SiteRuleNotFound(7),
        TooLargeForTrash("Work", "firefox-container-2", 9, 5),
        TrashSwitchedOff("Work"),
    ],
)
def test_the_page_names_neither_options_nor_commands_nor_ids(error: HatboxError) -> None:
    text = error_sentence(error)
    assert not any(each in text for each in ("--", "hatbox ", "firefox-container"))
    assert text.endswith(".")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (EngineError("no display found."), "No display found."),
        (EngineError("site.example does not answer."), "site.example does not answer."),
        (EngineError("/usr/bin/x is Firefox."), "/usr/bin/x is Firefox."),
        (EngineError(""), ""),
        (ApiError("menus is required."), "menus is required."),  # a name
        (
            ArchiveError("/home/me/monday.hatbox", "it is damaged", "Use another."),
            "monday.hatbox: it is damaged. Use another.",
        ),
    ],
)
def test_an_error_is_a_sentence_and_names_stay_as_they_are(error: HatboxError, text: str) -> None:
    assert error_sentence(error) == text
