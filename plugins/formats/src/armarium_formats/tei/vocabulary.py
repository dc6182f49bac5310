"""Which TEI elements are blocks, breaks, furniture or readings, and the meaning of their attribute values."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, TypeAlias
from urllib.parse import unquote

from armarium_formats.page_model import PageModel, PageSegment

NAMESPACE: Final = "http://www.tei-c.org/ns/1.0"
XML: Final = "{http://www.w3.org/XML/1998/namespace}"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROOTS: Final = frozenset({"TEI", "teiCorpus", "TEI.2", "text", "facsimile", "sourceDoc", "surface"})
"""A file may begin with any of these; the last four without a header."""

REGIONS: Final = {
    "p": "paragraph", "ab": None, "head": "heading", "trailer": "trailer", "lg": "verse", "list": "list",
    "table": "TableRegion", "cell": "TableCell", "figure": "figure", "sp": "speech",
    "titlePage": "title-page", "opener": "opener", "closer": "closer", "postscript": "postscript",
    "epigraph": "epigraph", "argument": "argument", "fw": None, "note": "note", "entry": "entry",
}  # fmt: skip
"""Elements whose lines are a region of the page, and the kind it has when nothing else is said."""

BREAKS: Final = _words(
    """
    addrLine address argument author back bibl biblFull biblStruct body byline caesura camera castGroup
    castItem castList catDesc category cit classCode closer dateline def desc div div1 div2 div3 div4 div5
    div6 div7 docAuthor docDate docEdition docImprint docTitle entryFree etym event floatingText form front
    group head imprimatur item l label listBibl listEvent listObject listOrg listPerson listPlace listRef
    listWit location nym opener org person place postscript row salute sense set sound signed sp speaker
    spGrp stage taxonomy text titlePart trailer u view witness
    """
)
"""Elements that begin and end a line but are not a region."""

INLINE: Final = _words(
    """
    abbr add am app c choice corr damage date del emph ex expan foreign forename g geogName gloss handShift
    hi lem mentioned measure mod name num orgName orig pc persName placeName q quote rdg redo ref reg
    restore retrace roleName rs s said secl seg settlement sic soCalled subst supplied surname surplus term
    time title unclear undo unit w zone
    """
)

UNSEEN: Final = _words(
    """
    teiHeader figDesc index interp interpGrp span spanGrp metamark fs fLib fvLib fsdDecl standOff xenoData facsimile
    sourceDoc certainty respons precision listTranspose substJoin addSpan delSpan damageSpan alt altGrp join
    joinGrp link linkGrp timeline graphic media binaryObject figure-note path surface surfaceGrp zone line
    formula-note witDetail noteGrp-none
    """
)
"""Elements that put no text on the page."""

KEPT_IN_ZONES: Final = _words("graphic media path desc gloss label metamark figure note anchor milestone")
"""Elements that stand in zones and surfaces beside zones; they are kept and written back."""

LINE_POINTERS: Final = frozenset({"lb", "l", "s", "seg", "line"})
WORD_POINTERS: Final = frozenset({"w", "pc", "c", "name", "persName", "placeName", "hi", "rs", "num", "date"})

ORIGINAL: Final = frozenset({"abbr", "sic", "orig", "am"})
"""In a `choice`: what stands on the page. It is the text that counts."""
EDITED: Final = frozenset({"expan", "corr", "reg", "ex", "supplied"})
"""In a `choice`: what an editor makes of it. It goes into the reading of kind `normalized_text`."""

EDITED_KIND: Final = "normalized_text"

READING_KINDS: Final = _words(
    "normalized_text translation transliteration markdown html svg as_read_aloud description coordinate world-point"
    " music drawing"
)
"""Kinds of readings that a project has from its beginning; another in a file is taken as a transcription."""

MARGINS: Final = re.compile(r"margin|left|right|side|outer|inner|marg", re.IGNORECASE)
FEET: Final = re.compile(r"foot|bottom|bot\b|foot$", re.IGNORECASE)

FURNITURE_WORDS: Final = {
    "header": "header", "head": "header", "runningtitle": "header", "footer": "footer",
    "pagenum": "page-number", "pagenumber": "page-number", "page": "page-number", "folio": "page-number",
    "catch": "catch-word", "catchword": "catch-word", "sig": "signature-mark", "signature": "signature-mark",
}  # fmt: skip
"""Types of `fw` -> our kinds (those of PAGE)."""

FURNITURE_KINDS: Final = {
    "header": "header",
    "footer": "footer",
    "page-number": "pageNum",
    "catch-word": "catch",
    "signature-mark": "sig",
}

LINE_TYPES: Final = frozenset({"line", "textline", "baseline", "text-line"})
WORD_TYPES: Final = frozenset({"word", "string", "token"})
REGION_TYPES: Final = frozenset(
    {"region", "textregion", "block", "textblock", "column", "zone", "printspace"}
)
"""Words in @type or @rendition of a zone that say what it is and nothing more."""

DIRECTIONS: Final = {
    "ltr": "direction: ltr",
    "rtl": "direction: rtl",
    "ttb": "writing-mode: vertical-rl",
    "btt": "writing-mode: sideways-lr",
}
"""Our directions in the CSS of @style (TEI Guidelines, vertical and other writing modes)."""

_DIRECTION = re.compile(r"(?<![\w-])direction\s*:\s*(ltr|rtl)(?![\w-])")
_MODE = re.compile(r"writing-mode\s*:\s*([\w-]+)")
_OTHER = re.compile(r"--direction\s*:\s*([\w-]+)")
_MODES = {
    "vertical-rl": "ttb",
    "vertical-lr": "ttb",
    "tb-rl": "ttb",
    "sideways-rl": "ttb",
    "sideways-lr": "btt",
}


def style_of(direction: str) -> str:
    """Return a direction as CSS; one without a CSS word as a custom property."""
    return DIRECTIONS.get(direction) or f"--direction: {re.sub(r'[^A-Za-z0-9_-]', '-', direction)}"


def direction_of(style: str | None) -> str | None:
    """Return the direction that a @style states, or None."""
    if not style:
        return None
    if match := _OTHER.search(style):
        return match.group(1)
    if (match := _MODE.search(style)) and match.group(1) in _MODES:
        return _MODES[match.group(1)]
    match = _DIRECTION.search(style)
    return match.group(1) if match else None


_TAG = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_SCRIPT = re.compile(r"-([A-Z][a-z]{3})(?=-|$)")
OWN_LANGUAGE: Final = "-x-language"
OWN_SCRIPT: Final = "-x-script"
"""Ends of a tag of which one half is repeated from what stands around."""


def language_tag(language: str | None, script: str | None) -> str | None:
    """Return xml:lang for a language and a script; None if they make no valid tag (or are missing)."""
    if not language and not script:
        return None
    tag = language or "und"
    match = _SCRIPT.search(tag)
    if script and match is None:
        first, _, rest = tag.partition("-")
        tag = f"{first}-{script}" + (f"-{rest}" if rest else "")
    elif script and match is not None and match.group(1) != script:
        return None
    return tag if _TAG.fullmatch(tag) else None


def language_of(tag: str | None) -> tuple[str | None, str | None]:
    """Return language and script of an xml:lang, the script taken from the tag."""
    tag = (tag or "").strip().replace("_", "-")
    if not tag or not _TAG.fullmatch(tag):
        return None, None
    if tag.endswith(OWN_SCRIPT):
        return None, language_of(tag.removesuffix(OWN_SCRIPT))[1]
    if tag.endswith(OWN_LANGUAGE):
        return language_of(tag.removesuffix(OWN_LANGUAGE))[0], None
    match = _SCRIPT.search(tag)
    if match is None:
        return tag, None
    rest = tag[: match.start()] + tag[match.end() :]
    return (None if rest == "und" else rest), match.group(1)


def is_marginal(kind: str | None) -> bool:
    """Return whether a region of this kind is written as a marginal note."""
    return (kind or "").rpartition(":")[2].casefold().startswith("margin")


_UNWRITABLE = re.compile(r"[\s%\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")


def encode_kind(word: str) -> str:
    """Encode a kind as one word of TEI: spaces and the like as `%20;`, also the first letter of a reserved
    word.
    """
    if word.casefold() in LINE_TYPES | WORD_TYPES | {"region", "none"}:
        return f"%{ord(word[0]):02X};{word[1:]}"
    return _UNWRITABLE.sub(lambda match: f"%{ord(match.group()):02X};", word)


def decode_kind(word: str) -> str:
    """Decode what `encode_kind` encoded."""
    return re.sub(r"%([0-9A-Fa-f]{2,6});", lambda match: _character(match.group(1), match.group(0)), word)


def _character(digits: str, encoded: str) -> str:
    number = int(digits, 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else encoded


def type_and_subtype(kind: str | None) -> tuple[str | None, str | None]:
    """Return @type and @subtype for a kind; one with a colon has both."""
    if not kind:
        return None, None
    first, colon, rest = kind.partition(":")
    if colon and first.strip() and rest.strip():
        return encode_kind(first), encode_kind(rest)
    return encode_kind(kind).replace(":", "%3A;"), None


def type_in_text(kind: str | None, *, furniture: bool = False) -> str | None:
    """Return the @type of a block for a kind: its last word, for furniture in TEI's words (header, pageNum,
    catch, sig).
    """
    first, rest = type_and_subtype(kind)
    word = rest or first
    return FURNITURE_KINDS.get(word or "", word) if furniture else word


_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://")
_NO_URL = re.compile(r"[\x00-\x20<>\"{}|\\^`\[\]\x7f]|%(?![0-9A-Fa-f]{2})")


def url_of(image: str) -> str:
    """Return the @url of a picture: an address unchanged, a file name percent-encoded."""
    if _ADDRESS.match(image) is None:
        for character in "%[]":
            image = image.replace(character, f"%{ord(character):02X}")
    return _NO_URL.sub(lambda match: f"%{ord(match.group()):02X}", image)


def image_of(url: str) -> str:
    """Return the picture that an @url names: an address unchanged, a file name decoded."""
    url = url.strip()
    if _ADDRESS.match(url) is not None:
        return url
    try:
        return unquote(url, errors="strict")
    except UnicodeDecodeError:
        return url


_Around: TypeAlias = tuple[str | None, str | None]


def complete(page: PageModel) -> PageModel:
    """Return *page* with complete tags on segments that state only a language or a script; itself if there are none.

    A tag applies to everything inside its element, with both halves: a line that states only its script would, in a
    region in Latin, say that its language is undetermined. So the missing half is filled in, and a private subtag says
    which half is its own (`la-Hebr-x-script`); `language_of` takes that half alone.
    """
    segments = _complete(page.segments, (page.language, page.script))
    return page if segments is page.segments else replace(page, segments=segments)


def _complete(segments: list[PageSegment], around: _Around) -> list[PageSegment]:
    page_segments: list[PageSegment] = []
    for segment in segments:
        own = segment.language, segment.script
        inside = (own[0] or around[0], own[1] or around[1])
        children = _complete(segment.children, inside)
        tag = language_tag(*inside) if any(own) and inside != own else None
        if tag is not None and tag != language_tag(*own) and "x" not in tag.split("-"):
            half = OWN_SCRIPT if own[0] is None else OWN_LANGUAGE
            segment = replace(segment, children=children, language=tag + half, script=None)
        elif children is not segment.children:
            segment = replace(segment, children=children)
        page_segments.append(segment)
    return (
        page_segments if any(a is not b for a, b in zip(page_segments, segments, strict=True)) else segments
    )
