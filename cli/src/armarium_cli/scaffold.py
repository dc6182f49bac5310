"""`armarium plugins --new`: writes the smallest complete family into a folder: a table, an action, a query, a test.

The files of `new_family` are its templates, in which @NAME@ and @DASHED@ (NAME in the name of a file) stand for its name.
"""

from __future__ import annotations

import re
from pathlib import Path

from armarium_cli.refusals import Refused

_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_TEMPLATES = Path(__file__).with_name("new_family")


def write_family(name: str, folder: Path) -> list[Path]:
    """Write a family called *name* into *folder*, which is created and must be empty; return the files written."""
    if _NAME.fullmatch(name) is None:
        why = f"{name!r} cannot be the name of a plugin: use 2 to 40 lower-case letters, digits and underscores."
        raise Refused({"detail": why, "code": "plugin_name"})
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        why = f"{folder} already exists; name an empty folder, or none."
        raise Refused({"detail": why, "code": "already_exists"})
    paths = []
    for template in sorted(path for path in _TEMPLATES.rglob("*") if path.is_file()):
        path = template.relative_to(_TEMPLATES).as_posix().removesuffix(".txt").replace("NAME", name)
        text = template.read_text(encoding="utf-8").replace("@NAME@", name)
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text.replace("@DASHED@", name.replace("_", "-")), encoding="utf-8")
        paths.append(place)
    return paths
