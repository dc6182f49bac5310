"""Writes a TextLine: its words as Strings if they make up its text, else the text as one String."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from armarium_formats.alto.line_reader import derived_space
from armarium_formats.alto.marking import add_attributes, as_kept, attributes_by_word
from armarium_formats.alto.own import clean_extras
from armarium_formats.alto.profile import schema
from armarium_formats.alto.shapes import BOX, plain
from armarium_formats.alto.strings import Split, says_blanks, split_line, touch
from armarium_formats.alto.writer_state import Writing, is_moved
from armarium_formats.glyphs import glyphs_of
from armarium_formats.markup.fragments import (
    attribute_of,
    attributes_of,
    element,
    illegal_characters,
    lawful,
    name_of,
    text_of,
)
from armarium_formats.numbers import share_text
from armarium_formats.page_model import PageSegment, PageText, checksum, kept_by
from armarium_formats.shapes import bounds

_LONGEST_VARIANT = 3
"""Characters: the schema takes no more."""


class Textlines(Writing):
    """The part of the writer that writes lines; the rest of it is in `writer`."""

    def _line(self, line: PageSegment, indent: str) -> None:
        entry: dict[str, Any] = {}
        extras: dict[str, Any] = {}
        if line.id not in self.ids.of_segment:  # put around words that had no line
            attributes = {"ID": self.ids.make(line.id)}
            entry["wrapper"] = True
            source: dict[str, str] = {}
        else:
            attributes = {"ID": self.ids.of_segment[line.id]}
            extras, source = self._begin(line, entry)
        if line.is_furniture:
            entry["furniture"] = True
        self._label(line, source)
        if line.language or line.direction:
            self._facts(line, "TextLine", attributes, entry)
        shape = self._outline(line, extras, attributes, always=True)
        box = {key: attributes[key] for key in BOX} if shape else {}
        if line.baseline:
            attributes["BASELINE"] = self.places(line.baseline)[1]
        self._state_maker(line, source, attributes)
        self._write_other_attributes("TextLine", source, attributes, entry)
        strings = self._strings(line, box, entry, indent + "  ")
        if entry:
            self.own_segments[attributes["ID"]] = entry
        inner = f"{indent}  {shape}" if shape else ""
        self.out.append(f"{indent}<TextLine{attributes_of(attributes)}>{inner}{strings}{indent}</TextLine>")

    def _state_maker(self, line: PageSegment, source: dict[str, str], attributes: dict[str, str]) -> None:
        """Refer to the step by which the line's text came about, and state whether a person made or checked it."""
        maker = line.texts[0].maker if line.texts else None
        if maker is None:
            return
        references, _ = self._resolve_references(source.pop("PROCESSINGREFS", ""))
        attributes["PROCESSINGREFS"] = " ".join([*references, self.steps[maker]])
        source.pop("CS", None)
        if maker.by_person:
            attributes["CS"] = "true"

    def _label(self, segment: PageSegment, source: dict[str, str]) -> None:
        """The kind of a line or word as a tag."""
        if segment.kind_raw or "TAGREFS" in source:
            refs = self.tagging.refs(segment.kind, segment.kind_raw or None, source.get("TAGREFS", ""))
            if refs:
                source["TAGREFS"] = refs
            else:
                source.pop("TAGREFS", None)

    # ------------------------------------------------------------------------------------------ strings

    def _strings(self, line: PageSegment, box: dict[str, str], entry: dict[str, Any], indent: str) -> str:
        split = split_line(line)
        if split is None:
            if line.children:
                self.lose(
                    "words of lines",
                    "they do not add up to the text of their line, which counts; that was written as one "
                    "String",
                    len(line.children),
                )
            return self._whole_line(line, box, entry, indent)
        if split.given:
            self.lose(
                "texts of words", "they had none of their own and got those of their line", len(split.words)
            )
        if not any(split.blanks) and len(split.words) > 1 and self.says_blanks():
            words = [word for word, _ in split.words]
            if touch(words):
                split.text = "".join(text for _, text in split.words) + split.hyphen
        self._texts_of_words(line, split, entry)
        if split.moved or is_moved(line.children):
            entry["sequence"] = [self.ids.of_segment[word.id] for word in line.children]
        extras = kept_by("alto", line.texts[0]) if line.texts else {}
        spaces = extras.get("spaces")
        if spaces is not None and len(spaces) != len(split.words):
            spaces = None
        parts: list[str] = []
        last = len(split.words) - 1
        marked = self._marks_of_words(line, split, entry)
        for index, (word, text) in enumerate(split.words):
            parts.append(self._word(word, text, indent, marked[index] if marked else {}))
            if index < last:
                if split.blanks[index]:
                    measures = (spaces[index] if spaces else None) or derived_space(
                        word, split.words[index + 1][0]
                    )
                    parts.append(f"<SP{self._measures('SP', measures)}/>")
            elif spaces and spaces[index] is not None:
                parts.append(f"<SP{self._measures('SP', spaces[index])}/>")
        if split.hyphen:
            measures = {**(extras.get("hyphen") or {}), "CONTENT": split.hyphen}
            parts.append(f"<HYP{self._measures('HYP', measures)}/>")
        return "".join(parts)

    def _marks_of_words(
        self, line: PageSegment, split: Split, entry: dict[str, Any]
    ) -> list[dict[str, str]] | None:
        """Return what the marks of a line's text come to on its words."""
        if not line.texts or not line.texts[0].marks:
            return None
        self._keep_marks(line, entry)
        places: list[tuple[int, int]] = []
        at = 0
        for _, text in split.words:
            at = line.text.index(text, at) if text else at
            places.append((at, at + len(text)))
            at += len(text)
        return attributes_by_word(line.texts[0], places, self)

    def _keep_marks(self, segment: PageSegment, entry: dict[str, Any]) -> None:
        if marks := as_kept(segment.texts[0]):
            entry["marks"] = {"of": checksum(segment.text), "all": marks}

    @cache  # noqa: B019 - a writer lives for one file
    def says_blanks(self) -> bool:
        """Return whether a reader can see from the file that it marks spaces by SP."""
        splits = [split for line in self.page.of_kind("line") if (split := split_line(line)) and split.blanks]
        parted = sum(1 for split in splits if any(split.blanks))
        return says_blanks(parted, len(splits) - parted)

    def _measures(self, name: str, attributes: dict[str, str]) -> str:
        """Return the attributes of an SP or HYP that ALTO accepts unchanged, with unique ids."""
        allowed = schema().elements[name].attributes
        accepted = {
            key: value
            for key, value in attributes.items()
            if key in allowed and key != "ID" and schema().fits(allowed[key], value)
        }
        if "ID" in attributes and name == "SP":
            accepted = {"ID": self.ids.take(attributes["ID"]), **accepted}
        lost = sum(1 for key in attributes if key not in accepted)
        if lost:
            self.lose(
                f"attributes of {name}",
                "ALTO 4.4 has no place for them, or does not allow their values",
                lost,
            )
        return attributes_of(accepted)

    def _whole_line(self, line: PageSegment, box: dict[str, str], entry: dict[str, Any], indent: str) -> str:
        """Write the line's text as one String without an id, its alternatives inside."""
        first = line.texts[0] if line.texts else PageText("")
        attributes: dict[str, str] = {"CONTENT": first.text}
        extras = kept_by("alto", first)
        source = dict(extras.get("string") or {})
        if first.confidence is not None:
            attributes["WC"] = share_text(first.confidence)
        self._marks_of_string(line, source, attributes, entry)
        inside = self._inside_string(first, line.texts[1:], attributes)
        leftover: dict[str, Any] = {}
        self._write_other_attributes("String", source, attributes, leftover)
        if leftover:
            self.lose(
                "attributes of String",
                "ALTO 4.4 has no place for them, or does not allow their values",
                len(leftover["alto"]["attributes"]),
            )
        attributes.update(box)
        if line.texts:
            self._texts_as_read(
                line,
                first.text
                if first.text or len(line.texts) > 1 or first.confidence is not None or inside
                else None,
                entry,
            )
        return indent + element("String", attributes, inside)

    def _marks_of_string(
        self, segment: PageSegment, source: dict[str, str], attributes: dict[str, str], entry: dict[str, Any]
    ) -> None:
        """Add what the marks of a text come to on the String that it is."""
        if segment.texts and segment.texts[0].marks:
            self._keep_marks(segment, entry)
            (marked,) = attributes_by_word(segment.texts[0], [(0, len(segment.text))], self)
            _add(marked, source, attributes)

    def _word(self, word: PageSegment, text: str, indent: str, marked: dict[str, str]) -> str:
        entry: dict[str, Any] = {}
        attributes = {"ID": self.ids.of_segment[word.id]}
        extras, source = self._begin(word, entry)
        _add(marked, source, attributes)
        if text == word.text:
            self._marks_of_string(word, source, attributes, entry)
        if word.is_furniture:
            entry["furniture"] = True
        if word.language or word.direction:
            self._facts(word, "String", attributes, entry)
        if word.kind_raw or source:
            self._label(word, source)
        shape = self._outline(word, extras, attributes, always=False)
        if word.baseline:
            self.lose("baseline of a word", "ALTO has baselines on lines only")
        attributes["CONTENT"] = text
        inside = shape
        if word.texts:
            first = word.texts[0]
            if first.confidence is not None:
                attributes["WC"] = share_text(first.confidence)
            if first.extras or len(word.texts) > 1:
                inside += self._inside_string(first, word.texts[1:], attributes)
            if first.text == text and "<Glyph" not in inside:
                inside += "".join(_glyphs(first))
            read = text or len(word.texts) > 1 or first.confidence is not None or inside != shape
            self._texts_as_read(word, text if read else None, entry)
        elif text:
            entry["texts"] = {"of": checksum(lawful(text)), "all": []}
        self.lose_control_characters(text)
        self._write_other_attributes("String", source, attributes, entry)
        if entry:
            self.own_segments[attributes["ID"]] = entry
        return indent + element("String", attributes, inside)

    def _inside_string(self, first: PageText, others: list[PageText], attributes: dict[str, str]) -> str:
        """Write alternatives and glyphs of a String; facts about its own text become attributes."""
        extras = kept_by("alto", first)
        allowed = schema().elements["String"].attributes
        for key, value in (extras.get("attributes") or {}).items():
            if key in allowed and key not in attributes and schema().fits(allowed[key], value):
                attributes[key] = value
            elif key not in attributes:
                self.lose(f"attribute String/@{key}", "ALTO 4.4 has no place for its value")
        inside = ""
        for other in others:
            purpose = kept_by("alto", other).get("purpose")
            more = f' PURPOSE="{attribute_of(purpose)}"' if purpose else ""
            inside += f"<ALTERNATIVE{more}>{text_of(other.text)}</ALTERNATIVE>"
        for fragment in extras.get("elements") or ():
            settled = (
                self.ids.settle(fragment)
                if schema().is_valid(fragment) and name_of(fragment) == "Glyph"
                else None
            )
            if settled is None:
                self.lose(f"element String/{name_of(fragment)}", "ALTO 4.4 has no place for it as it is")
            else:
                inside += settled
        return inside

    # ------------------------------------------------------------------------- texts that strings do not say

    def _texts_of_words(self, line: PageSegment, split: Split, entry: dict[str, Any]) -> None:
        """Write the line's own texts where they differ from what its words say."""
        first = line.texts[0] if line.texts else None
        simple = (
            first is not None
            and len(line.texts) == 1
            and first.text == split.text != ""
            and first.confidence is None
            and first.kind == "transcription"
            and not clean_extras(first.extras)
        )
        if simple or (not line.texts and not split.text):
            return
        of = checksum(split.text) if split.text else None
        if first is not None and not first.text:
            self.lose(
                "empty texts",
                "ALTO does not distinguish an empty text from none; they are in a tag of Armarium's",
            )
        elif first is not None and first.text != split.text:
            self.lose(
                "blanks in texts",
                "ALTO has one blank between words, or none; the text is in a tag of Armarium's",
            )
        if len(line.texts) > 1:
            self.lose(
                "alternatives of lines",
                "ALTO has them on strings only; they are in a tag of Armarium's",
                len(line.texts) - 1,
            )
        if first is not None and first.confidence is not None:
            self.lose(
                "confidence of a line's text", "ALTO states it on strings only; it is in a tag of Armarium's"
            )
        entry["texts"] = {"of": of, "all": [self._text_as_kept(text, split.text) for text in line.texts]}

    def _texts_as_read(self, segment: PageSegment, read: str | None, entry: dict[str, Any]) -> None:
        """Store what a String and its alternatives cannot express about the texts."""
        texts = segment.texts
        plain = all(
            text.kind == "transcription"
            and not (text.extras and clean_extras(text.extras))
            and (number == 0 or text.confidence is None)
            for number, text in enumerate(texts)
        )
        if plain and read == texts[0].text and not illegal_characters("".join(text.text for text in texts)):
            return
        if read is None:
            self.lose(
                "empty texts",
                "ALTO does not distinguish an empty text from none; they are in a tag of Armarium's",
            )
        sure = sum(1 for text in texts[1:] if text.confidence is not None)
        if sure:
            self.lose(
                "confidence of alternatives", "ALTO has no place for it; it is in a tag of Armarium's", sure
            )
        reread = lawful(read) if read is not None else None
        entry["texts"] = {
            "of": checksum(reread) if reread is not None else None,
            "all": [
                self._text_as_kept(text, reread if number == 0 else None) for number, text in enumerate(texts)
            ],
        }
        if read is not None and segment.kind == "line":
            self.lose_control_characters(read)

    def _text_as_kept(self, text: PageText, read: str | None) -> list[Any]:
        extras = dict(clean_extras(text.extras)) if text.extras else {}
        return [
            None if text.text == read and read is not None else text.text,
            text.confidence,
            text.kind,
            extras or None,
        ]


def _add(marked: dict[str, str], source: dict[str, str], attributes: dict[str, str]) -> None:
    """Add the attributes that say a mark: references to those of the String, others as they are."""
    add_attributes(source, {key: value for key, value in marked.items() if key.endswith("REFS")})
    attributes.update({key: value for key, value in marked.items() if not key.endswith("REFS")})


def _glyphs(text: PageText) -> Iterator[str]:
    """Yield a Glyph for each code point, as ALTO has them; those of one character stand in the same place."""
    for letters, corners, probability, others in glyphs_of(text):
        left, top, right, bottom = bounds(corners)
        measures = (left, top, right - left, bottom - top)
        box = {key: plain(round(value, 2)) for key, value in zip(BOX, measures, strict=True)}
        sure = {} if probability is None else {"GC": share_text(probability)}
        inside = ""
        for other, chance in others if len(letters) == 1 else ():
            if len(other) <= _LONGEST_VARIANT:
                inside += element(
                    "Variant", {"CONTENT": other, **({} if chance is None else {"VC": share_text(chance)})}
                )
        for letter in letters:
            yield element("Glyph", {"CONTENT": letter, **sure, **box}, inside)
