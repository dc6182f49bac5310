"""The keys of providers: in the system's keychain if there is one, else in one private file each; nowhere else.

Whenever a key is set it is stored under a new name, so what a lost step left behind is never used.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import quote

from armarium.api import Engine, new_id, read_private, write_private
from armarium_reading import errors

SERVICE = "armarium"
KEYCHAIN, FILE = "keychain", "file"


class Keychain(Protocol):
    """The part of a keyring backend that is used here."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the secret, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store the secret."""

    def delete_password(self, service: str, username: str) -> None:
        """Remove the secret."""


def system_keychain() -> Keychain | None:
    """Return the keychain of this machine's user; None if there is none that stores secrets safely."""
    try:
        import keyring

        backend = keyring.get_keyring()
        # Backends that store nothing, or in clear text, have priority 0 or less.
        return cast("Keychain", backend) if float(backend.priority) >= 1 else None
    except Exception:
        return None


def keep(engine: Engine, key: str) -> str:
    """Store *key*; return the name by which `fetch` finds it."""
    identity = new_id()
    keychain = system_keychain()
    if keychain is not None:
        with suppress(Exception):
            keychain.set_password(SERVICE, identity, key)
            return f"{KEYCHAIN}:{identity}"
    path = _file(engine, identity)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, key)
    return f"{FILE}:{identity}"


def fetch(engine: Engine, name: str, provider: str) -> str:
    """Return the key stored under *name*; KeyLost for *provider* if it is no longer there."""
    place, _, identity = name.partition(":")
    key: str | None = None
    with suppress(Exception):
        if place == FILE:
            key = read_private(_file(engine, identity))
        elif (keychain := system_keychain()) is not None:
            key = keychain.get_password(SERVICE, identity)
    if not key:
        raise errors.key_lost(provider)
    return key


def forget(engine: Engine, name: str) -> None:
    """Remove the key stored under *name*; does nothing if it is already gone."""
    place, _, identity = name.partition(":")
    with suppress(Exception):
        if place == FILE:
            _file(engine, identity).unlink(missing_ok=True)
        elif (keychain := system_keychain()) is not None:
            keychain.delete_password(SERVICE, identity)


def _file(engine: Engine, identity: str) -> Path:
    return engine.settings.state_dir / "provider-keys" / identity


def redact(text: str, key: str | None) -> str:
    """Return *text* without *key*, whether it is spelled as it is, as JSON or as part of an address."""
    if not key:
        return text
    for spelled in sorted({key, json.dumps(key)[1:-1], quote(key, safe="")}, key=len, reverse=True):
        text = text.replace(spelled, "[key]")
    return text
