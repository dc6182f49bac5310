"""`armarium demo`: the main job from beginning to end, on sample pages or a folder of your own, with pictures."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    legible,
    own_engine,
    plural,
    result_of,
    settings_of_this_user,
    table,
    write_file,
)
from armarium_documents.commandline import pages_of, write_exports

commands = Commands(Topic.projects)

MARKER = ".armarium-demo"
PICTURES = 13
"""How many pages are drawn; drawing takes longer than all other work on a page except reading."""
LOG = 5000
"""How many lines of a job's log are requested."""


@dataclass
class Demo:
    """One run of the demonstration: where its files are and what it found."""

    folder: Path
    session: Session
    seconds: dict[str, float] = field(default_factory=dict)
    truth: dict[str, list[str]] = field(default_factory=dict)
    """Page name to the lines it really contains, for the sample pages."""

    def note_time(self, what: str, began: float) -> None:
        """Record how long a part took."""
        self.seconds[what] = round(time.monotonic() - began, 2)


@commands.example("demo --folder pages --language es")
def demo(
    folder: Annotated[str | None, "A folder of pages; default: sample pages are drawn."] = None,
    language: Annotated[str | None, "Language of the pages (BCP 47)."] = None,
    line_finder: Annotated[str, "Reader that finds the lines."] = "lines",
    reader: Annotated[
        str | None, "Reader that reads them; default: the one that fits each page best."
    ] = None,
    out: Annotated[str, "The folder for the project and its results."] = "demo",
    draw: Annotated[str | None, "Only draw the sample pages, into this new folder."] = None,
) -> None:
    """Import pages, find lines, read, correct a line, export, draw, undo and redo, in one go."""
    if draw is not None:
        _draw_samples(Path(draw))
        return
    pages_folder = _folder_of_pages(folder)
    place = _make_empty_folder(Path(out).absolute(), pages_folder)
    roots = [place, *([pages_folder] if pages_folder else [])]
    settings = settings_of_this_user().model_copy(
        update={"state_dir": place / "state", "library_roots": roots}
    )
    _share_runtimes(settings.state_dir)
    with own_engine(settings) as session:
        run = Demo(place, session)
        source = pages_folder or _sample_pages(run)
        library = place / "Demo.library"
        session.post("/api/library", {"path": str(library), "name": "Demonstration"})
        session.library = str(library)
        _install_if_needed(session, line_finder)
        report = _main_job(run, source, language, line_finder, reader)
    answer(report, lambda: _show(report))


def _make_empty_folder(place: Path, pages: Path | None) -> Path:
    """Create an empty folder for the demonstration; one from an earlier run is cleared, any other is refused."""
    if pages is not None and place.resolve() in (pages, *pages.parents):
        raise Refused(
            f"{pages} is inside {place}, which the demonstration clears; copy the pages elsewhere first."
        )
    if place.exists() and any(place.iterdir()):
        if not (place / MARKER).is_file():
            raise Refused(f"{place} exists and is not from a demonstration; name another folder with --out.")
        shutil.rmtree(place)
    place.mkdir(parents=True, exist_ok=True)
    (place / MARKER).touch()
    return place


def _folder_of_pages(folder: str | None) -> Path | None:
    if folder is None:
        return None
    place = Path(folder).expanduser().resolve()
    if not place.is_dir():
        raise Refused(f"{place} is not a folder; FOLDER names a folder of page images.")
    return place


def _share_runtimes(state: Path) -> None:
    """Let the demonstration's engine use the runtimes of this machine: each takes a gigabyte and minutes to install."""
    shared = settings_of_this_user().state_dir / "runtimes"
    for folder in (shared, state):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (state / "runtimes").symlink_to(shared, target_is_directory=True)


def _draw_samples(place: Path) -> None:
    from armarium_demo.samples import manuscript_page, write_sample_pages

    if place.exists() and any(place.iterdir()):
        raise Refused(f"{place} is not empty; name a new folder.")
    sample_pages = write_sample_pages(place, manuscript=manuscript_page())
    answer({"pages": [str(path) for path in sample_pages]}, f"{plural(len(sample_pages), 'page')} in {place}")


