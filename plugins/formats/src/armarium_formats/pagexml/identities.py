"""Ids of a written PAGE file: the original ones where they are lawful and unique, made ones otherwise."""

from __future__ import annotations

import re

from armarium_formats.page_model import PageModel
from armarium_formats.pagexml.fragments import ids_in, refs_in, rename
from armarium_formats.pagexml.schema import is_ncname

_UNLAWFUL = re.compile(r"[^\w.\-]")


class Identities:
    """The ids of one file while it is written."""

    def __init__(self, page: PageModel) -> None:
        self.used: set[str] = set()
        self.of_segment: dict[str, str] = {}
        self.changed = 0
        for segment in page.walk():
            written = segment.id
            if written in self.used or not is_ncname(written):
                written = self.make(written)
                self.changed += 1
            self.used.add(written)
            self.of_segment.setdefault(segment.id, written)

    def make(self, wish: str) -> str:
        """A lawful id that is not used yet, as near to *wish* as may be."""
        base = _UNLAWFUL.sub("_", wish) or "id"
        if not is_ncname(base):
            base = f"id_{base}"
        if not is_ncname(base):
            base = "id"
        made, number = base, 1
        while made in self.used:
            number += 1
            made = f"{base}_{number}"
        self.used.add(made)
        return made

    def settle(self, fragment: str) -> str | None:
        """A kept fragment with ids that clash with nothing; None when it points at an id that is gone."""
        own = ids_in(fragment)
        if any(ref not in self.of_segment and ref not in self.used for ref in refs_in(fragment)):
            return None
        changed = {one: self.make(one) for one in own if one in self.used or not is_ncname(one)}
        self.used.update(one for one in own if one not in changed)
        if changed or refs_in(fragment):
            fragment = rename(fragment, changed, self.of_segment)
        return fragment
