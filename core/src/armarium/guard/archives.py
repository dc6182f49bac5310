"""Untrusted ZIP archives: names, counts and sizes are checked before anything is unpacked."""

from __future__ import annotations

import re
import struct
import unicodedata
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from armarium.errors import Invalid
from armarium.guard.sources import name_of, open_source, plain

MAX_ARCHIVE_MEMBERS: Final = 10_000
MAX_ARCHIVE_BYTES: Final = 4 * 1024**3
MAX_ARCHIVE_RATIO: Final = 200


def check_archive(
    source: Path | str | bytes,
    *,
    max_members: int = MAX_ARCHIVE_MEMBERS,
    max_bytes: int = MAX_ARCHIVE_BYTES,
    max_ratio: int = MAX_ARCHIVE_RATIO,
    name: str | None = None,
) -> list[zipfile.ZipInfo]:
    """Return the files of a ZIP archive (without folders) after every name, size and count was checked.

    Nothing is unpacked. Raises Invalid for a path that leaves the folder, a link, a device, an encrypted member, the same
    name twice, too many members, too many bytes, or a member that grows more than `max_ratio` times. A backslash
    separates folders, as in archives of older Windows programs. Names may differ in case or Unicode form alone: unpack
    members under names of your own. Read a member with `read_member`: a header may lie about its size.
    """
    name = name or name_of(source)
    with open_source(source, name) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as fault:
            raise Invalid(
                f"{name} is not a readable ZIP archive ({plain(fault)}).", code="archive_damaged"
            ) from None
    if len(members) > max_members:
        raise Invalid(
            f"{name} holds {len(members):,} files; at most {max_members:,} are unpacked.", code="archive_bomb"
        )
    total = 0
    names: set[str] = set()
    encoding = _find_encoding(members)
    for member in members:
        _check_member(name, member, encoding, names)
        total += member.file_size
        if member.file_size > 1_000_000 and member.file_size > max_ratio * max(1, member.compress_size):
            raise Invalid(
                f"{name} holds {member.filename!r}, which grows more than {max_ratio} times when unpacked; "
                "it looks like a decompression bomb.",
                code="archive_bomb",
            )
    if total > max_bytes:
        raise Invalid(
            f"{name} unpacks to {total / 1e9:.1f} GB; at most {max_bytes / 1e9:.1f} GB are unpacked.",
            code="archive_bomb",
        )
    return [member for member in members if not member.is_dir()]


def names_are_guessed(member: zipfile.ZipInfo) -> bool:
    """Return whether the archive does not say in what encoding a name is that is neither ASCII nor UTF-8."""
    if member.filename.isascii() or _states_encoding(member):
        return False
    return member.filename.encode() != _raw_name(member).replace(b"\\", b"/")


_UTF8: Final = 0x800
"""The flag of a member whose name is in UTF-8."""
_UNICODE_PATH: Final = 0x7075
"""The extra field with which Info-ZIP repeats a name in UTF-8; `zipfile` reads it."""
_WRITTEN_IN: Final = {
    "utf-8": "", "cp437": "LATIN", "cp1252": "LATIN", "cp850": "LATIN", "cp866": "CYRILLIC", "cp932": "(HIRAGANA|KATAKANA|CJK)",
    "gbk": "CJK",
}  # fmt: skip
"""Encodings of names that say nothing of theirs, likeliest first, and the letters that names in them consist of."""


def _states_encoding(member: zipfile.ZipInfo) -> bool:
    extra_left = member.extra
    while len(extra_left) >= 4:
        tag, length = struct.unpack("<HH", extra_left[:4])
        if tag == _UNICODE_PATH:
            return True
        extra_left = extra_left[4 + length :]
    return bool(member.flag_bits & _UTF8)


def _raw_name(member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a name that does not state its encoding: `zipfile` has read them as CP437."""
    return member.orig_filename.encode("cp437")


def _find_encoding(members: Sequence[zipfile.ZipInfo]) -> str:
    """Return the encoding of the names that do not state theirs: the first in which all of them consist of its letters;
    CP437, as the format demands, where there is none.
    """
    raw = b"\n".join(_raw_name(member) for member in members if not _states_encoding(member))
    for encoding, script in _WRITTEN_IN.items():
        with suppress(UnicodeError):
            letters = {char for char in raw.decode(encoding) if char > "\x7f"}
            if all(re.match(script, unicodedata.name(char, "")) for char in letters):
                return encoding
    return "cp437"


def _check_member(name: str, member: zipfile.ZipInfo, encoding: str, names: set[str]) -> None:
    member_name = member.filename if _states_encoding(member) else _raw_name(member).decode(encoding)
    path = member.filename = member_name.replace("\\", "/")
    if "\0" in member.orig_filename or path.startswith("/") or ".." in path.split("/") or ":" in path[:2]:
        raise Invalid(f"{name} holds the name {path!r}, which would leave its folder.", code="archive_path")
    kind = (member.external_attr >> 16) & 0o170000
    if kind not in (0, 0o100000, 0o040000):
        raise Invalid(
            f"{name} holds {path!r}, a link or a device; only files are unpacked.", code="archive_path"
        )
    if member.flag_bits & 1:
        raise Invalid(f"{name} holds {path!r}, which is encrypted.", code="archive_damaged")
    trimmed = path.rstrip("/")
    if trimmed in names:
        raise Invalid(f"{name} holds the name {path!r} twice.", code="archive_path")
    names.add(trimmed)


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return one member's bytes, never more than its header stated."""
    try:
        with archive.open(member) as file:
            data = file.read(member.file_size + 1)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as fault:
        raise Invalid(
            f"{member.filename!r} in the archive is damaged ({plain(fault)}).", code="archive_damaged"
        ) from None
    if len(data) > member.file_size:
        raise Invalid(f"{member.filename!r} in the archive is longer than it says.", code="archive_bomb")
    return data
