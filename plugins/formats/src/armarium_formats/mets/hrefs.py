"""Converts file names in a METS file to paths below its own folder, or refuses them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote

MOST_NAMED = 20
"""Files refused for one reason that are named one by one."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class RefusedHref:
    """A file that is refused: the href as stated and why."""

    href: str
    why: str


def local_path(href: str) -> tuple[str, str | None]:
    """Return an href as a path relative to the METS file with `/` separators, and why it is refused, else
    None.

    Nothing is opened here and no link is followed; whoever opens the path must still stay inside the folder.
    """
    bare = href.strip()
    if not bare:
        return "", "it names nothing"
    plain = bare
    if plain.lower().startswith("file://./"):  # what newspaper packages write for "beside this file"
        plain = plain[7:]
    if plain.lower().startswith("file:") and not plain.lower().startswith("file:/"):
        plain = plain[5:]
    path = unquote(plain).replace("\\", "/")
    if _CONTROL.search(path):
        return bare, "it contains control characters"
    if re.match(r"[A-Za-z]:(/|$)", path):
        return bare, "it is a full path; only files below the METS file's folder are used"
    if plain.lower().startswith("file:") or path.startswith("/"):
        remote = path.startswith("//")
        why = "it points to another machine" if remote else "it is a full path"
        return bare, f"{why}; only files below the METS file's folder are used"
    if _SCHEME.match(plain) or _SCHEME.match(path):
        return bare, "it is an address on the network or of another kind; nothing is fetched"
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return bare, "it leads out of the METS file's folder"
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        return bare, "it names nothing"
    return "/".join(parts), None


def list_fewer(refused: list[RefusedHref]) -> list[RefusedHref]:
    """List files refused for one reason by name, but only count many: a viewer's METS has thousands."""
    counted = Counter(refused_href.why for refused_href in refused)
    so_far: Counter[str] = Counter()
    refused_hrefs: list[RefusedHref] = []
    for refused_href in refused:
        so_far[refused_href.why] += 1
        more = counted[refused_href.why] - MOST_NAMED
        if so_far[refused_href.why] <= MOST_NAMED or more == 1:
            refused_hrefs.append(refused_href)
        elif so_far[refused_href.why] == MOST_NAMED + 1:
            refused_hrefs.append(RefusedHref(f"{more:,} more like {refused_href.href}", refused_href.why))
    return refused_hrefs
