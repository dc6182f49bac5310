"""Folders the owner grants to the engine besides the usual roots (POST /api/sandbox/security-scoped-access).

On a machine without app sandboxing there is no bookmark to resolve: the grant is stored as an allowed root.
"""

from __future__ import annotations

import base64
import binascii
import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from armarium.actions import ActionContext, Route, action
from armarium.auth.models import sandbox_grants
from armarium.auth.schemas import SandboxGranted, SandboxGrantParams
from armarium.errors import BadRequest
from armarium.guard.places import is_too_long
from armarium.ids import new_id

if TYPE_CHECKING:
    from armarium.actions.undo import UndoContext

SYSTEM_FOLDERS = tuple(
    Path(folder)
    for folder in (
        *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr"),
        *("/run/lock", "/run/systemd", "/run/user", "/var/lib", "/var/log", "/var/run", "/var/spool"),
        *("/private/etc", "/private/var/db", "/System", "/Library", "/cores"),
        *("C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData"),
    )
)
"""Never granted, nor anything in them."""


def is_sandboxed() -> bool:
    """Return whether this process runs in an app sandbox, where only a resolved bookmark opens a folder."""
    return "APP_SANDBOX_CONTAINER_ID" in os.environ


def checked_folder(text: str) -> Path:
    """Return the folder that *text* names. Raises BadRequest for a relative, missing or system folder, or one with
    `..`.
    """
    path = Path(unicodedata.normalize("NFC", text))
    if "\0" in text or not path.is_absolute() or ".." in path.parts:
        raise BadRequest("A folder is named by its full path, without '..'.", code="grant_refused")
    if is_too_long(path) or not path.is_dir():
        raise BadRequest(
            f"There is no folder {path}: choose one that exists on the engine's machine.",
            code="grant_refused",
        )
    resolved = path.resolve()
    if resolved == Path(resolved.anchor) or any(resolved.is_relative_to(folder) for folder in SYSTEM_FOLDERS):
        raise BadRequest(f"{resolved} is a system folder; choose a folder of your own.", code="grant_refused")
    return resolved


def checked_bookmark(text: str) -> bytes:
    """Return the bookmark's bytes. Raises BadRequest when it is empty or not base64."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if not decoded:
        raise BadRequest(
            "The bookmark is malformed: send the app-scoped bookmark as base64.", code="malformed_bookmark"
        )
    return decoded


def _forget_grants(undone: UndoContext) -> None:
    auth = undone.step.engine.auth
    undone.step.on_commit(auth.forget_grants)


@action(
    "sandbox.grant",
    result=SandboxGranted,
    summary="Grant the engine a folder the owner chose",
    route=Route("POST", "/api/sandbox/security-scoped-access", refusals=()),
    role="owner",
    person_only=True,
    scope="engine",
    after_undo=_forget_grants,
)
def grant(ctx: ActionContext, p: SandboxGrantParams) -> dict[str, Any]:
    """The bookmark itself is never stored: it is a key to the folder."""
    checked_bookmark(p.bookmark)
    if is_sandboxed():
        raise BadRequest(
            "This build of the engine cannot resolve a bookmark inside an app sandbox; the folder stays closed. "
            "Run the engine outside the sandbox, or move the project to a folder it may already use.",
            code="grant_refused",
        )
    folder = checked_folder(p.path)
    grant = ctx.conn.execute(select(sandbox_grants).where(sandbox_grants.c.path == str(folder))).first()
    if grant is None:
        identity = new_id()
        ctx.conn.execute(
            insert(sandbox_grants).values(
                id=identity, path=str(folder), granted_at=ctx.now, granted_by=ctx.principal.name
            )
        )
        ctx.target(identity)
        ctx.on_commit(ctx.engine.auth.forget_grants)
    return {"path": str(folder), "granted": True, "already_held": grant is not None}