def _sample_pages(run: Demo) -> Path:
    from armarium_demo.samples import manuscript_page, sample_pages, write_sample_pages

    began = time.monotonic()
    place = run.folder / "pages"
    typer.echo(
        "Drawing sample pages: letters and deeds invented for this project, and one written by hand.",
        err=True,
    )
    manuscript = manuscript_page()
    write_sample_pages(place, manuscript=manuscript)
    run.truth = {page.name: [line.text for line in page.lines] for page in [*sample_pages(), manuscript]}
    run.note_time("draw sample pages", began)
    return place


def _install_if_needed(session: Session, line_finder: str) -> None:
    """Install the runtime of a line finder that has one of its own, unless it is installed."""
    from armarium.api import Engine

    engine = Engine(settings_of_this_user())
    needs = getattr(engine.drivers.load("armarium.readers", line_finder), "runtime", None)
    if needs is None:
        return
    typer.echo(f"Setting up the runtime of {line_finder}, unless it is installed.", err=True)
    began = session.act("runtime.install", {"name": needs.name})["result"]
    if began.get("job_id"):
        follow_job(session, began["job_id"], f"Install {needs.name}")


def _main_job(
    run: Demo, source: Path, language: str | None, line_finder: str, reader: str | None
) -> dict[str, Any]:
    session = run.session
    began = time.monotonic()
    started = session.post("/api/documents/import", {"folder": str(source)})
    follow_job(session, started["job_id"], "Import")
    refused = result_of(session, started["job_id"]).get("refused", [])
    run.note_time("import", began)
    pages = pages_of(session, [])
    if not pages:
        raise Refused(f"None of the files in {source} is a page.")
    ids = [page["id"] for page in pages]

    began = time.monotonic()
    lines_found = session.act("reading.find_lines", {"scope_ids": ids, "reader": line_finder})["result"]
    follow_job(session, lines_found["job_id"], "Find lines")
    # Of this run: a page may also have lines from a layout file beside it.
    lines = result_of(session, lines_found["job_id"])["lines"]
    run.note_time("find lines", began)

    began = time.monotonic()
    params: dict[str, Any] = {"scope_ids": ids}
    params |= {key: value for key, value in (("reader", reader), ("language", language)) if value}
    read = session.act("reading.read_lines", params)["result"]
    follow_job(session, read["job_id"], "Read")
    run.note_time("read", began)
    readers = _who_read(session, read["job_id"], {page["id"]: page["name"] for page in pages})

    corrected = _correct_one(run, pages)
    files = run.folder / "export"
    files.mkdir(exist_ok=True)
    began = time.monotonic()
    exported = write_exports(session, pages, "pagexml", files, overwrite=True)
    exported += write_exports(session, pages, "plain-text", files, overwrite=True)
    run.note_time("export", began)
    began = time.monotonic()
    pictures = _draw(run, pages)
    run.note_time("draw pages", began)
    undone = session.post(f"/api/actions/audit/{corrected['audit_id']}/undo")
    before = _line(session, corrected["document_id"], corrected["segment_id"])
    session.post("/api/actions/audit/undo", {"audit_ids": undone["audit_ids"]})
    after = _line(session, corrected["document_id"], corrected["segment_id"])
    if (before, after) != (corrected["was"], corrected["now"]):
        raise Refused("Undoing and redoing the correction did not restore the text.")
    worked = run.seconds["find lines"] + run.seconds["read"]
    return {
        "pages": len(pages),
        "lines": lines,
        "seconds_a_page": round(worked / len(pages), 2),
        "seconds": run.seconds,
        "corrected": {key: corrected[key] for key in ("page", "was", "now", "audit_id")},
        "readers": readers,
        "untried": [
            page["name"] for page in pages if page["name"] not in {reader["page"] for reader in readers}
        ],
        "not_imported": refused,
        "library": session.library,
        "exports": str(files),
        "pictures": pictures,
        "files_written": len(exported),
        "state_dir": str(run.folder / "state"),
    }


def _who_read(session: Session, job_id: str, names: dict[str, str]) -> list[dict[str, Any]]:
    """Return for each page tried by several readers which one read it, and what each expected."""
    lines = session.get(f"/api/activity/jobs/{job_id}/log", limit=LOG)["lines"]
    return [
        {"page": names[data["document_id"]], "reader": data["reader"], "expected": data["expected"]}
        for data in (line["data"] for line in lines)
        if "expected" in data
    ]


