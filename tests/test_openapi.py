"""The published OpenAPI document matches the code."""

from __future__ import annotations

import json
import re

import openapi


def test_the_committed_document_is_what_the_code_says() -> None:
    committed = openapi.DOCUMENT.read_text(encoding="utf-8") if openapi.DOCUMENT.exists() else "{}"
    made = openapi.build_document()
    if committed != made:
        before, after = (operations(document) for document in (committed, made))
        raise AssertionError(
            f"docs/openapi.json differs from the code (gone: {sorted(before - after)}, new: {sorted(after - before)}, "
            "or a schema changed). If that is meant, run make openapi and commit it."
        )


def operations(document: str) -> set[str]:
    paths = json.loads(document).get("paths", {})
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_every_operation_has_a_summary_and_a_name_of_its_own() -> None:
    document = json.loads(openapi.build_document())
    found = [
        (path, method, op) for path, methods in document["paths"].items() for method, op in methods.items()
    ]
    assert [f"{method} {path}" for path, method, op in found if not op.get("summary")] == []
    names = [op["operationId"] for _, _, op in found]
    assert len(names) == len(set(names))
    assert [name for name in names if len(name) > 40] == []


def test_every_schema_has_a_title_of_its_own() -> None:
    """Client generators name classes by titles, and drop what uses a title for the second time."""
    document = json.loads(openapi.build_document())
    titles = [schema.get("title") for schema in document["components"]["schemas"].values()]
    assert sorted(titles) == sorted(set(titles))
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert named - set(document["components"]["schemas"]) == set()
