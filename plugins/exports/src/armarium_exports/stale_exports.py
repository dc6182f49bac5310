"""What of exports depends on text: files of kept exports whose pages have changed since they were written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, select

from armarium.api import Library, is_among
from armarium_documents.api import ancestor_ids
from armarium_exports.records import changed_pages, kept_exports, kept_files
from armarium_source_model.api import RestsOnText, StaleRow

WHY = "The file was written before its page changed; a job will write it again, or write the kept export now."


class RestingExports(RestsOnText):
    """The files of kept exports. A row's id is that of its export; its text is the file's name."""

    kinds = ("export",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return the files that contain one of these pages and are to be written again."""
        f, c = kept_files.c, changed_pages.c
        found: list[StaleRow] = []
        for page in document_ids:
            waiting = (
                select(f.export_id, f.path)
                .join(kept_exports, kept_exports.c.id == f.export_id)
                .join(changed_pages, (c.export_id == f.export_id) & (c.document_id == page))
                .where(is_among(f.document_id, ancestor_ids(conn, page)), f.checksum.is_not(None))
                .order_by(f.path)
            )
            found += [
                StaleRow("export", row.export_id, page, None, Path(row.path).name, "redo", WHY)
                for row in conn.execute(waiting)
            ]
        return found
