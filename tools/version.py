"""Gives this checkout the version of its next release: every distribution, the pins between them, the heading of CHANGELOG.

Run as `make version VERSION=0.3.0`; it commits and tags nothing.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from bootstrap import ROOT, workspace_members

STATED = (
    "core/src/armarium/__init__.py",
    "plugins/workbench/web/package.json",
    "plugins/workbench/web/package-lock.json",
)
"""Where it stands beside the pyproject files, in at most two lines, before anything that others state."""


def set_version(root: Path, members: list[Path], new: str, day: str) -> None:
    """Write *new* wherever the version of *root* stands. SystemExit if it is no later one, or nothing is to be released."""
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text()
    (old,) = re.findall(r'(?m)^version = "(.+)"$', (root / "pyproject.toml").read_text())
    if not re.fullmatch(r"\d+\.\d+\.\d+", new) or numbers(new) <= numbers(old):
        raise SystemExit(f"{new!r} is no version after {old}; write it as in 0.3.0.")
    if "\n## Unreleased\n" not in text:
        raise SystemExit("CHANGELOG.md has nothing under a heading Unreleased: there is nothing to release.")
    for member in members:
        place = member / "pyproject.toml"
        stated = re.sub(rf'(?m)^version = "{re.escape(old)}"$', f'version = "{new}"', place.read_text())
        place.write_text(
            re.sub(rf'"(armarium-[\w-]+(?:\[\w+\])?)=={re.escape(old)}"', rf'"\1=={new}"', stated)
        )
    for name in STATED:
        place = root / name
        stated = re.sub(rf'(version\w*"?\W+"){re.escape(old)}"', rf'\g<1>{new}"', place.read_text(), count=2)
        place.write_text(stated)
    changelog.write_text(text.replace("\n## Unreleased\n", f"\n## {new}, {day}\n", 1))


def numbers(version: str) -> list[int]:
    """Return the parts of a version as numbers."""
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    set_version(ROOT, workspace_members(), sys.argv[1], datetime.now(UTC).date().isoformat())
