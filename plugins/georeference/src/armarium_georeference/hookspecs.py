"""The extension points of georeference: entities and mentions belong to another family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import hookspec

Entity = Mapping[str, Any]
"""An entity as answers show it. These fields are read: id, canonical_name, entity_type, names, place_values,
authority_links, description, merged_into_id.
"""


@hookspec
def armarium_georeference_entity(conn: Connection, entity_id: str) -> Entity | None:
    """Return the entity, or None if it is not the family's or the caller may not see it.

    Called in the thread of a read, with its connection. The first answer wins.
    """


@hookspec
def armarium_georeference_mentions(conn: Connection, document_id: str) -> Sequence[Mapping[str, Any]]:
    """Return `{segment_id, text, entity_id}` of each place that a document names.

    Called in the thread of a job, with its connection. All answers count; without any, the lines themselves are looked up.
    """
