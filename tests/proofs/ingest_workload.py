"""Workloads for the fault tests: a set of files imported as one step, and a folder with layout files."""

from __future__ import annotations

from pathlib import Path

from workloads import carry_on

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.faults import Say, Workload

PATIENCE = 6.0
"""Seconds for the jobs of an import; on a disk that keeps failing they cannot finish."""

PAGE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="{name}.png" imageWidth="64" imageHeight="48">
    <TextRegion id="r1"><Coords points="1,1 60,1 60,40 1,40"/>
      <TextLine id="l1"><Coords points="2,2 50,2 50,20 2,20"/><TextEquiv><Unicode>{name}</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


def _files(engine: Engine, library: Library, folder: Path) -> None:
    from PIL import Image

    for box, count in (("set", 4), ("box", 6)):
        (folder / box / "page").mkdir(parents=True)
        for number in range(count):
            name = f"{box}{number}"
            Image.new("L", (64, 48), number * 20 + len(box) * 9).save(folder / box / f"{name}.png")
            (folder / box / "page" / f"{name}.xml").write_text(PAGE.format(name=name))


def _ingest(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    paths = [str(path) for path in sorted((folder / "set").rglob("*")) if path.is_file()]
    engine.run(library, "ingest.files", {"paths": paths}, LOCAL_OWNER)
    say("set")
    engine.run(library, "document.import", {"folder": str(folder / "box")}, LOCAL_OWNER)
    say("box")
    engine.jobs.run_until_idle(library, PATIENCE)


def _whole(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT d.name, count(DISTINCT d.id), count(DISTINCT p.id), count(DISTINCT s.id),"
            " group_concat(DISTINCT r.content) FROM document d LEFT JOIN segment_pass p ON p.document_id = d.id"
            " LEFT JOIN segment s ON s.pass_id = p.id LEFT JOIN content_representation r ON r.segment_id = s.id"
            " WHERE d.name LIKE '%.png' GROUP BY d.name"
        ).all()
        named = conn.exec_driver_sql(
            "SELECT checksum FROM rendition UNION SELECT original FROM format_import"
        ).scalars()
        missing = [digest for digest in named if not library.objects.has(digest)]
    found = {row[0].removesuffix(".png"): tuple(row[1:]) for row in rows}
    for name, (documents, passes, segments, text) in found.items():
        if (documents, passes, segments, text) != (1, 1, 2, name):
            wrong.append(
                f"{name}: {documents} documents, {passes} passes, {segments} segments, text {text!r}"
            )
    in_set = sum(1 for name in found if name.startswith("set"))
    if in_set not in ((4,) if "set" in said else (0, 4)):
        wrong.append(f"{in_set} of the 4 files of one step came in")
    in_box = sum(1 for name in found if name.startswith("box"))
    if "box" in said and in_box != 6:
        wrong.append(f"{in_box} of the 6 files of the folder came in")
    wrong += [f"the file {digest[:12]} is missing" for digest in missing]
    return wrong


INGEST = Workload(plugins=lambda: None, prepare=_files, work=_ingest, check=_whole, finish=carry_on)
