"""Stores and counts what a PAGE file states and the page model has no field for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium_formats.markup.fragments import local_name
from armarium_formats.markup.noting import Notes
from armarium_formats.pagexml.fragments import KEPT, keep

if TYPE_CHECKING:
    from lxml import etree


class Keeper(Notes):
    """The deviations noted and the things stored of one PAGE file."""

    def element(self, parent: str, child: etree._Element, attributes: dict[str, str]) -> list[str]:
        """Store a child the model has no field for, as fragments; restore what an earlier export stored."""
        if not isinstance(child.tag, str):
            return []
        if local_name(child.tag) != "UserDefined":
            self.kept[f"element {parent}/{local_name(child.tag)}"] += 1
            return [keep(child)]
        restored: list[str] = []
        own: list[str] = []
        for entry in child:
            name, value = str(entry.get("name", "")), str(entry.get("value", ""))
            if entry.get("description") != KEPT:
                own.append(keep(entry))
            elif "/@" in name:
                attributes[name.partition("/@")[2]] = value
            else:
                self.kept[f"element {parent}/{name}"] += 1
                restored.append(value)
        if own:
            self.kept[f"element {parent}/UserDefined"] += 1
            restored.append(f"<UserDefined>{''.join(own)}</UserDefined>")
        return restored

    def attach(
        self, name: str, extras: dict[str, Any], attributes: dict[str, str], fragments: list[str]
    ) -> None:
        if attributes:
            extras["attributes"] = {local_name(key): value for key, value in attributes.items()}
            for key in extras["attributes"]:
                self.kept[f"attribute {name}/@{key}"] += 1
        if fragments:
            extras["elements"] = fragments
