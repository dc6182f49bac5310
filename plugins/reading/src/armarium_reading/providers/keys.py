"""The keys of providers: in the system's keychain where there is one, else in a private file each; nowhere else.

A key is kept under a name of its own, made anew whenever a key is set, so what a lost step left behind is never used.
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
    """What is used of a backend of keyring."""

    def get_password(self, service: str, username: str) -> str | None:
        """The secret, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep the secret."""

    def delete_password(self, service: str, username: str) -> None:
        """Remove the secret."""


def system_keychain() -> Keychain | None:
    """The keychain of this machine's user; None where there is none that keeps anything safely."""
    try:
        import keyring

        backend = keyring.get_keyring()
        # Backends that keep nothing, or in clear text, say 0 or less.
        return cast("Keychain", backend) if float(backend.priority) >= 1 else None
    except Exception:
        return None


def keep(engine: Engine, key: str) -> str:
    """Keep *key*; the name by which `fetch` finds it."""
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
    """The key kept under *name*; KeyLost for *provider* where it is not there any more."""
    place, _, identity = name.partition(":")
    found: str | None = None
    with suppress(Exception):
        if place == FILE:
            found = read_private(_file(engine, identity))
        elif (keychain := system_keychain()) is not None:
            found = keychain.get_password(SERVICE, identity)
    if not found:
        raise errors.key_lost(provider)
    return found


def forget(engine: Engine, name: str) -> None:
    """Remove the key kept under *name*; harmless where it is gone."""
    place, _, identity = name.partition(":")
    with suppress(Exception):
        if place == FILE:
            _file(engine, identity).unlink(missing_ok=True)
        elif (keychain := system_keychain()) is not None:
            keychain.delete_password(SERVICE, identity)


def _file(engine: Engine, identity: str) -> Path:
    return engine.settings.state_dir / "provider-keys" / identity


def redact(text: str, key: str | None) -> str:
    """*text* without *key*, however it stands there: as it is, or as JSON or an address spells it."""
    if not key:
        return text
    for spelled in sorted({key, json.dumps(key)[1:-1], quote(key, safe="")}, key=len, reverse=True):
        text = text.replace(spelled, "[key]")
    return text
