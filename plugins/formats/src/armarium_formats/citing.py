"""The line by which a written page says of what it is a copy: the page, the step of the project, and the digest of its log
of steps up to that one, so that anybody with the project can check it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from armarium.api import Library, Moment

SCHEME = "service:export/"
NAME = "as of"
"""What a field of metadata that holds the line is called."""
_LINE = re.compile(
    re.escape(SCHEME)
    + r"(?P<library>[0-9a-f-]{32,36})/(?P<document>[0-9A-Za-z_-]{1,64})@(?P<step>[0-9a-f]{32})"
    r"(?P<rest>(?:;[a-z_]{1,20}=[^;\s<>\"'&]{1,200}){0,12})"
)
_CHOICES = ("pass_id", "order_id", "reading_kind")


@dataclass(frozen=True)
class PageCitation:
    """What a written page is a copy of. *choices* are those that were not left to the project."""

    library: str
    document: str
    step: str
    digest: str
    format: str
    created: str
    choices: tuple[tuple[str, str], ...] = ()

    def line(self) -> str:
        """Return it as it stands in a file."""
        fields = {"digest": self.digest, "format": self.format, "created": self.created, **dict(self.choices)}
        return f"{SCHEME}{self.library}/{self.document}@{self.step}" + "".join(
            f";{name}={value}" for name, value in fields.items() if value
        )


def cite_page(
    library: Library,
    document_id: str,
    moment: Moment,
    format_name: str,
    created: str = "",
    choices: Mapping[str, str | None] | None = None,
) -> str:
    """Return the line for a file of a page, made at *created* by *choices* of pass, order and kind of reading."""
    pairs = (choices or {}).items()
    chosen = tuple((name, value) for name, value in pairs if value is not None and value != "transcription")
    step, digest = moment.audit_id, moment.digest
    return PageCitation(library.uuid, document_id, step, digest, format_name, created, chosen).line()


def find_citations(text: str) -> Iterator[PageCitation]:
    """Yield the citations in a file, in their order."""
    for match in _LINE.finditer(text):
        fields = dict(part.split("=", 1) for part in match["rest"].split(";")[1:])
        yield PageCitation(
            match["library"],
            match["document"],
            match["step"],
            fields.get("digest", ""),
            fields.get("format", ""),
            fields.get("created", ""),
            tuple((name, fields[name]) for name in _CHOICES if name in fields),
        )


def without_citations(fragment: str) -> str:
    """Return *fragment*, kept of a file that was read, without the comments that cite what that file was a copy of."""
    return re.sub(rf"\s*<!-- {re.escape(SCHEME)}[^>]*-->", "", fragment)
