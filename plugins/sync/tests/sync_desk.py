"""A project at work with synced folders: pages that are made, corrected and moved, files that are changed outside."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from armarium.api import Engine, Library, ServiceError, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_sync.intake import Looker, Outcome
from armarium_sync.principal import KEEPER
from armarium_sync.writing import Writer

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="a.png" imageWidth="600" imageHeight="400">
    <TextRegion id="r1"><Coords points="50,40 550,40 550,360 50,360"/>
      <TextLine id="l1"><Coords points="60,60 540,60 540,120 60,120"/><Baseline points="60,110 540,110"/>
        <TextEquiv><Unicode>{words}</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


def picture(shade: int, size: tuple[int, int] = (60, 40)) -> bytes:
    """A PNG of one grey."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("L", size, shade).save(file, "PNG")
    return file.getvalue()


@dataclass
class SyncDesk:
    """Short ways to do and to look. *folder* is where the disk's files lie."""

    engine: Engine
    library: Library
    client: Any
    folder: Path
    lines: dict[str, str] = field(default_factory=dict)

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read_all() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def page(self, words: str = "Dear Sir", name: str = "a letter", parent: str | None = None) -> str:
        """A page with one line of text; its id."""
        params = {"name": name, "doc_type": "page", **({"parent_id": parent} if parent else {})}
        page = str(self.do("document.create", params)["id"])
        self.do("format.import", {"document_id": page, "file": PAGE.format(words=words), "filename": "a.xml"})
        self.lines[page] = self.rows(
            "SELECT id FROM segment WHERE document_id = ? AND kind = 'line' AND deleted_at IS NULL", page
        )[0][0]
        return page

    def correct(self, page: str, words: str) -> str:
        """A person corrects the line of a page; the audit row."""
        params = {"segment_id": self.lines[page], "text": words}
        return self.engine.run(self.library, "representation.create", params, LOCAL_OWNER).audit_id

    def tie(self, *formats: str, **more: Any) -> str:
        """Tie the folder over HTTP; its id."""
        answer = self.client.post(
            "/api/sync-folders",
            json={"path": str(self.folder), "formats": list(formats or ("pagexml",)), **more},
        )
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def look(self, folder_id: str, *, thorough: bool = False) -> Outcome:
        """One look, as the job does it."""

        def run(name: str, params: dict[str, Any]) -> Any:
            return self.engine.run(self.library, name, params, KEEPER).result

        return Looker(self.engine, self.library, folder_id, run).run(thorough=thorough)

    def write(self, folder_id: str) -> int:
        """Write all that waits, without the quiet period."""
        writer = Writer(self.engine, self.library, folder_id, KEEPER)
        writer.run(quiet=-1.0)
        return writer.written

    def settle(self, folder_id: str) -> None:
        """Look, and write what waits, until nothing changes."""
        self.look(folder_id, thorough=True)
        self.write(folder_id)
        self.look(folder_id)

    def work(self) -> None:
        """Let the jobs run that wait, and none afterwards."""
        assert self.engine.jobs.run_until_idle(self.library, 60)
        self.engine.jobs.stop()

    def entry(self, folder_id: str) -> dict[str, Any]:
        """The folder as it is listed."""
        listed = self.client.get("/api/sync-folders").json()["folders"]
        return next(item for item in listed if item["id"] == folder_id)

    def file(self, page: str, format_name: str = "pagexml") -> Path:
        """The file of a page."""
        paths = [
            path
            for path in self.folder.rglob(f"*--{page}.*")
            if path.parent.name == format_name and not path.name.endswith(".loss.json")
        ]
        assert len(paths) == 1, paths
        return paths[0]

    def edit(self, file: Path, words: str) -> str:
        """Somebody changes the words of a file outside; its text then."""
        text = re.sub(r"<Unicode>[^<]*</Unicode>", f"<Unicode>{words}</Unicode>", file.read_text("utf-8"))
        file.write_text(text, "utf-8")
        return text

    def passes(self, page: str) -> list[str]:
        """The names of the passes of a page, the oldest first."""
        return [
            row[0]
            for row in self.rows(
                "SELECT name FROM segment_pass WHERE document_id = ? AND deleted_at IS NULL ORDER BY id", page
            )
        ]

    def scans(self, *names: str, folder: Path | None = None) -> str:
        """Pictures on the disk, imported with their folder; the id of the project folder."""
        folder = folder or self.folder
        for number, name in enumerate(names):
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(picture(10 + number))
        self.do("document.import", {"folder": str(folder)})
        self.work()
        return str(
            self.rows("SELECT id FROM document WHERE name = ? AND doc_type = 'folder'", folder.name)[0][0]
        )

    def document_of(self, name: str) -> str:
        """The live document of this name."""
        return str(self.rows("SELECT id FROM document WHERE name = ? AND deleted_at IS NULL", name)[0][0])

    def expect_refusal(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> ServiceError:
        """Run an action that is to be refused; the refusal."""
        try:
            self.do(name, params, who)
        except ServiceError as error:
            return error
        raise AssertionError(f"{name} was not refused")
