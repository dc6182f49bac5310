"""The files of one synced folder on disk: examined, read, written completely or not at all, never moved over
another.

Names are relative to the folder, with slashes. Links below the folder are not followed, and nothing that was
not written here is replaced or removed.
"""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from armarium.api import (
    Invalid,
    IsClosed,
    PathNotAllowed,
    exchange,
    flush,
    flush_path,
    new_id,
    open_plain,
    put_where_nothing_is,
)
from armarium_sync.names import OURS

LARGEST = 64 * 1024 * 1024
"""The largest layout file that is read back, in bytes."""

DEEPEST = 60
"""How deep folders are followed."""

MARKER = "tie"


class Unusable(Exception):
    """A file or place that is left alone; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file found by a walk. `why`: the reason if it must not be opened."""

    path: str
    stamp: str
    age: float
    """Seconds since it was last written or renamed, by the clock of the disk; negative if that runs ahead."""
    why: str | None = None


def stamp_of(status: os.stat_result) -> str:
    """Return how the disk describes a file. It changes with the content, and otherwise only by a rename:
    `touch` can set one of the two times, not the other.
    """
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


class Disk:
    """A synced folder. *ours* distinguishes its temporary names from those of another tie."""

    def __init__(self, path: str, ours: str, is_closed: IsClosed | None = None) -> None:
        self.path = Path(path)
        self._ours = f"{OURS}{ours}-"
        self._is_closed = is_closed

    @property
    def marker(self) -> str:
        """Return the file that distinguishes the folder from an empty one mounted or created in its place."""
        return self._ours + MARKER

    def mark(self) -> None:
        """Write the marker; OSError if that fails."""
        words = "Armarium keeps files in this folder up to date. If you remove this file, nothing is written here any more.\n"
        with suppress(FileExistsError), open(self.path / self.marker, "x", encoding="utf-8") as file:
            file.write(words)

    def is_there(self) -> bool:
        """Return whether it is the folder that was tied: not gone, not replaced by a link or an empty one."""
        try:
            return (
                os.path.realpath(self.path) == str(self.path)
                and self.path.is_dir()
                and (self.path / self.marker).is_file()
            )
        except OSError:
            return False

    def place(self, path: str) -> Path:
        """Return the full path of *path*; Unusable if it leads through a link or out of the folder."""
        parts = path.split("/")
        if not path or any(part in ("", ".", "..") or "\0" in part for part in parts):
            raise Unusable("Its name leads out of the folder.")
        here = self.path
        for part in parts[:-1]:
            here = here / part
            try:
                if not stat.S_ISDIR(here.lstat().st_mode):
                    raise Unusable("Its path leads through a link or a file.")
            except FileNotFoundError:
                break
        return self.path.joinpath(*parts)

    def stamp(self, path: str) -> str | None:
        """Return how the disk describes it; None if nothing is there. Unusable if it is not a regular file."""
        try:
            status = self.place(path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Unusable(f"It cannot be examined: {error.strerror or error}.") from None
        if not stat.S_ISREG(status.st_mode):
            raise Unusable("It is not a regular file.")
        return stamp_of(status)

    def read(self, path: str) -> bytes:
        """Return all its bytes; FileNotFoundError if it is gone, Unusable if it is not a file or changes meanwhile."""
        place = self.place(path)
        try:
            with open_plain(place, self._is_closed) as file:
                before = stamp_of(os.fstat(file.fileno()))
                data = file.read(LARGEST + 1)
                after = stamp_of(os.fstat(file.fileno()))
        except (Invalid, PathNotAllowed) as refusal:
            raise Unusable(refusal.detail) from None
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Unusable(f"It cannot be read: {error.strerror or error}.") from None
        if before != after:
            raise Unusable("It is still being written; it will be read when it no longer changes.")
        if len(data) > LARGEST:
            raise Unusable(
                f"It is larger than {LARGEST // 1024 // 1024} MB; that is too large for a layout file."
            )
        return data

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of its bytes, None if nothing is there; Unusable as for `read`, but for any size."""
        place, hasher = self.place(path), hashlib.sha256()
        try:
            with open_plain(place, self._is_closed) as file:
                while chunk := file.read(1 << 20):
                    hasher.update(chunk)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (Invalid, PathNotAllowed) as refusal:
            raise Unusable(refusal.detail) from None
        except OSError as error:
            raise Unusable(f"It cannot be read: {error.strerror or error}.") from None
        return hasher.hexdigest()

    def write(self, path: str, data: bytes, is_ours: Callable[[str], bool], *, settle: bool = True) -> str:
        """Write *data* there, completely or not at all; return its new stamp. Without *settle*, its name is
        safely on disk only after `flush_folders`. An existing file is replaced if *is_ours* accepts its
        digest, even if it was exchanged at that very moment. Otherwise Unusable, and nothing was changed.
        """
        place = self.place(path)
        self._make_folder(place.parent)
        digest = self.digest(path) if os.path.lexists(place) else None
        mode = None
        if digest is not None:
            if not is_ours(digest):
                raise Unusable("There is another file there; it is not overwritten.")
            mode = stat.S_IMODE(place.lstat().st_mode)
            if not mode & 0o222:
                raise Unusable("The file there is read-only; it is not overwritten.")
        fresh = place.parent / f"{self._ours}new-{new_id()[-12:]}.tmp"
        try:
            with open(fresh, "xb") as file:
                file.write(data)
                file.flush()
                if mode is not None:
                    os.chmod(fresh, mode)
                flush(file.fileno())
            if digest is None:
                try:
                    put_where_nothing_is(fresh, place)
                except FileExistsError:
                    raise Unusable("Another file was put there; it is not overwritten.") from None
            else:
                self._replace(path, fresh, place, is_ours)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        if settle:
            flush_path(place.parent)
        return self.stamp(path) or ""

    def flush_folders(self, paths: Iterable[str]) -> None:
        """Make sure that the names of these files are safely on disk."""
        for folder in {self.path.joinpath(*path.split("/")).parent for path in paths}:
            if folder.is_dir():
                flush_path(folder)

    def _replace(self, path: str, fresh: Path, place: Path, is_ours: Callable[[str], bool]) -> None:
        # Under a separate name: what a kill leaves under it may be somebody's version; what it leaves under
        # the other is ours.
        swap = fresh.with_name(fresh.name.replace("-new-", "-swap-"))
        os.rename(fresh, swap)
        try:
            swapped = exchange(swap, place)
        except FileNotFoundError:
            put_where_nothing_is(swap, place)
            return
        if not swapped:
            os.replace(swap, place)
            return
        inner = f"{path.rpartition('/')[0]}/{swap.name}".lstrip("/")
        digest = self.digest(inner)
        if digest is not None and not is_ours(digest):
            exchange(swap, place)
            swap.unlink()
            raise Unusable("It was changed at this very moment; it is not overwritten.")
        swap.unlink(missing_ok=True)

    def move(self, source: str, target: str) -> None:
        """Rename a file; Unusable if nothing is at *source* or something at *target*. A move already made
        counts as done.
        """
        before, after = self.place(source), self.place(target)
        try:
            status = before.lstat()
        except (FileNotFoundError, NotADirectoryError):
            raise Unusable("It no longer exists.") from None
        if not stat.S_ISREG(status.st_mode):
            raise Unusable("It is not a regular file.")
        self._make_folder(after.parent)
        try:
            put_where_nothing_is(before, after)
        except FileExistsError:
            # For this disk both spellings are one file: only the spelling changes.
            if before != after and os.path.samestat(status, after.lstat()):
                os.rename(before, after)
            else:
                raise Unusable("There is another file where it would go.") from None
        except OSError as error:
            raise Unusable(f"It cannot be moved: {error.strerror or error}.") from None
        flush_path(after.parent)
        flush_path(before.parent)

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        missing = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        if self.path != folder and self.path not in folder.parents:
            # The synced folder itself is gone: it is not created again below what may be a mount point.
            raise Unusable("The folder no longer exists.")
        for path in reversed(missing):
            with suppress(FileExistsError):
                path.mkdir()

    def walk(self, now_ns: int) -> Iterator[Entry]:
        """Yield every file, folder by folder, without following links; hidden folders and projects are skipped."""
        waiting = [("", self.path, 0)]
        while waiting:
            above, folder, depth = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                if above:
                    yield Entry(
                        _legible(above.rstrip("/")), "", 0.0, f"It cannot be read: {error.strerror or error}."
                    )
                continue
            if any(entry.name == "library.json" for entry in listed) and above:
                continue
            for entry in listed:
                path = above + entry.name
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(status.st_mode):
                    if entry.name.startswith(".") or entry.name.casefold().endswith(".library"):
                        continue
                    if depth + 1 < DEEPEST:
                        waiting.append((path + "/", folder / entry.name, depth + 1))
                    else:
                        yield Entry(
                            _legible(path), "", 0.0, f"Folders are followed only {DEEPEST} levels deep."
                        )
                    continue
                age = (now_ns - max(status.st_mtime_ns, status.st_ctime_ns)) / 1e9
                why = _fault(entry.name, above)
                if why is None and not stat.S_ISREG(status.st_mode):
                    why = "It is not a regular file: links, pipes and the like are not followed."
                yield Entry(_legible(path) if why else path, stamp_of(status), age, why)

    def is_own_name(self, path: str) -> bool:
        """Return whether it is a working file of this very tie: the marker, a temporary file."""
        return path.rpartition("/")[2].startswith(self._ours)

    def clear(self, path: str, is_ours: Callable[[str], bool]) -> str | None:
        """Remove a temporary file that a kill left if it contains nobody else's data; return why not otherwise."""
        name = path.rpartition("/")[2]
        if name == self.marker:
            return None
        if "-swap-" in name:
            digest = self.digest(path)
            if digest is not None and not is_ours(digest):
                return "The engine was killed while it replaced a file that was being changed: this is that file."
        with suppress(OSError):
            self.place(path).unlink()
        return None


def _fault(name: str, above: str) -> str | None:
    try:
        (above + name).encode("utf-8")
    except UnicodeEncodeError:
        return "Its name is not UTF-8; rename it."
    if any(unicodedata.category(sign) == "Cc" or sign in "\u2028\u2029" for sign in above + name):
        return "Its name contains a control character; rename it."
    return None


def _legible(path: str) -> str:
    text = os.fsencode(path).decode("utf-8", "replace")
    return "".join("\ufffd" if unicodedata.category(sign) == "Cc" else sign for sign in text)
