"""The published OpenAPI document matches the code."""

from __future__ import annotations

import functools
import json
import re

import openapi

build_document = functools.cache(openapi.build_document)


def test_the_committed_document_matches_the_code() -> None:
    committed = openapi.DOCUMENT.read_text(encoding="utf-8") if openapi.DOCUMENT.exists() else "{}"
    document = build_document()
    if committed != document:
        before, after = (operations(document) for document in (committed, document))
        raise AssertionError(
            f"docs/openapi.json differs from the code (gone: {sorted(before - after)}, new: {sorted(after - before)}, "
            "or a schema changed). If that is meant, run make openapi and commit it."
        )


def operations(document: str) -> set[str]:
    paths = json.loads(document).get("paths", {})
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_every_operation_has_a_summary_and_a_name_of_its_own() -> None:
    document = json.loads(build_document())
    found = [
        (path, method, op) for path, methods in document["paths"].items() for method, op in methods.items()
    ]
    assert [f"{method} {path}" for path, method, op in found if not op.get("summary")] == []
    names = [op["operationId"] for _, _, op in found]
    assert len(names) == len(set(names))
    assert [name for name in names if len(name) > 40] == []


def test_every_schema_has_a_title_of_its_own() -> None:
    """Client generators name classes by titles, and drop a schema whose title occurred before."""
    document = json.loads(build_document())
    titles = [schema.get("title") for schema in document["components"]["schemas"].values()]
    assert sorted(titles) == sorted(set(titles))
    matches = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert matches - set(document["components"]["schemas"]) == set()


def test_a_route_answers_200_unless_it_is_known_for_another_status() -> None:
    """The specification's rule; the routes named here have theirs from it, or are ours and start a job."""
    others = {
        "POST /api/bookmarks": ["201"],
        "POST /api/chains/{chain_id}/execute-steps": ["202"],
        "POST /api/workflows/{workflow_id}/execute": ["202"],
        "POST /api/likeness/look": ["202"],
        "POST /api/reading/find-lines": ["202"],
        "POST /api/reading/read": ["202"],
        "POST /api/reading/read-pages": ["202"],
    }
    paths = json.loads(build_document())["paths"].items()
    found = {
        f"{method.upper()} {path}": [response for response in op["responses"] if response.startswith("2")]
        for path, methods in paths
        for method, op in methods.items()
    }
    named = {
        name: statuses
        for name, statuses in found.items()
        if statuses and "200" not in statuses and "204" not in statuses
    }
    assert named == others


def test_lists_of_a_project_say_that_they_count_what_is_withheld() -> None:
    """`count_withheld` adds the field to every GET that answers a list, GeoJSON too; routes of the engine have none."""
    document = json.loads(build_document())
    schemas = document["components"]["schemas"]
    for name in ("Hands", "Letterforms", "SegmentFacts", "FeatureCollection", "Campaigns"):
        assert schemas[name]["properties"]["withheld"]["type"] == "integer", name
        assert "withheld" not in schemas[name]["required"]
    assert "withheld" not in schemas["Fonts"]["properties"]


def test_what_a_patch_leaves_out_has_no_default() -> None:
    """Generated clients send defaults, and would change fields that nobody named."""
    document = json.loads(build_document())
    for path, methods in document["paths"].items():
        content = methods.get("patch", {}).get("requestBody", {}).get("content", {})
        for body in content.values():
            schema = document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
            given = [name for name, attribute in schema["properties"].items() if "default" in attribute]
            assert given == [], path


def test_a_language_that_is_sent_is_a_language_tag() -> None:
    document = json.loads(build_document())
    schemas = document["components"]["schemas"]
    sent = [
        operation["requestBody"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    named: set[str] = set()
    while found := set(re.findall(r"#/components/schemas/(\w+)", json.dumps(sent))) - named:
        named |= found
        sent = [schemas[name] for name in found]
    stated = {name: schemas[name].get("properties", {}).get("language") for name in named}
    assert [
        name for name, language in stated.items() if language and "pattern" not in json.dumps(language)
    ] == []
