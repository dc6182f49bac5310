"""The command that describes a document: sets its attributes and its own fields."""

from __future__ import annotations

import json
from typing import Annotated, Any

from armarium_cli.api import Commands, Refused, Topic, answer, plural, project_session
from armarium_documents.cli.naming import document_id
from armarium_documents.flags import FLAGS

commands = Commands(Topic.pages)

FIELDS = (
    *("name", "prototype_key", "page_label", "language", "script", "direction", "date_original", "date_iso"),
    *("case_id", "source_authority", *FLAGS),
)
"""Fields of a document that are one word or text, named `document.<field>` as in a dataset query."""

_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


@commands.example("set 0001.jpg place=Toledo document.date_iso=1750-03")
def set_(
    document: Annotated[str, "The document by name, path or id (armarium ls shows them)."],
    values: Annotated[
        list[str],
        "KEY=VALUE …: place=Toledo; pages:=12 (JSON); place= (cleared); document.date_iso=1750 (one of its own fields).",
    ],
) -> None:
    """Describe a document: set its attributes and its own fields; anything not named stays as it is.

    A value is a text, unless the document's kind declares the attribute a number or a checkbox; KEY:=JSON
    sets any value. An empty one clears it.
    """
    with project_session() as session:
        identity = document_id(session, document)
        node = session.get(f"/api/documents/{identity}")
        described = session.get(f"/api/documents/{identity}/effective-attributes")
        kinds = {declared["key"]: declared["type"] for declared in described["declarations"]}
        attributes, fields = dict(node["attributes"]), dict[str, Any]()
        changed = [_assign(text, attributes, fields, kinds) for text in values]
        body = {**fields, **({"attributes": attributes} if attributes != node["attributes"] else {})}
        if not body:
            answer(
                {"document_id": identity, "changed": [], "audit_id": None},
                f"{node['name']} already has these values; nothing was changed.",
            )
            return
        result = session.ask("PATCH", f"/api/documents/{identity}", body=body)
    keys = list(dict.fromkeys(changed))
    answer(
        {
            "document_id": identity,
            "changed": keys,
            "attributes": result["attributes"],
            "audit_id": result["audit_id"],
        },
        f"Wrote {plural(len(keys), 'value')} of {result['name']}. Take it back with: armarium undo {result['audit_id']}",
    )


def _assign(text: str, attributes: dict[str, Any], fields: dict[str, Any], kinds: dict[str, str]) -> str:
    """Put one KEY=VALUE where it belongs and return its key."""
    key, mark, value = text.partition("=")
    as_json = key.endswith(":")
    key = key.removesuffix(":")
    if not mark or not key.strip():
        raise Refused(f"{text!r} is not of the form KEY=VALUE; write place=Toledo, or place= to clear it.")
    if key.startswith("document."):
        name = key.removeprefix("document.")
        if name not in FIELDS:
            raise Refused(f"There is no field {key} to set; the fields are {', '.join(FIELDS)}.")
        fields[name] = _parse_value(key, value, "checkbox" if name in FLAGS else "text", as_json)
    elif (parsed := _parse_value(key, value, kinds.get(key, "text"), as_json)) is None:
        attributes.pop(key, None)
    else:
        attributes[key] = parsed
    return key


def _parse_value(key: str, value: str, kind: str, as_json: bool) -> Any:
    if as_json:
        try:
            return json.loads(value)
        except ValueError:
            raise Refused(
                f'The value after {key}:= is not JSON; write {key}:=12, {key}:=true or {key}:=["a"].'
            ) from None
    if not value:
        return None
    if kind in ("number", "rating"):
        try:
            number = float(value)
        except ValueError:
            raise Refused(f"{key} is a {kind}, and {value!r} is not one.") from None
        return int(number) if number.is_integer() else number
    if kind == "checkbox":
        if value.casefold() not in _TRUTH:
            raise Refused(f"{key} is a checkbox; write {key}=true or {key}=false.")
        return _TRUTH[value.casefold()]
    return value
