"""Tags of ALTO: what blocks, lines and strings reference, and which of them names a type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armarium_formats.alto.own import TYPE
from armarium_formats.markup.fragments import element
from armarium_formats.markup.identities import Identities
from armarium_formats.markup.languages import language_and_script, languages

if TYPE_CHECKING:
    from lxml import etree

_KIND_WORDS = frozenset(
    {"", "type", "region", "line", "block", "zone", "layout", "structure", "structural", "role"}
)
"""Values of a tag's TYPE with which its LABEL says what the thing is; others (a language, a split) say something else of it."""

_LANGUAGE_WORDS = frozenset({"language", "lang"})
"""Values of a tag's TYPE with which its LABEL is a language, as kraken has it."""


@dataclass(slots=True)
class Tag:
    """A tag with its element's name, its attributes and the XML it may hold."""

    element: str
    attributes: dict[str, str] = field(default_factory=dict)
    xml: str = ""

    @classmethod
    def read(cls, name: str, element: etree._Element) -> Tag:
        from lxml import etree

        inside = [
            etree.tostring(part, encoding="unicode", with_tail=False)
            for holder in element
            if isinstance(holder.tag, str)
            for part in holder
            if isinstance(part.tag, str)
        ]
        return cls(name, {str(key): str(value) for key, value in element.attrib.items()}, "".join(inside))

    @classmethod
    def from_json(cls, value: Any) -> Tag:
        return cls(value["element"], dict(value["attributes"]), value.get("xml") or "")

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"element": self.element, "attributes": self.attributes}
        if self.xml:
            fields["xml"] = self.xml
        return fields

    @property
    def identity(self) -> str:
        return self.attributes.get("ID", "")

    @property
    def label(self) -> str:
        return self.attributes.get("LABEL", "")

    @property
    def is_ours(self) -> bool:
        return self.attributes.get("TYPE") == TYPE

    @property
    def names_a_kind(self) -> bool:
        """Return whether its label is a type of what references it; always so for a layout tag."""
        if self.element == "LayoutTag":
            return not self.names_a_language and not self.is_ours
        return self.element != "NamedEntityTag" and self.attributes.get("TYPE", "").casefold() in _KIND_WORDS

    @property
    def names_a_language(self) -> bool:
        """Return whether its label is the language of what references it."""
        return self.attributes.get("TYPE", "").casefold() in _LANGUAGE_WORDS


def kind_in(refs: str, tags: Mapping[str, Tag]) -> str | None:
    """Return the label of the first tag among *refs* that names a type, layout tags first."""
    label: str | None = None
    for ref in refs.split():
        tag = tags.get(ref)
        if tag is not None and tag.names_a_kind:
            if tag.element == "LayoutTag":
                return tag.label
            label = tag.label if label is None else label
    return label


def language_in(refs: str, tags: Mapping[str, Tag]) -> str | None:
    """Return the language of the first language tag among *refs*, in BCP 47."""
    for ref in refs.split():
        tag = tags.get(ref)
        if tag is not None and tag.names_a_language and (language := _language(tag.label)):
            return language
    return None


def _language(label: str) -> str | None:
    """Return BCP 47 for "lat", "la" or "Latin"; None for an undetermined or unknown language."""
    language = languages().get(label) or language_and_script(label)[0]
    return None if language == "und" else language


class Tagging:
    """The tags of one file while it is written: existing ones, and new ones for types without a tag."""

    def __init__(self, kept: list[Any], ids: Identities, renamed: dict[str, str]) -> None:
        self.ids = ids
        self.tags: dict[str, Tag] = {}
        self.by_label: dict[tuple[str, str], str] = {}
        self.prefixes: dict[tuple[str, str], str] = {}
        for fields in kept:
            tag = Tag.from_json(fields)
            if not tag.identity or tag.identity in self.tags:
                continue
            self.tags[tag.identity] = tag
            renamed[tag.identity] = ids.take(tag.identity)
            if tag.names_a_kind:
                use = "line" if tag.attributes.get("DESCRIPTION", "").startswith("line type") else ""
                self.by_label.setdefault((use, tag.label), tag.identity)
        self.renamed = renamed
        self.numbers = {"BT": 0, "LT": 0, "WT": 0}

    def refs(self, kind: str, label: str | None, existing: str) -> str:
        """Return the references of a block, line or word: the existing ones, with the type's corrected."""
        refs = existing.split()
        if kind_in(existing, self.tags) != label:
            for ref in refs:
                tag = self.tags.get(ref)
                if tag is not None and tag.names_a_kind:
                    refs.remove(ref)
                    break
            if label:
                refs.insert(0, self._tag_for(kind, label))
            if kind_in(" ".join(refs), self.tags) != label:  # a second one that names a kind stood behind
                refs = [ref for ref in refs if ref not in self.tags or not self.tags[ref].names_a_kind]
                if label:
                    refs.insert(0, self._tag_for(kind, label))
        return " ".join(refs)

    def _tag_for(self, kind: str, label: str) -> str:
        use = "line" if kind == "line" else ""
        tag = self.by_label.get((use, label)) or self.prefixes.get((kind, label))
        if tag is not None:
            return tag
        prefix, word = {"region": ("BT", "block"), "line": ("LT", "line")}.get(kind, ("WT", "word"))
        while True:
            self.numbers[prefix] += 1
            identity = f"{prefix}{self.numbers[prefix]}"
            if identity not in self.tags:
                break
        self.renamed[identity] = self.ids.take(identity)
        self.tags[identity] = Tag(
            "OtherTag", {"ID": identity, "LABEL": label, "DESCRIPTION": f"{word} type {label}"}
        )
        self.prefixes[kind, label] = identity
        return identity

    def entity(self, kind: str, words: str, uri: str | None) -> str:
        """Return the id of the tag of a named entity, which is made if there is none yet."""
        label = " ".join(words.split())
        for identity, tag in self.tags.items():
            attributes = tag.attributes
            if (
                tag.element == "NamedEntityTag"
                and tag.label == label
                and attributes.get("TYPE") == kind
                and attributes.get("URI") == uri
            ):
                return identity
        number = 1 + sum(tag.element == "NamedEntityTag" for tag in self.tags.values())
        while (identity := f"NE{number}") in self.tags:
            number += 1
        self.renamed[identity] = self.ids.take(identity)
        attributes = {"ID": identity, "TYPE": kind, "LABEL": label} | ({"URI": uri} if uri else {})
        self.tags[identity] = Tag("NamedEntityTag", attributes)
        return identity

    def write_tags(self) -> list[str]:
        """The tags as they stand in a file."""
        elements: list[str] = []
        for identity, tag in self.tags.items():
            attributes: dict[str, str] = {
                key: tag.attributes[key]
                for key in ("ID", "TYPE", "LABEL", "DESCRIPTION", "URI")
                if key in tag.attributes
            }
            attributes["ID"] = self.renamed[identity]
            inside = f"<XmlData>{tag.xml}</XmlData>" if tag.xml else ""
            elements.append(element(tag.element, attributes, inside))
        return elements
