"""Untrusted ZIP archives: names, counts and sizes are checked before anything is unpacked."""

from __future__ import annotations

import struct
import zipfile
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
    seen: set[str] = set()
    for member in members:
        _check_member(name, member, seen)
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
    return (
        not member.filename.isascii()
        and not member.flag_bits & _UTF8
        and member.filename == _with_slashes(member)
    )


_UTF8: Final = 0x800
"""The flag of a member whose name is in UTF-8."""


def _with_slashes(member: zipfile.ZipInfo) -> str:
    return member.orig_filename.replace("\\", "/")


def _stated_name(member: zipfile.ZipInfo) -> str:
    """Return a member's name: what is UTF-8 without saying so, as archives of macOS are, is read as UTF-8; else CP437."""
    if not member.flag_bits & _UTF8 and not member.filename.isascii():
        with suppress(UnicodeError):
            return member.filename.encode("cp437").decode("utf-8")
    return member.filename


def _check_member(name: str, member: zipfile.ZipInfo, seen: set[str]) -> None:
    path = member.filename = _stated_name(member).replace("\\", "/")
    if "\0" in member.orig_filename or path.startswith("/") or ".." in path.split("/") or ":" in path[:2]:
        raise Invalid(f"{name} holds the name {path!r}, which would leave its folder.", code="archive_path")
    kind = (member.external_attr >> 16) & 0o170000
    if kind not in (0, 0o100000, 0o040000):
        raise Invalid(
            f"{name} holds {path!r}, a link or a device; only files are unpacked.", code="archive_path"
        )
    if member.flag_bits & 1:
        raise Invalid(f"{name} holds {path!r}, which is encrypted.", code="archive_damaged")
    one = path.rstrip("/")
    if one in seen:
        raise Invalid(f"{name} holds the name {path!r} twice.", code="archive_path")
    seen.add(one)


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
