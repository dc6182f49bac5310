"""Signs and their instances."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import by_name, query
from armarium_paleography.queries.live_segments import Limit, Offset, list_rows, live, stands
from armarium_paleography.records.marks import Instance, Instances, Sign, Signs, instances, signs

SIGNS = Sign.rows
INSTANCES = Instance.rows


@query("/api/signs", summary="The signs of the project", answer=Signs, refusals=())
def list_signs(
    conn: Connection,
    include_withdrawn: Annotated[bool, Query(description="also those that were withdrawn")] = False,
    limit: Limit = None,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Ordered by name."""
    conditions = () if include_withdrawn else (live(signs),)
    return list_rows(
        SIGNS, conn, *conditions, order=(by_name(signs.c.name), signs.c.id), limit=limit, offset=offset
    )


@query("/api/signs/{sign_id}/instances", summary="The instances of a sign", answer=Instances)
def instances_of_sign(
    conn: Connection, sign_id: str, limit: Limit = None, offset: Offset = 0
) -> dict[str, Any]:
    """The live instances, the oldest first. What was deleted or is in the Trash is left out."""
    SIGNS.require(conn, sign_id)
    where = (instances.c.sign_id == sign_id, live(instances), stands(instances))
    return list_rows(INSTANCES, conn, *where, order=(instances.c.id,), limit=limit, offset=offset)


def holder_of(conn: Connection, code_point: str) -> str | None:
    """Return the live sign that has the code point."""
    where = (signs.c.code_point == code_point, live(signs))
    return next((row["id"] for row in SIGNS.all(conn, *where, order=(signs.c.id,))), None)


def shown_already(conn: Connection, sign_id: str, segment_id: str) -> bool:
    """Return whether a live instance says that the segment shows the sign."""
    same_place = (instances.c.sign_id == sign_id, instances.c.segment_id == segment_id)
    return bool(INSTANCES.all(conn, live(instances), *same_place))


def signs_by_name(conn: Connection) -> dict[str, str]:
    """Return the oldest live sign of each name, by its casefolded name."""
    sign_by_name: dict[str, str] = {}
    for row in SIGNS.all(conn, live(signs), order=(signs.c.id,)):
        sign_by_name.setdefault(row["name"].casefold(), row["id"])
    return sign_by_name


def declared_signs(conn: Connection) -> list[dict[str, Any]]:
    """Return the `id`, `name` and `segment_ids` of each live sign: its picture first, then its instances.

    Jobs that find or identify signs recognise them by these (`armarium_source_model_declared_signs`).
    """
    places: dict[str, list[str]] = {}
    for instance in INSTANCES.all(conn, live(instances), stands(instances), order=(instances.c.id,)):
        places.setdefault(instance["sign_id"], []).append(instance["segment_id"])
    return [
        {
            "id": sign["id"],
            "name": sign["name"],
            "segment_ids": list(
                dict.fromkeys(filter(None, (sign["picture_segment_id"], *places.get(sign["id"], ()))))
            ),
        }
        for sign in SIGNS.all(conn, live(signs), order=(signs.c.id,))
    ]
