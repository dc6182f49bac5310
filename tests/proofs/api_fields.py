"""Values for the fields that a body leaves out, generated from the description: ordinary ones that a person might send.

What schemathesis generates from a description is odd on purpose, and a list of objects with odd texts is nearly always
refused, so the fields inside such a list would hardly ever be tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

TEXTS = ("letter", "Dear Sir", "Señor, 1791", "q̃ 東")
DEEPEST = 4
USUAL = 0.8
"""How often a rect is added to an anchor: most need one, although the description cannot say which."""
NEEDS = {"char_start": "char_end", "char_end": "char_start", "polygon": "rect", "value2": "value"}
"""Each field with the one without which it is refused."""

Path = tuple[str, ...]
Known = Callable[[Any, str], Any]
"""(generated value, name of its field) -> an existing value for that name, the generated value, or None to leave it
out.
"""


class Fields:
    """The fields of each operation's body and query, according to the description."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._schemas: Mapping[str, Any] = document["components"]["schemas"]
        self.bodies: dict[str, Mapping[str, Any]] = {}
        self.queries: dict[str, dict[str, Mapping[str, Any]]] = {}
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                label = f"{method.upper()} {path}"
                for kind, media in operation.get("requestBody", {}).get("content", {}).items():
                    if kind == "application/json":
                        self.bodies[label] = media.get("schema", {})
                # The parameter that names a project has tests of its own.
                self.queries[label] = {
                    parameter["name"]: parameter.get("schema", {})
                    for parameter in operation.get("parameters", ())
                    if parameter["in"] == "query" and parameter["name"] != "library"
                }

    def all(self, operation: str) -> set[Path]:
        """Return each field's path from the top; that of a query begins with '?'."""
        found = {(f"?{name}",) for name in self.queries.get(operation, ())}
        return found | set(self._paths(self.bodies.get(operation, {}), ()))

    def _paths(self, schema: Mapping[str, Any], above: Path) -> Iterator[Path]:
        if len(above) >= DEEPEST:
            return
        for branch in self._branches(schema):
            for name, inner in branch.get("properties", {}).items():
                yield (*above, name)
                yield from self._paths(inner, (*above, name))
            if isinstance(branch.get("items"), Mapping):
                yield from self._paths(branch["items"], above)

    def _branches(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the schemas that *schema* may stand for, with references resolved and without null."""
        if "$ref" in schema:
            return self._branches(self._schemas[schema["$ref"].rpartition("/")[2]])
        inner = [one for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word, ())]
        found = [branch for one in inner for branch in self._branches(one)] or [schema]
        return [item for item in found if item.get("type") != "null"]

    def fill(self, operation: str, body: Any, known: Known, chance: Random) -> Any:
        """Fill in some of the fields that *body* leaves out, at every depth."""
        return self._fill_value(body, self.bodies.get(operation, {}), known, chance, 0)

    def _fill_value(
        self, value: Any, schema: Mapping[str, Any], known: Known, chance: Random, depth: int
    ) -> Any:
        branches = self._branches(schema)
        if len(branches) != 1 or depth > DEEPEST:
            return value
        if isinstance(value, list) and isinstance(branches[0].get("items"), Mapping):
            return [self._fill_value(one, branches[0]["items"], known, chance, depth + 1) for one in value]
        fields = branches[0].get("properties")
        if not isinstance(value, dict) or not fields:
            return value
        share = min(0.5, 2 / len(fields))
        filled = {
            name: self._fill_value(one, fields.get(name, {}), known, chance, depth + 1)
            for name, one in value.items()
        }
        for name, inner in fields.items():
            if name not in value and chance.random() < (USUAL if name == "rect" else share):
                made = known(self._make_value(inner, known, chance, depth + 1), name)
                if made is not None:
                    filled[name] = made
        return _fitting(filled, set(value))

    def query(self, operation: str, given: dict[str, Any], known: Known, chance: Random) -> None:
        """Add one more parameter to the query."""
        left = [name for name in self.queries.get(operation, ()) if name not in given]
        if left:
            name = chance.choice(left)
            made = known(self._make_value(self.queries[operation][name], known, chance, 1), name)
            if made is not None:
                given[name] = made

    def _make_value(self, schema: Mapping[str, Any], known: Known, chance: Random, depth: int) -> Any:
        branches = self._branches(schema)
        if not branches or depth > DEEPEST:
            return None
        one = chance.choice(branches)
        if "const" in one or "enum" in one:
            return one["const"] if "const" in one else chance.choice(one["enum"])
        match one.get("type"):
            case "boolean":
                return chance.random() < 0.5
            case "integer" | "number":
                lowest = int(one.get("minimum", 0))
                return min(chance.choice((lowest, lowest + 1, max(lowest, 3))), int(one.get("maximum", 3)))
            case "string":
                return None if "pattern" in one else chance.choice(TEXTS)[: one.get("maxLength", 100)]
            case "array":
                return self._list(one, known, chance, depth)
            case "object":
                return self._object(one, known, chance, depth)
        return chance.choice(TEXTS)

    def _list(self, one: Mapping[str, Any], known: Known, chance: Random, depth: int) -> list[Any]:
        parts = one.get("prefixItems")
        if parts is None:
            parts = [one.get("items", {})] * max(one.get("minItems", 1), 1)
        return [
            item for part in parts if (item := self._make_value(part, known, chance, depth + 1)) is not None
        ]

    def _object(self, one: Mapping[str, Any], known: Known, chance: Random, depth: int) -> dict[str, Any]:
        fields, needed = one.get("properties", {}), set(one.get("required", ()))
        if not fields:
            return {"place": "Toledo"}
        made = {}
        for name, inner in fields.items():
            if name in needed or chance.random() < (USUAL if name == "rect" else 0.25):
                value = known(self._make_value(inner, known, chance, depth + 1), name)
                if value is not None:
                    made[name] = value
        return _fitting(made, set())


def _fitting(made: dict[str, Any], sent: set[str]) -> dict[str, Any]:
    """Return *made*, an extension of *sent*, without new fields that lack what they need, and with new polygons inside
    their rect.
    """
    fitting = {name: one for name, one in made.items() if name in sent or NEEDS.get(name, name) in made}
    rect = fitting.get("rect")
    if "polygon" in fitting and "polygon" not in sent and isinstance(rect, list) and len(rect) == 4:
        x, y, w, h = rect
        fitting["polygon"] = [[x, y], [x + w, y], [x + w, y + h]]
    return fitting


def list_given(value: Any) -> Iterator[Path]:
    """Yield the non-empty fields that *value* contains, each by its path from the top."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if inner is not None and inner != [] and inner != {}:
                yield (str(name),)
                yield from ((str(name), *path) for path in list_given(inner))
    elif isinstance(value, list):
        for one in value:
            yield from list_given(one)
