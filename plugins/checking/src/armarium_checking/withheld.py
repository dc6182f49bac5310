"""Which samples are withheld from a caller: those of a selection of which the caller may not see everything, since each of
their numbers tells of all of it.
"""

from __future__ import annotations

from sqlalchemy import Connection

from armarium.api import WithheldAlong, raw_of
from armarium_checking.records.samples import sample_pages, samples
from armarium_source_model.api import segments

_WITHHELD = f"""
SELECT DISTINCT p.sample_id FROM main.{sample_pages} p WHERE p.document_id IN (
    SELECT id FROM {{documents}} UNION SELECT s.document_id FROM main.{segments} s JOIN {{parts}} w ON w.id = s.id
)
"""


class WithheldSamples(WithheldAlong):
    """Samples withheld along with their pages."""

    tables = (samples,)

    def find_withheld(self, conn: Connection, documents: str, parts: str) -> list[str]:
        """Return those with a page that is withheld, as a whole or in part."""
        rows = raw_of(conn).execute(_WITHHELD.format(documents=documents, parts=parts))
        return [row[0] for row in rows]