def _correct_one(run: Demo, pages: list[dict[str, Any]]) -> dict[str, Any]:
    """Correct, as a person, the line that was read worst among those whose true text is known, else the longest."""
    session = run.session
    best: tuple[float, dict[str, Any]] | None = None
    for page in pages:
        text = session.get(f"/api/segments/document/{page['id']}/text")
        truth = run.truth.get(Path(page["name"]).stem, [])
        for span in text["spans"]:
            read = text["text"][span["char_start"] : span["char_end"]]
            near = difflib.get_close_matches(read, truth, 1, 0.6)
            if truth and (not near or near[0] == read):
                continue
            corrected = near[0] if near else f"{read} [checked]"
            weight = (
                1 - difflib.SequenceMatcher(None, read, corrected).ratio() if near else len(read) / 10_000
            )
            if best is None or weight > best[0]:
                best = (
                    weight,
                    {
                        "page": page["name"],
                        "document_id": page["id"],
                        "segment_id": span["segment_id"],
                        "representation_id": span["representation_id"],
                        "was": read,
                        "now": corrected,
                    },
                )
    if best is None:
        raise Refused(
            "No line was read on any page, so there is none to correct; look at the pictures of the pages."
        )
    chosen = best[1]
    body = {"text": chosen["now"], "expected_counting_id": chosen["representation_id"]}
    answer = session.post(f"/api/segments/{chosen['segment_id']}/correct", body)
    return {**chosen, "audit_id": answer["audit_id"]}


def _line(session: Session, document_id: str, segment_id: str) -> str | None:
    text = session.get(f"/api/segments/document/{document_id}/text")
    for span in text["spans"]:
        if span["segment_id"] == segment_id:
            return str(text["text"][span["char_start"] : span["char_end"]])
    return None


def _draw(run: Demo, pages: list[dict[str, Any]]) -> list[str]:
    folder = run.folder / "pictures"
    folder.mkdir(exist_ok=True)
    paths = []
    for number, page in enumerate(pages[:PICTURES], start=1):
        picture = run.session.raw(
            "GET", f"/api/segments/document/{page['id']}/picture", query={"max_size": 1600}
        )
        place = folder / f"{number:03}-{Path(page['name']).stem[:60].replace('/', '_')}.png"
        write_file(place, picture, overwrite=True)
        paths.append(str(place))
    return paths


def _show(report: dict[str, Any]) -> None:
    state_folder = os.path.relpath(report["state_dir"])
    rows: list[tuple[object, object]] = [
        ("pages", report["pages"]),
        ("lines", report["lines"]),
        ("seconds per page (lines and reading)", report["seconds_a_page"]),
        (
            "corrected",
            f"{report['corrected']['page']}: {report['corrected']['was']} → {report['corrected']['now']}",
        ),
        ("undone and redone", f"step {report['corrected']['audit_id']}"),
        ("project", os.path.relpath(report["library"])),
        (
            "PAGE XML and text",
            f"{os.path.relpath(report['exports'])} ({plural(report['files_written'], 'file')})",
        ),
        (
            "pictures of the pages",
            os.path.relpath(Path(report["pictures"][0]).parent) if report["pictures"] else "",
        ),
        ("see it in a browser", f"SERVICE_STATE_DIR={state_folder} {_this_command()} open"),
    ]
    table("The main job, done", ("", ""), rows)
    if report["readers"]:
        table(
            "Which reader read which page, and why",
            ("page", "reader", "letters expected right"),
            _reasons(report),
        )
    if report["readers"] and report["untried"]:
        typer.echo(
            legible(f"read without trying several readers on a sample: {', '.join(report['untried'])}")
        )
    for refusal in report["not_imported"]:
        typer.echo(legible(f"not imported: {refusal['file']}: {refusal['why']}"))


def _this_command() -> str:
    """Return how the command line that runs is called from here."""
    here = Path(sys.executable).with_name("armarium")
    if shutil.which("armarium") and Path(str(shutil.which("armarium"))).resolve() == here.resolve():
        return "armarium"
    return str(here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here)


def _reasons(report: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return a row for each page: its reader, and what it and the others expected on a sample of its lines."""
    return [
        (
            reader["page"],
            reader["reader"],
            ", ".join(
                f"{name} {share:.0%}"
                for name, share in sorted(reader["expected"].items(), key=lambda pair: -pair[1])
            ),
        )
        for reader in report["readers"]
    ]
