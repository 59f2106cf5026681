"""Hatbox, the identity layer for programs: named, colored, iconified identities, each with its own cookie store."""

from hatbox.errors import (
    AmbiguousIdentity,
    ApiError,
    ArgumentError,
    CookieRefused,
    DuplicateIdentity,
    HatboxError,
    IdsExhausted,
    InvalidColor,
    InvalidIcon,
    InvalidIdentity,
    InvalidName,
    InvalidPosition,
    NoSuchIdentity,
    NotAProfile,
    PermissionDenied,
    ProfileBusy,
    ProfileClosed,
    ProfileCorrupt,
    ProfileError,
    ProfileFull,
    ProfileReadOnly,
    ProfileTooNew,
)
from hatbox.identities import ContextualIdentity, Identities
from hatbox.profile import Profile, default_path, open  # noqa: A004 - hatbox.open() reads as it should
from hatbox.sync import SyncIdentities, SyncProfile, open_sync

__all__ = [
    "AmbiguousIdentity",
    "ApiError",
    "ArgumentError",
    "ContextualIdentity",
    "CookieRefused",
    "DuplicateIdentity",
    "HatboxError",
    "Identities",
    "IdsExhausted",
    "InvalidColor",
    "InvalidIcon",
    "InvalidIdentity",
    "InvalidName",
    "InvalidPosition",
    "NoSuchIdentity",
    "NotAProfile",
    "PermissionDenied",
    "Profile",
    "ProfileBusy",
    "ProfileClosed",
    "ProfileCorrupt",
    "ProfileError",
    "ProfileFull",
    "ProfileReadOnly",
    "ProfileTooNew",
    "SyncIdentities",
    "SyncProfile",
    "default_path",
    "open",
    "open_sync",
]

__version__ = "0.1.0"
