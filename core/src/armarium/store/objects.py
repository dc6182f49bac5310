"""Content-addressed files of a project: immutable, written to a temporary name, flushed and renamed."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from armarium.errors import Conflict, NotFound, ServiceError, moved_away, refused_by_disk
from armarium.ids import new_id
from armarium.store.durable import flush, flush_path

if TYPE_CHECKING:
    from armarium.guard.named_paths import PathRules

_CHUNK = 1 << 20

REDUCED = "reduced"
"""The folder of a package, beside that of the files, with small pictures in place of files that are not here."""


class ObjectStore:
    """Files named by the SHA-256 of their bytes, under `ab/cdef…`. Adding the same bytes twice keeps one file."""

    def __init__(self, root: Path, rules: PathRules | None = None) -> None:
        self.root = root
        self.rules = rules
        """Folders in which a file that is kept as a link may lie; None where there are none."""

    def put_bytes(self, data: bytes) -> str:
        """Store *data*; return its digest (64 hex digits). The file is flushed to disk before this returns."""
        digest = hashlib.sha256(data).hexdigest()
        if not self.holds(digest):
            temporary = self._temporary()
            try:
                with temporary.open("wb") as file:
                    file.write(data)
                    file.flush()
                    flush(file.fileno())
                self._settle(temporary, digest)
            except OSError as error:
                raise (refused_by_disk(error) or error) from error
            finally:
                temporary.unlink(missing_ok=True)
        return digest

    def put_file(self, path: Path) -> str:
        """Store a copy of the file at *path*; return its digest. OSError of reading *path* goes to the caller."""
        digest = hashlib.sha256()
        temporary = self._temporary()
        try:
            with path.open("rb") as source:
                try:
                    with temporary.open("wb") as file:
                        while chunk := source.read(_CHUNK):
                            digest.update(chunk)
                            file.write(chunk)
                        file.flush()
                        flush(file.fileno())
                    if not self.holds(digest.hexdigest()):
                        self._settle(temporary, digest.hexdigest())
                except OSError as error:
                    raise (refused_by_disk(error) or error) from error
        finally:
            temporary.unlink(missing_ok=True)
        return digest.hexdigest()

    def link_file(self, path: Path, digest: str | None = None) -> str:
        """Store a link to the file at *path* instead of a copy; return its digest. Bytes that are here already stay.

        The file stays its owner's: nothing here changes or removes it. When it changes or disappears, `intact` and
        `size` say so. With *digest* the caller has read it, and *path* is resolved: it is neither opened nor followed.
        OSError of reading *path* goes to the caller.
        """
        place = path
        if digest is None:
            hasher = hashlib.sha256()
            with path.open("rb") as source:
                while chunk := source.read(_CHUNK):
                    hasher.update(chunk)
            digest, place = hasher.hexdigest(), path.resolve()
        if not self.holds(digest):
            temporary = self._temporary()
            try:
                os.symlink(place, temporary)
                self._put_in_place(temporary, digest)
            except OSError as error:
                raise (refused_by_disk(error) or error) from error
            finally:
                temporary.unlink(missing_ok=True)
        return digest

    def path(self, digest: str) -> Path:
        """Return where the file of *digest* lies (whether or not it exists); NotFound for a link that now leads
        elsewhere.
        """
        place = self._place(digest)
        if self.rules is not None and place.is_symlink():
            self._look_at_link(place, digest)
        return place

    def _place(self, digest: str) -> Path:
        return self.root / digest[:2] / digest[2:]

    def _look_at_link(self, place: Path, digest: str) -> None:
        """Raise NotFound where a linked file's path now leads elsewhere, or was never one that a caller could name."""
        with suppress(OSError):  # reported when it is opened
            self._open_link(place, digest).close()

    def _open_link(self, place: Path, digest: str) -> BinaryIO:
        """Open the file that the link *place* leads to, along the checked path; refusals as `path`."""
        target = Path(os.readlink(place))
        try:
            return self.rules.open_linked(target) if self.rules is not None else target.open("rb")
        except ServiceError as error:
            raise NotFound(
                f"The file {digest[:12]}… is kept as a link, and what lies there now may not be read. Put the file "
                "itself back where it was linked.",
                code="object_missing",
            ) from error

    def open(self, digest: str) -> BinaryIO:
        """Open the file of *digest* for reading; raises NotFound when it is gone."""
        place = self._place(digest)
        try:
            return self._open_link(place, digest) if place.is_symlink() else place.open("rb")
        except FileNotFoundError as error:
            raise NotFound(
                f"The file {digest[:12]}… is missing from the project; run `armarium doctor`.",
                code="object_missing",
            ) from error

    @contextmanager
    def hold_file(self, digest: str) -> Iterator[Path]:
        """Lend a path of the file of *digest* for code that opens it by name, in this process or another.

        Nobody changes what is kept here. Of a file that is kept as a link a copy is made for the duration of the block;
        Conflict where the file no longer has the bytes it was linked with, NotFound when it is gone.
        """
        place = self._place(digest)
        if not place.is_symlink():
            yield place
            return
        copy, hasher = self._temporary(), hashlib.sha256()
        try:
            with self.open(digest) as file, copy.open("wb") as into:
                while chunk := file.read(_CHUNK):
                    hasher.update(chunk)
                    into.write(chunk)
            if hasher.hexdigest() != digest:
                raise Conflict(
                    f"The file {digest[:12]}… is kept as a link, and was changed where it lies. Put the one back that was "
                    "linked, or bring the new one in beside it.",
                    code="object_changed",
                )
            yield copy
        finally:
            copy.unlink(missing_ok=True)

    def find_reduced(self, digest: str) -> Path | None:
        """Return the small picture that a packed branch brought in place of the file of *digest*; None where that is here.

        It is only ever looked at: it lies apart, and is not the file.
        """
        place = self.root.with_name(REDUCED) / digest[:2] / f"{digest[2:]}.jpg"
        return place if not self.has(digest) and place.is_file() else None

    def has(self, digest: str) -> bool:
        """Return whether the file of *digest* is here."""
        return self._place(digest).is_file()

    def holds(self, digest: str) -> bool:
        """Return whether its bytes are here themselves, not only a link to a file elsewhere."""
        return self.has(digest) and not self._place(digest).is_symlink()

    def size(self, digest: str) -> int:
        """Return its size in bytes."""
        try:
            return self.path(digest).stat().st_size
        except FileNotFoundError as error:
            raise NotFound(
                f"The file {digest[:12]}… is missing from the project.", code="object_missing"
            ) from error

    def digests(self) -> Iterator[str]:
        """Yield every file's digest, in no order."""
        for folder in self.root.iterdir() if self.root.is_dir() else ():
            if len(folder.name) == 2 and folder.is_dir():
                for file in folder.iterdir():
                    yield folder.name + file.name

    def intact(self, digest: str) -> bool:
        """Return whether the bytes still have the digest they are named by."""
        hasher = hashlib.sha256()
        with self.open(digest) as file:
            while chunk := file.read(_CHUNK):
                hasher.update(chunk)
        return hasher.hexdigest() == digest

    def remove(self, digest: str) -> int:
        """Remove an unreferenced file; return the bytes freed. Only Empty Trash and collection call this.

        Of a linked file only the link is removed.
        """
        try:
            place = self._place(digest)
            size = 0 if place.is_symlink() else place.stat().st_size
            place.unlink()
        except FileNotFoundError:
            return 0
        return size

    def clear_temporary(self) -> int:
        """Remove what an interrupted write left behind; called when the project is opened."""
        folder = self.root / "tmp"
        count = sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0
        shutil.rmtree(folder, ignore_errors=True)
        return count

    def _temporary(self) -> Path:
        folder = self.root / "tmp"
        try:
            # Never the package's own folder: where that is missing, the package has been moved.
            self.root.mkdir(exist_ok=True)
            folder.mkdir(exist_ok=True)
        except FileNotFoundError as error:
            raise moved_away(self.root.parent.name) from error
        except OSError as error:
            raise (refused_by_disk(error) or error) from error
        return folder / new_id()

    def _settle(self, temporary: Path, digest: str) -> None:
        os.chmod(temporary, 0o444)
        self._put_in_place(temporary, digest)

    def _put_in_place(self, temporary: Path, digest: str) -> None:
        target = self._place(digest)
        target.parent.mkdir(exist_ok=True)
        os.replace(temporary, target)
        # The rename itself must survive a power cut, not only the bytes.
        flush_path(target.parent)
