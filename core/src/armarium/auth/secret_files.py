"""The two secrets the engine keeps readable for its owner: private files (0600) in the state folder, nowhere else."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from armarium.errors import Unavailable
from armarium.store.durable import flush

OWNER_TOKEN_FILE = "owner-token"
ENROLLMENT_FILE = "enrollment-secret"
SHORTEST_SECRET = 16
_STATE = frozenset(
    {OWNER_TOKEN_FILE, ENROLLMENT_FILE, "engine.sqlite", "engine.json", "commands.json", "runtimes"}
)
"""The files by which an engine's state folder is recognised."""
_LEFT_BY_SYSTEMS = frozenset({"lost+found", ".DS_Store"})


def new_secret() -> str:
    """Return 32 random bytes as URL-safe text."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret in hex: the only form that is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def make_private_folder(folder: Path) -> None:
    """Create *folder* (0700); restrict an existing one that others can open when it is the engine's own.

    Raises Unavailable for a folder that others use (a home, `/tmp`): restricting it would lock them out.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if stat.S_IMODE(folder.stat().st_mode) & 0o077:
            if not _is_the_engines(folder):
                raise Unavailable(
                    f"The folder {folder} is open to other users and contains other files than the engine's, so its "
                    "access is not restricted: name a folder for the engine's state and socket alone."
                )
            folder.chmod(0o700)
    except OSError as error:
        raise Unavailable(
            f"The engine's state folder {folder.name!r} cannot be made private ({error.strerror}): "
            "check who owns it, or set SERVICE_STATE_DIR to a folder of your own."
        ) from error


def _is_the_engines(folder: Path) -> bool:
    """Return whether *folder* is empty, contains only sockets, or contains an engine's state."""
    inside = [path for path in folder.iterdir() if path.name not in _LEFT_BY_SYSTEMS]
    return all(path.is_socket() for path in inside) or any(path.name in _STATE for path in inside)


def write_private(path: Path, text: str) -> None:
    """Write *text* to *path* (0600) under a temporary name, then rename it, so that no partial file is ever read."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            flush(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def read_private(path: Path) -> str | None:
    """Return the secret in *path*, None when there is none. A file that others may read is made private at once."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(0o600)
        text = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(
            f"The file {path.name!r} in the engine's state folder cannot be read: make it readable, or remove it "
            "and the engine makes a new one."
        ) from error
    return text or None


def settle_owner_token(state_dir: Path, supplied: str | None, rotate: bool) -> str:
    """Return the current owner token, written to its file: the supplied one, else a new one when requested or when
    there is none.
    """
    path = state_dir / OWNER_TOKEN_FILE
    if supplied is not None and len(supplied) < SHORTEST_SECRET:
        raise Unavailable(
            f"SERVICE_OWNER_TOKEN has {len(supplied)} characters and needs at least {SHORTEST_SECRET}: "
            "give a longer one, or leave it out and the engine makes one."
        )
    stored = read_private(path)
    token = supplied or (None if rotate else stored) or new_secret()
    if token != stored:
        write_private(path, token + "\n")
    return token


def enrollment_secret(state_dir: Path) -> str:
    """Return the owner's enrollment secret; created when there is none."""
    path = state_dir / ENROLLMENT_FILE
    secret = read_private(path)
    if secret is None:
        secret = new_secret()
        write_private(path, secret + "\n")
    return secret


def rotate_enrollment_secret(state_dir: Path) -> str:
    """Replace the enrollment secret; tokens made with the old one stay valid."""
    secret = new_secret()
    write_private(state_dir / ENROLLMENT_FILE, secret + "\n")
    return secret
