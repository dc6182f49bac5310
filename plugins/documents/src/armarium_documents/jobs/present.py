"""Finds what of an import is already in place: folders by their names, files by their name and bytes.

A place is the path of names below the folder that is imported into. Only live documents from before the
import was requested count; those in the Trash do not, so that importing a file again creates a new document.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from armarium.api import Library, open_plain, raw_of
from armarium_documents.pictures import digest_of
from armarium_documents.schemas.fields import clean_name


@dataclass(frozen=True, slots=True)
class ExistingFile:
    """A file already in place: its node and the numbers of its pages, None for a file without pages."""

    id: str
    pages: frozenset[int] | None


class Place:
    """The target folder of an import, as it was when the import was requested.

    `before` is the import's own id: ids sort by time, so any smaller id was made before it.
    """

    def __init__(self, library: Library, parent_id: str, before: str, *, again: bool) -> None:
        self.library, self.before, self.again = library, before, again
        self._folders: dict[tuple[str, ...], str | None] = {(): parent_id}

    def folder(self, names: tuple[str, ...]) -> str | None:
        """Return the oldest folder at this place; None if there is none or everything is imported again."""
        if names not in self._folders:
            above = self.folder(names[:-1])
            self._folders[names] = None if above is None or self.again else self._find(above, names[-1])
        return self._folders[names]

    def _find(self, parent_id: str, name: str) -> str | None:
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            row = raw.execute(
                "SELECT id FROM document WHERE parent_id = ? AND deleted_at IS NULL AND name = ?"
                " AND doc_type = 'folder' AND id < ? ORDER BY id LIMIT 1",
                (parent_id, clean_name(name), self.before),
            ).fetchone()
        return row[0] if row else None

    def holds(self, names: tuple[str, ...], name: str, path: Path) -> ExistingFile | None:
        """Return the file called *name* at this place if its bytes equal those at *path*; raises what opening
        *path* raises.

        The bytes are read only if there is a file of that name. A page in the Trash counts as present: it was
        removed deliberately and can be restored.
        """
        parent_id = None if self.again else self.folder(names)
        if parent_id is None:
            return None
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            rows = raw.execute(
                "SELECT id, json_extract(metadata, '$.checksum'), json_extract(metadata, '$.page_count')"
                " FROM document WHERE parent_id = ? AND deleted_at IS NULL AND name = ? AND doc_type = 'file'"
                " AND id < ? ORDER BY id",
                (parent_id, name, self.before),
            ).fetchall()
            if not rows:
                return None
            with open_plain(path, self.library.is_closed) as file:
                digest = digest_of(file)
            for identity, checksum, page_count in rows:
                if checksum != digest:
                    continue
                if page_count is None:
                    return ExistingFile(identity, None)
                pages = raw.execute(
                    "SELECT sequence FROM document WHERE parent_id = ? AND doc_type = 'page'", (identity,)
                )
                numbers = frozenset(number for (number,) in pages)
                return ExistingFile(identity, None if len(numbers) >= page_count else numbers)
        return None
