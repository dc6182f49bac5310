"""The path language: sources of values, and the pipes applied to them."""

from __future__ import annotations

from typing import Any

import pytest

from armarium_workflows.errors import PathFault
from armarium_workflows.paths import parse_path, read

ROOTS: dict[str, Any] = {
    "nodes": {
        "read": {"text": " Dear Sir ", "people": [{"name": "Inés"}, {"name": "Ana"}], "json": '{"a": [1, 2]}'}
    },
    "inputs": {"names": ["Inés", 3], "none": None},
    "files": ["p1", "p2"],
    "config": {"language": "es"},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.nodes.read.text", " Dear Sir "),
        ("$.nodes.read.text | trim | upper", "DEAR SIR"),
        ("$.nodes.read.text|lower", " dear sir "),
        ("$.nodes.read.people[1].name", "Ana"),
        ("$.nodes.read.people[7].name", None),
        ("$.nodes.gone.text", None),
        ("$.inputs.names | join", "Inés3"),
        ('$.inputs.names | join(", ")', "Inés, 3"),
        ('$.inputs.names | join(" | ")', "Inés | 3"),
        ("$.inputs.none | upper", None),
        ("$.files[1]", "p2"),
        ("$.files[9]", None),
        ("$.config.language", "es"),
        ("$.nodes.read.json | json_extract", {"a": [1, 2]}),
        ('$.nodes.read.json | json_extract("a[1]")', 2),
    ],
)
def test_values_read_by_paths(path: str, value: Any) -> None:
    assert read(parse_path(path), ROOTS) == value


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("$.inputs.names | upper", "upper takes a text, not a list"),
        ("$.nodes.read.text | join", "join takes a list, not a text"),
        ("$.nodes.read.text | json_extract", "json_extract takes a JSON text"),
        ('$.nodes.read.json | json_extract("a!")', "json_extract takes a path"),
    ],
)
def test_a_value_that_a_pipe_cannot_take(path: str, told: str) -> None:
    with pytest.raises(PathFault, match=told):
        read(parse_path(path), ROOTS)


@pytest.mark.parametrize(
    "text", ["", "$", "nodes.a.b", "$.nodes.a", "$.inputs", "$.files", "$.inputs.a b", "$.inputs.a |"]
)
def test_invalid_paths_are_refused(text: str) -> None:
    with pytest.raises(PathFault):
        parse_path(text)
