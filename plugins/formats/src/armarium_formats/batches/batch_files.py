"""The sources of a batch: paths on the engine's disk, uploads, members of ZIP archives.

Paths named by a caller were checked where they were named; no file name chosen by a sender is used as a path.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from armarium.api import (
    FileUnreadable,
    Invalid,
    MaterialPath,
    PathNotAllowed,
    ServiceError,
    Unavailable,
    check_archive,
    names_are_guessed,
    not_a_file,
    read_member,
)
from armarium_formats.batches.disk import disk_refuses
from armarium_formats.batches.names import Folder, sent_place
from armarium_formats.batches.staging import BatchPlan, ReceivedFile

if TYPE_CHECKING:
    from armarium.api import IsClosed


def named_on_disk(paths: Sequence[MaterialPath], staged: BatchPlan) -> list[ReceivedFile]:
    """Return the files that *paths* name on this machine; one that cannot be used is refused by itself."""
    files: list[ReceivedFile] = []
    named_paths: set[Path] = set()
    for path in paths:
        try:
            file = on_disk(path)
        except Invalid as refusal:
            staged.refuse(path, refusal.detail)
            continue
        if file.path in named_paths:
            staged.refuse(path, "It is named twice; it was imported once.")
        else:
            named_paths.add(file.path)
            files.append(file)
    return files


def on_disk(material: MaterialPath) -> ReceivedFile:
    """Return the file that a path names on this machine; Invalid if there is none."""
    path, real = Path(os.path.expanduser(material)), material.real
    try:
        status = real.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise Invalid(
            "There is nothing there, or it is a link to nothing. Check the path.", code="path_not_found"
        ) from None
    except OSError as error:
        raise FileUnreadable(error) from None
    if stat.S_ISDIR(status.st_mode):
        raise Invalid("It is a folder; import the folder, or name the files in it.", code="not_a_file")
    if not stat.S_ISREG(status.st_mode):
        raise not_a_file()
    return ReceivedFile(real, path.parent.parts[1:], path.name, kept_at=real)


def received_files(files: Iterable[tuple[str, Path]]) -> list[ReceivedFile]:
    """Return uploaded files in scratch folders: (the name they were sent with, path)."""
    received = []
    for filename, path in files:
        folder, name = sent_place(filename)
        received.append(ReceivedFile(path, folder, name, mirrored=folder, scratch=path.parent))
    return received


def unpack_archives(
    files: Iterable[ReceivedFile], folder: Path, staged: BatchPlan, is_closed: IsClosed
) -> list[ReceivedFile]:
    """Return the files with each ZIP archive replaced by its members, extracted into the scratch *folder*.

    An archive with a harmful name, or too many or too large members, is refused as a whole; nested ones are
    not opened.
    """
    unpacked: list[ReceivedFile] = []
    for file in files:
        if not _is_zip(file, is_closed):
            unpacked.append(file)
            continue
        try:
            unpacked += _members(file, folder, len(unpacked), staged, is_closed)
        except Unavailable:
            raise
        except ServiceError as refusal:
            staged.refuse(file.place, refusal.detail)
    return unpacked


def _is_zip(received_file: ReceivedFile, is_closed: IsClosed) -> bool:
    try:
        with received_file.open(is_closed) as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except (OSError, Invalid, PathNotAllowed):
        return False


def _members(
    zipped: ReceivedFile, folder: Path, start: int, staged: BatchPlan, is_closed: IsClosed
) -> list[ReceivedFile]:
    with zipped.open(is_closed) as file:
        members = check_archive(Path(f"/dev/fd/{file.fileno()}"), name=zipped.name)
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            return _unpack(archive, members, zipped, folder, start, staged, is_closed)


def _unpack(
    archive: zipfile.ZipFile,
    members: list[zipfile.ZipInfo],
    zipped: ReceivedFile,
    folder: Path,
    start: int,
    staged: BatchPlan,
    is_closed: IsClosed,
) -> list[ReceivedFile]:
    files: list[ReceivedFile] = []
    to_unpack = [
        (member, inner, name)
        for member in members
        for inner, name in [sent_place(member.filename)]
        if not (name.startswith((".", "~$")) or "__MACOSX" in inner or name.casefold() in _LEFTOVERS)
    ]
    if not to_unpack:
        staged.refuse(zipped.place, "The archive is empty: it contains no file to import.")
    # An archive counts as a folder: the one that contains all of it, else one of its own name.
    tops = {inner[:1] for _, inner, _ in to_unpack}
    own: Folder = () if len(tops) == 1 and () not in tops else (PurePath(zipped.name).stem or zipped.name,)
    for number, (member, inner, name) in enumerate(to_unpack, start):
        path = folder / f"member-{number:05}"
        try:
            path.write_bytes(read_member(archive, member))
        except OSError as error:
            raise disk_refuses(error) from error
        mirrored = (*zipped.mirrored, *own, *inner)
        notes = (GUESSED_NAMES,) if names_are_guessed(member) else ()
        at = (*zipped.folder, *own, *inner)
        received_file = ReceivedFile(path, at, name, mirrored=mirrored, scratch=folder, notes=notes)
        if _is_zip(received_file, is_closed):
            staged.refuse(received_file.place, "It is an archive within an archive; unpack it first.")
        else:
            files.append(received_file)
    return files


GUESSED_NAMES = (
    "The archive does not say in what encoding its names are, so it was guessed by their letters. If the names are garbled, "
    "unpack the archive and import the folder."
)
_LEFTOVERS = frozenset({"thumbs.db", "desktop.ini"})
