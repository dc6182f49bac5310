"""A question as SQL: which documents may be a result, by filters, scopes and excluded terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import orjson
from sqlalchemy import Connection

from armarium.api import Engine, Library, raw_of, time_span, withheld_pages
from armarium_documents.api import (
    FLAGS,
    DocType,
    FileType,
    SourceAuthority,
    documents,
    representations,
    require_document,
)
from armarium_search.contributions import scopes_of
from armarium_search.errors import bad_word, from_after_to
from armarium_search.language import ParsedQuery, ScopedQuestion
from armarium_search.matching import expression
from armarium_search.models import name_index, names, text_index
from armarium_search.queries.dates_asked import require_span
from armarium_search.schemas import Filters, SearchParams
from armarium_source_model.api import page_language_sql, page_texts, passes, segments

SEARCHED = "d.deleted_at IS NULL AND d.node_kind IN ('document', 'note')"
"""The nodes that are searched: no aliases, saved searches or workspaces, and nothing in the Trash."""


@dataclass
class SearchQuestion:
    """One question of one caller, in one snapshot of the project."""

    conn: Connection
    engine: Engine
    library: Library
    params: SearchParams
    parsed: ParsedQuery
    conditions: list[str] = field(default_factory=lambda: [SEARCHED])
    values: dict[str, Any] = field(default_factory=dict)
    partial: frozenset[str] | None = None
    """The documents of which the caller sees only a part; None if the caller sees everything."""

    @property
    def raw(self) -> Any:
        """Return the connection on which statements run."""
        return raw_of(self.conn)

    @property
    def where_sql(self) -> str:
        """Return the SQL condition on a document `d`, with its parameters in `values`."""
        return " AND ".join(self.conditions)

    def bind(self, value: Any) -> str:
        """Add a parameter; return its placeholder."""
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def select_ids(self, ids: Iterable[str]) -> str:
        """Return SQL that selects a list of ids as rows."""
        return f"(SELECT value FROM json_each({self.bind(orjson.dumps(list(ids)).decode())}))"

    def rows(self, statement: str, **more: Any) -> list[Any]:
        """Return all rows of *statement*."""
        fetched: list[Any] = self.raw.execute(statement, {**self.values, **more}).fetchall()
        return fetched


def ask(
    conn: Connection, engine: Engine, library: Library, params: SearchParams, parsed: ParsedQuery
) -> SearchQuestion:
    """Build the question for *params*, with their filters and scopes as conditions. NotFound for an
    unknown parent_id, BadRequest for an unknown word of a filter.
    """
    question = SearchQuestion(conn, engine, library, params, parsed, partial=withheld_pages(conn))
    _filter(question, params.filters or Filters())
    for scoped in parsed.scopes:
        ids = question.select_ids(_documents_of(question, scoped))
        question.conditions.append(f"d.id {'NOT ' if scoped.excluded else ''}IN {ids}")
    _exclude(question)
    return question


def _exclude(question: SearchQuestion) -> None:
    """Exclude documents whose text, name or description has an excluded term."""
    for term in question.parsed.excluded_terms:
        terms = (replace(term, excluded=False),)
        text, name = question.bind(expression(terms)), question.bind(expression(terms, None))
        question.conditions += [
            f"NOT EXISTS (SELECT 1 FROM {page_texts} xp CROSS JOIN {text_index} WHERE {text_index}.rowid = xp.number "
            f"AND xp.document_id = d.id AND {text_index} MATCH {text})",
            f"NOT EXISTS (SELECT 1 FROM {names} xn CROSS JOIN {name_index} WHERE {name_index}.rowid = xn.number "
            f"AND xn.document_id = d.id AND {name_index} MATCH {name})",
        ]


_WORDS = (
    ("doc_types", "doc_type", get_args(DocType)),
    ("file_types", "file_type", get_args(FileType)),
    ("prototype_keys", "prototype_key", None),
    ("source_authority", "source_authority", get_args(SourceAuthority)),
)
"""Filters by one of several words: the column, and the words it knows, unless a project has its own."""


def check_filters(conn: Connection, filters: Filters) -> None:
    """Raise NotFound for an unknown parent_id, BadRequest for an unknown word."""
    if filters.parent_id is not None:
        require_document(conn, filters.parent_id)
    for name, _, known in _WORDS:
        for word in getattr(filters, name) or ():
            if known is not None and word not in known:
                raise bad_word(f"filters.{name}", word, known)


def _filter(question: SearchQuestion, filters: Filters) -> None:
    add = question.conditions.append
    check_filters(question.conn, filters)
    if filters.parent_id is not None:
        top = question.bind(filters.parent_id)
        add(
            f"d.id IN (WITH RECURSIVE down(id) AS (SELECT {top} UNION SELECT c.id FROM down JOIN {documents} c "
            "ON c.parent_id = down.id) SELECT id FROM down)"
        )
    for name, column, _ in _WORDS:
        if (words := getattr(filters, name)) is not None:
            add(f"d.{column} IN {question.select_ids(words)}")
    if filters.languages is not None:
        tags = question.select_ids(language.lower() for language in filters.languages)
        of_pass = f"(SELECT pass_id FROM {page_texts} WHERE document_id = d.id)"
        add(
            f"EXISTS (SELECT 1 FROM {tags} t JOIN (SELECT lower({page_language_sql('d', of_pass)}) AS tag) s "
            "ON s.tag = t.value OR substr(s.tag, 1, length(t.value) + 1) = t.value || '-')"
        )
    since = None if filters.date_from is None else require_span(filters.date_from).start
    until = None if filters.date_to is None else require_span(filters.date_to).end
    if since is not None and until is not None and until < since:
        raise from_after_to("date", str(filters.date_from), str(filters.date_to))
    if since is not None:
        add(
            f"EXISTS (SELECT 1 FROM {names} n WHERE n.document_id = d.id AND n.last_day >= {question.bind(since)})"
        )
    if until is not None:
        add(
            f"EXISTS (SELECT 1 FROM {names} n WHERE n.document_id = d.id AND n.first_day <= {question.bind(until)})"
        )
    begins = None if filters.created_from is None else time_span(filters.created_from)[0]
    ends = None if filters.created_to is None else time_span(filters.created_to)[1]
    if begins is not None and ends is not None and ends < begins:
        raise from_after_to("created", str(filters.created_from), str(filters.created_to))
    if begins is not None:
        add(f"d.created_at >= {question.bind(begins)}")
    if ends is not None:
        add(f"d.created_at <= {question.bind(ends)}")
    for flag in FLAGS:
        if (flag_value := getattr(filters, flag)) is not None:
            add(f"d.{flag} = {question.bind(int(flag_value))}")
    if filters.has_reading is not None:
        add(
            f"{'' if filters.has_reading else 'NOT '}EXISTS (SELECT 1 FROM {representations} r "
            f"JOIN {segments} s ON s.id = r.segment_id JOIN {passes} o ON o.id = s.pass_id WHERE r.document_id = d.id "
            "AND NOT r.retracted AND s.deleted_at IS NULL AND o.deleted_at IS NULL)"
        )


def _documents_of(question: SearchQuestion, scoped: ScopedQuestion) -> set[str]:
    """Return the documents that a question to a scope finds."""
    scopes = scopes_of(question.engine).get(scoped.scope, ())
    return {document for scope in scopes for document in scope.documents(question.conn, scoped.text)}
