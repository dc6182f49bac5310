"""Ids of a written XML file: the original ones if valid and unique, otherwise new ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from armarium_formats.markup.fragments import settle_ids
from armarium_formats.markup.schema import is_ncname

_UNLAWFUL = re.compile(r"[^\w.\-]")


class Identities:
    """The ids of one file while it is written.

    *pattern* finds the ids and references inside stored fragments (see `settle_ids`).
    """

    def __init__(self, ids: Iterable[str], pattern: re.Pattern[str]) -> None:
        all_ids = list(ids)
        self.of_segment: dict[str, str] = {identity: identity for identity in all_ids if is_ncname(identity)}
        self.used: set[str] = set(self.of_segment)
        self._pattern = pattern
        # Valid ids first, then the others by name: the result depends on the ids alone, never on the sequence
        # of the segments, which may differ when the file is read again.
        unlawful = sorted({identity for identity in all_ids if identity not in self.of_segment})
        self.of_segment |= {identity: self.make(identity) for identity in unlawful}
        self.changed = len(all_ids) - len(self.of_segment) + len(unlawful)

    def make(self, wish: str) -> str:
        """Return a valid unused id, as close to *wish* as possible."""
        base = _UNLAWFUL.sub("_", wish) or "id"
        if not is_ncname(base):
            base = f"id_{base}"
        if not is_ncname(base):
            base = "id"
        identity, number = base, 1
        while identity in self.used:
            number += 1
            identity = f"{base}_{number}"
        self.used.add(identity)
        return identity

    def take(self, wish: str) -> str:
        """Return *wish* itself if it is valid and free, else one derived from it."""
        if wish in self.used or not is_ncname(wish):
            return self.make(wish)
        self.used.add(wish)
        return wish

    def settle(self, fragment: str) -> str | None:
        """Return a stored fragment with ids that do not clash; None if it refers to an id that is gone."""
        own: list[str] = []
        refs: list[str] = []
        for match in self._pattern.finditer(fragment):
            (own if match.group(2).lower() == "id" else refs).append(match.group(3))
        if any(ref not in self.of_segment and ref not in self.used for ref in refs):
            return None
        unfit = [identity for identity in own if identity in self.used or not is_ncname(identity)]
        changed = {identity: self.make(identity) for identity in unfit}
        self.used.update(identity for identity in own if identity not in changed)
        if changed or refs:
            fragment = settle_ids(self._pattern, fragment, changed, self.of_segment)
        return fragment
