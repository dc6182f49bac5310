"""Two folders for the tests of paths: one that the engine may use, full of traps, and one outside that it may not."""

from __future__ import annotations

import hashlib
import io
import os
import random
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECRET = "zqcanary"
"""Part of nearly every name and every text outside; an answer that contains it, although it was not sent, reveals the
outside.
"""

LAYOUT = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
<Page imageFilename="{image}" imageWidth="{width}" imageHeight="{height}"><TextRegion id="r"><Coords points="1,1 8,1 8,8 1,8"/>
<TextLine id="l"><Coords points="1,1 8,1 8,8 1,8"/><TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>
"""


def picture(grey: int, size: tuple[int, int] = (16, 12)) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("L", size, grey).save(file, "PNG")
    return file.getvalue()


class Watch:
    """Observes every file that this process opens, creates or removes, and may change the world just before that."""

    def __init__(self) -> None:
        self.outside: Path | None = None
        self.thread_depth = threading.local()
        self.reached: list[str] = []
        self.before: Callable[[str, Any], None] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.outside is None or event not in _TOUCH or getattr(self.thread_depth, "inside", False):
            return
        self.thread_depth.inside = True
        try:
            for path in arguments[:2] if event in ("os.rename", "os.link", "shutil.move") else arguments[:1]:
                if not isinstance(path, str | bytes | os.PathLike):
                    continue
                if self.before is not None:
                    self.before(event, path)
                self._judge(event, os.fsdecode(path), arguments)
        finally:
            self.thread_depth.inside = False

    def _judge(self, event: str, path: str, arguments: tuple[Any, ...]) -> None:
        if not os.path.isabs(path):
            return  # relative to an open folder: the system itself refuses links there
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_NOFOLLOW:
            return
        real = os.path.realpath(os.path.dirname(path) if event in _OF_THE_NAME else path)
        assert self.outside is not None
        if real == str(self.outside) or real.startswith(f"{self.outside}{os.sep}"):
            self.reached.append(f"{event} {path}")


_OF_THE_NAME = frozenset({"os.remove", "os.rename", "os.symlink", "os.rmdir"})
_TOUCH = frozenset(
    {"open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link",
     "os.truncate", "os.chmod", "os.chown", "os.utime", "shutil.copyfile", "shutil.move", "shutil.rmtree",
     "sqlite3.connect"}
)  # fmt: skip

WATCH: list[Watch] = []


def watch() -> Watch:
    """Return the only one of this process: an audit hook cannot be removed."""
    if not WATCH:
        WATCH.append(Watch())
    return WATCH[0]


class World:
    """`inside` with ordinary files and traps, recreated when a case broke it; `outside` with canaries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inside, self.outside = folder / "inside", folder / "outside"
        self.outside.mkdir(parents=True)
        self.canaries: list[str] = []
        self._fill_outside()
        self.lay()
        self.state = self._listing()

    def _fill_outside(self) -> None:
        files = {
            f"{SECRET}.png": picture(201, (61, 41)),
            f"{SECRET}.xml": LAYOUT.format(image="good.png", width=16, height=12, text=SECRET).encode(),
            f"{SECRET}.txt": f"{SECRET}\n".encode(),
            "classes.txt": f"{SECRET}\n".encode(),
            "elsewhere.png": picture(203, (61, 41)),
            f"sub/{SECRET}-2.png": picture(202, (61, 41)),
        }
        from PIL import Image

        pdf = io.BytesIO()
        Image.new("L", (20, 20), 9).save(pdf, "PDF")
        files[f"{SECRET}.pdf"] = pdf.getvalue()
        for name, data in files.items():
            (self.outside / name).parent.mkdir(exist_ok=True)
            (self.outside / name).write_bytes(data)
            self.canaries.append(hashlib.sha256(data).hexdigest())

    def lay(self) -> None:
        """Restore `inside` to its initial state; projects in it stay."""
        self.inside.mkdir(exist_ok=True)
        for entry in self.inside.iterdir():
            if entry.suffix == ".library" and not entry.is_symlink():
                continue
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        box = self.inside / "box"
        (box / "page").mkdir(parents=True)
        (box / "deep" / "deeper").mkdir(parents=True)
        for number, name in enumerate(("good.png", "deep/2.png", "deep/deeper/3.png")):
            (box / name).write_bytes(picture(number * 9))
        for name, image in (("good", "good.png"), ("other", "../../outside/elsewhere.png")):
            (box / "page" / f"{name}.xml").write_text(
                LAYOUT.format(image=image, width=16, height=12, text="x")
            )
        (box / "good.txt").write_text("0 0.5 0.5 0.2 0.2\n")
        (box / "classes.txt").symlink_to(self.outside / "classes.txt")
        (box / "mets.xml").write_text(METS.format(href=f"file://{self.outside}/elsewhere.png"))
        (box / "out.png").symlink_to(self.outside / f"{SECRET}.png")
        (box / "out.xml").symlink_to(self.outside / f"{SECRET}.xml")
        (box / "out.txt").symlink_to(f"../../outside/{SECRET}.txt")
        (box / "chain.png").symlink_to(box / "out.png")
        (box / "loop.png").symlink_to(box / "loop.png")
        (box / "gone.png").symlink_to(box / "nothing.png")
        (box / "in.png").symlink_to(box / "good.png")
        (box / "way").symlink_to(self.outside)
        os.mkfifo(box / "pipe.png")
        (box / "zero.png").symlink_to("/dev/zero")

    def _listing(self) -> list[tuple[str, int, int]]:
        return sorted(
            (str(path), path.lstat().st_mtime_ns, path.lstat().st_size) for path in self.outside.rglob("*")
        )

    def is_untouched(self) -> bool:
        """Return whether the outside is unchanged."""
        return self._listing() == self.state

    def spellings(self, chance: random.Random) -> str:
        """Return spellings of a path by which somebody might try to get outside."""
        box, outside = self.inside / "box", self.outside
        base = chance.choice(
            [
                *(str(box / name) for name in ("good.png", "page/good.xml", "good.txt", "deep", "page", "", "mets.xml")),
                *(str(box / name) for name in ("out.png", "out.xml", "out.txt", "chain.png", "loop.png", "gone.png")),
                *(str(box / name) for name in ("in.png", "pipe.png", "zero.png", "way", f"way/{SECRET}.png")),
                *(str(outside / name) for name in (f"{SECRET}.png", f"{SECRET}.xml", f"{SECRET}.pdf", "", "sub")),
                f"{box}/../../{outside.name}/{SECRET}.png", f"{box}/../../{outside.name}", f"{box}/way/../good.png",
                f"/proc/self/root{outside}/{SECRET}.png", f"/proc/self/cwd/../../{outside}", "/proc/self/environ",
                "/dev/zero", "/dev/stdin", "/dev/fd/0", "/etc/passwd", "/etc", "/", "~root/.bashrc", "~", "..", ".",
                f"..{os.sep}{outside.name}", f"file://{outside}/{SECRET}.png", "//server/share/1.png", "C:\\1.png",
                f"{self.inside}/Proof.library", f"{self.inside}/Proof.library/library.sqlite",
                f"{self.inside}/Proof.library/objects", f"{self.inside}/Other.library/library.sqlite",
                f"{outside}/{SECRET}.library", f"{box}/way/{SECRET}.library", f"{self.inside}/new.library",
                f"{box}/../../{outside.name}/new.library", f"{box}/way/new.library", f"{self.inside}/linked.library",
            ]
        )  # fmt: skip
        return chance.choice(
            [lambda one: one] * 6
            + [
                lambda one: one + "/",
                lambda one: one + "/.",
                lambda one: one.replace("/box/", "/box/./deep/../"),
                lambda one: one.replace("/", "//"),
                lambda one: one + "\0.png",
                lambda one: " " + one,
                lambda one: one + "/../" + Path(one).name,
                lambda one: one.replace("inside", "INSIDE"),
                lambda one: one + "/" + "x" * 300,
                lambda one: "".join(f"%{ord(c):02x}" if c in "./" else c for c in one),
            ]
        )(base)

    @contextmanager
    def swapping(self, chance: random.Random, at: int) -> Iterator[list[Path]]:
        """During the block, change the world just before one of its files is opened or listed for the *at*-th time: a
        file or a folder becomes a link to its counterpart outside, or a pipe.
        """
        box = self.inside / "box"
        victim, turned = chance.choice(
            [
                (box / "good.png", self.outside / f"{SECRET}.png"),
                (box / "page" / "good.xml", self.outside / f"{SECRET}.xml"),
                (box / "deep" / "2.png", self.outside / f"{SECRET}.png"),
                (box / "good.txt", self.outside / f"{SECRET}.txt"),
                (box / "deep", self.outside / "sub"),
                (box / "page", self.outside),
                (box / "good.png", None),
                (box, self.outside),
            ]
        )
        names = (
            {victim.name, *(part.name for part in victim.rglob("*"))} if victim.is_dir() else {victim.name}
        )
        done: list[Path] = []
        left = [at]

        def change(event: str, path: Any) -> None:
            if done or os.path.basename(os.fsdecode(path)) not in names:
                return
            left[0] -= 1
            if left[0] > 0:
                return
            done.append(victim)
            os.rename(victim, victim.with_name(f"{victim.name}.was"))
            if turned is None:
                os.mkfifo(victim)
            else:
                os.symlink(turned, victim)

        watch().before = change
        try:
            yield done
        finally:
            watch().before = None


METS = """<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"><fileSec>
<fileGrp USE="IMG"><file ID="i" MIMETYPE="image/png"><FLocat xlink:href="{href}"/></file></fileGrp>
<fileGrp USE="PAGE"><file ID="p" MIMETYPE="text/xml"><FLocat xlink:href="../../page/good.xml"/></file></fileGrp></fileSec>
<structMap TYPE="PHYSICAL"><div><div TYPE="page"><fptr FILEID="i"/><fptr FILEID="p"/></div></div></structMap></mets>
"""
