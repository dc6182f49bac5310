"""What a PAGE file says and the page model has no field for, set aside and counted while the file is read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from armarium_formats.pagexml.fragments import KEPT, keep, local_name

if TYPE_CHECKING:
    from lxml import etree


class Keeper:
    """The leniencies noted and the things kept of one file."""

    def __init__(self) -> None:
        self.kept: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()

    def element(self, parent: str, child: etree._Element, attributes: dict[str, str]) -> list[str]:
        """A child the model has no field for, as fragments; what an earlier export set aside comes back as it was."""
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

    def note(self, sentence: str) -> None:
        """Remember a leniency; equal ones are counted."""
        self.noted[sentence] += 1

    def sentences(self) -> list[str]:
        """The notes, each with how often."""
        return [note + (f" ({count} times)" if count > 1 else "") + "." for note, count in self.noted.items()]
