"""Entities as a reconciliation service offers them: candidates for names from elsewhere, their properties, suggestions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Text, cast, or_, select

from armarium.api import by_name, is_among, name_key
from armarium_knowledge.folding import fold
from armarium_knowledge.matching import Candidate, compare_names
from armarium_knowledge.queries.entities import in_words, shown_entities
from armarium_knowledge.queries.visible import HiddenKnowledge
from armarium_knowledge.records.entities import NOT_MERGED, Entity, entities
from armarium_knowledge.schemas.reconciliation import Condition, Question
from armarium_source_model.api import name_forms

LEAST_ALIKE = 0.75
"""How similar to the name asked for a name must be, from 0 to 1."""
MOST_BY_PROPERTIES = 500
"""How many entities are weighed where no name is asked for."""
BY_PROPERTIES = 0.2
"""The weight of the properties asked for in the score, beside the name's."""


@dataclass(frozen=True)
class Property:
    """What can be asked of an entity, and compared."""

    id: str
    name: str
    values: Callable[[Mapping[str, Any]], Iterable[dict[str, Any]]]
    """Of an entity as answered, in the service's form: `{str}`, `{date}`, `{int}` or `{id, name}`."""


def _list_dates(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for date in row["date_values"]:
        start = date["iso_start"] or ""
        is_day = len(start) == 10 and start[:4].isdigit()
        yield {"date": f"{start}T00:00:00"} if is_day else {"str": start or date["as_written"]}


def _list_names(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"str": row["canonical_name"]}
    yield from ({"str": text} for text in row["aliases"])


PROPERTIES = {
    prop.id: prop
    for prop in (
        Property("name", "Name", _list_names),
        Property("description", "Description", lambda row: _list_texts([row["description"]])),
        Property("language", "Language", lambda row: _list_texts([row["language"]])),
        Property("date", "Date", _list_dates),
        Property("place", "Place", lambda row: _list_texts(place["label"] for place in row["place_values"])),
        Property(
            "coordinates",
            "Coordinates",
            lambda row: _list_texts(
                f"{place['lat']}, {place['lon']}" for place in row["place_values"] if place["lat"] is not None
            ),
        ),
        Property(
            "authority",
            "Authority file",
            lambda row: _list_texts(link["uri"] for link in row["authority_links"]),
        ),
        Property(
            "authority_id",
            "Id in an authority file",
            lambda row: _list_texts(link["authority_id"] for link in row["authority_links"]),
        ),
        Property("part_of", "Part of", lambda row: [row["parent"]] if row.get("parent") else []),
        Property("documents", "Documents that name it", lambda row: [{"int": row["corroboration_count"]}]),
    )
}


def _list_texts(values: Iterable[str | None]) -> list[dict[str, Any]]:
    return [{"str": value} for value in values if value]


def _meets(condition: Condition, row: Mapping[str, Any]) -> bool:
    """Return whether an entity has what is asked; texts are compared by their folded words, dates by how they begin."""
    known_property = PROPERTIES.get(condition.property)
    here = [
        fold(str(text))
        for value in (known_property.values(row) if known_property else ())
        for text in value.values()
    ]
    is_date = condition.property == "date"
    met = [
        any(text == folded or (is_date and text.startswith(folded)) for text in here)
        for folded in map(fold, condition.values)
    ]
    if condition.quantifier == "none":
        return not any(met)
    return all(met) if condition.quantifier == "all" else any(met)


class _Names(NamedTuple):
    """The names of the project's entities, with their words in order, and whose each is."""

    names: list[str]
    owners: list[Candidate]


def candidates(conn: Connection, questions: Sequence[Question]) -> list[list[dict[str, Any]]]:
    """Return the candidates for each question, the best first: `{id, name, description, type, score, match, features}`.

    Scores go from 0 to 100. `match` is said of a candidate with the very name, all conditions met, and no rival.
    """
    names = _read_names(conn) if any(question.name for question in questions) else _Names([], [])
    answers = []
    for question in questions:
        answer = _answer(conn, names, question)
        if not answer and question.types and not question.only_these_types:
            others = _answer(conn, names, replace(question, types=()))
            answer = [{**candidate, "match": False} for candidate in others]
        answers.append(answer)
    return answers


def _make_conditions(conn: Connection) -> list[ColumnElement[bool]]:
    hidden = HiddenKnowledge(conn).entities
    return [
        NOT_MERGED,
        entities.c.curation_state != "rejected",
        *([~is_among(entities.c.id, hidden)] if hidden else []),
    ]


def _read_names(conn: Connection) -> _Names:
    columns = (entities.c.id, entities.c.entity_type, entities.c.language, entities.c.folded_names)
    names = _Names([], [])
    for entity_id, entity_type, language, folded in conn.execute(
        select(*columns).where(*_make_conditions(conn))
    ):
        for name in filter(None, folded.split("\n")):
            names.names.append(_in_order(name))
            names.owners.append(Candidate(entity_id, entity_type, language, (name,)))
    return names


def _in_order(name: str) -> str:
    return " ".join(sorted(name.split()))


def _answer(conn: Connection, names: _Names, question: Question) -> list[dict[str, Any]]:
    alike = _score_names(conn, names, question) if question.name else {}
    where = [
        *_make_conditions(conn),
        *([entities.c.entity_type.in_(question.types)] if question.types else []),
    ]
    if question.ids:
        where.append(entities.c.id.in_(question.ids))
    elif question.name:
        where.append(is_among(entities.c.id, list(alike)))
    elif question.conditions:
        values = [value for condition in question.conditions for value in condition.values]
        written_columns = [
            cast(column, Text) for column in (entities.c.authority_links, entities.c.place_values)
        ]
        columns = [
            *written_columns,
            entities.c.description,
            entities.c.language,
            cast(entities.c.date_values, Text),
        ]
        where.append(
            or_(
                *(column.contains(value, autoescape=True) for column in columns for value in values),
                *(in_words(entities.c.folded_names, value) for value in values if value.strip()),
            )
        )
    else:
        return []
    scored = []
    for row in entity_rows(conn, *where, limit=MOST_BY_PROPERTIES):
        met = [_meets(condition, row) for condition in question.conditions]
        if any(
            condition.required and not is_met
            for condition, is_met in zip(question.conditions, met, strict=True)
        ):
            continue
        by_name = alike.get(row["id"], 1.0 if question.ids or not question.name else 0.0)
        by_properties = sum(met) / len(met) if met else 1.0
        score = by_name if not met else (1 - BY_PROPERTIES) * by_name + BY_PROPERTIES * by_properties
        if question.name or question.ids or by_properties:
            scored.append((round(100 * score, 2), by_name, by_properties, row))
    scored.sort(
        key=lambda candidate: (-candidate[0], name_key(candidate[3]["canonical_name"]), candidate[3]["id"])
    )
    sure = [candidate for candidate in scored if candidate[1] == 1.0 and candidate[2] == 1.0]
    return [
        {
            "id": row["id"],
            "name": row["canonical_name"],
            **({"description": row["description"][:300]} if row["description"] else {}),
            "type": [named_type(row["entity_type"])],
            "score": score,
            "match": len(sure) == 1 and sure[0][3]["id"] == row["id"],
            "features": [
                {"id": "name", "name": "How alike the names are", "value": by_name},
                {"id": "properties", "name": "Share of the properties met", "value": round(by_properties, 4)},
            ],
        }
        for score, by_name, by_properties, row in scored[: question.limit]
    ]


def _score_names(conn: Connection, names: _Names, question: Question) -> dict[str, float]:
    """Return how alike the most similar name of each entity is, of the most similar ones and those that contain it."""
    from rapidfuzz import process
    from rapidfuzz.distance import JaroWinkler

    where = [*_make_conditions(conn), in_words(entities.c.folded_names, question.name)]
    if question.types:
        # Narrowed first: the most similar names of other types would take the places of these.
        where.append(entities.c.entity_type.in_(question.types))
        pairs = zip(*names, strict=True)
        of_type = [pair for pair in pairs if pair[1].entity_type in question.types]
        names = _Names([name for name, _ in of_type], [owner for _, owner in of_type])
    containing = select(entities.c.id).where(*where)
    limit = 10 * question.limit
    best = dict.fromkeys(conn.scalars(containing.order_by(entities.c.id).limit(limit)), LEAST_ALIKE)
    forms = tuple(name_forms(question.name))
    ordered_forms = [_in_order(form) for form in forms if form]
    for form in ordered_forms:
        near = process.extract(
            form, names.names, scorer=JaroWinkler.similarity, score_cutoff=LEAST_ALIKE, limit=limit
        )
        for _, _, at in near:
            owner = names.owners[at]
            compared = compare_names(owner, Candidate("", owner.entity_type, owner.language, forms))
            if compared is not None:
                best[owner.id] = max(best.get(owner.id, 0.0), compared[0])
    return best


def entity_rows(
    conn: Connection, *where: ColumnElement[bool], limit: int, offset: int = 0
) -> list[dict[str, Any]]:
    """Return entities as answered, by name, each with `parent` as `{id, name}` if it has one that is shown."""
    order = (by_name(entities.c.canonical_name), entities.c.id)
    page = Entity.rows.page(conn, *where, order=order, limit=limit, offset=offset)
    rows = shown_entities(conn, page["items"])
    parent_ids = {row["parent_id"] for row in rows if row["parent_id"]}
    select_names = select(entities.c.id, entities.c.canonical_name).where(
        *_make_conditions(conn), is_among(entities.c.id, list(parent_ids))
    )
    parents = (
        {parent.id: {"id": parent.id, "name": parent.canonical_name} for parent in conn.execute(select_names)}
        if parent_ids
        else {}
    )
    return [{**row, "parent": parents.get(row["parent_id"])} for row in rows]


def visible_entities(conn: Connection, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return those of the entities that are shown, by id."""
    rows = entity_rows(conn, *_make_conditions(conn), is_among(entities.c.id, list(ids)), limit=len(ids) or 1)
    return {row["id"]: row for row in rows}


def suggested_entities(conn: Connection, prefix: str, offset: int, limit: int) -> list[dict[str, Any]]:
    """Return entities with a name in which all words of *prefix* occur, by name."""
    rows = entity_rows(
        conn, *_make_conditions(conn), in_words(entities.c.folded_names, prefix), limit=limit, offset=offset
    )
    return [
        {
            "id": row["id"],
            "name": row["canonical_name"],
            **({"description": row["description"][:300]} if row["description"] else {}),
            "notable": [named_type(row["entity_type"])],
        }
        for row in rows
    ]


def entity_types(conn: Connection) -> list[dict[str, str]]:
    """Return the types of the entities that are shown."""
    query = (
        select(entities.c.entity_type)
        .where(*_make_conditions(conn))
        .distinct()
        .order_by(entities.c.entity_type)
    )
    return [named_type(entity_type) for entity_type in conn.scalars(query)]


def named_type(entity_type: str) -> dict[str, str]:
    """Return a type of entity with its name."""
    return {"id": entity_type, "name": entity_type.replace("_", " ").capitalize()}
