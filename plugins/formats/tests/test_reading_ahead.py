"""Layout files read ahead by a worker process: the import's result is the same as without it, whatever
happens to the worker.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path
from threading import Event, current_thread
from types import SimpleNamespace
from typing import Any

import pytest
from batch_files import page, picture, rows, write_files
from test_folder_import import import_and_wait

from armarium.api import JobContext, Unavailable, new_id
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.jobs import layouts, reading_ahead
from armarium_formats.jobs.layout_progress import MOST, SECONDS, Pace
from armarium_formats.jobs.reading_ahead import ReadAhead, ReadingAhead
from armarium_formats.pagexml.driver import PageXml
from armarium_testing.kills import Killed, KilledContext
from armarium_testing.samples import sample

GOOD = 12
FILES = {
    **{f"{n:02}.png": picture(grey=n) for n in range(GOOD)},
    **{f"page/{n:02}.xml": page(f"{n:02}.png", text=f"Line {n}") for n in range(GOOD)},
    "page/broken.xml": b"<PcGts",
    "page/far.xml": page("00.png", width=50).replace(b"2,2 48,2 48,20 2,20", b"902,2 948,2 948,20 902,20"),
    "page/unsized.xml": page("01.png").replace(b'imageWidth="120"', b'imageWidth="0"'),
    "page/words.txt": b"no layout",
}


@pytest.fixture
def ready_files(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Make every import read ahead and wait for the worker; the list records whether each file was ready."""
    seen: list[bool] = []
    take = ReadAhead.take

    def wait(ahead: ReadAhead, number: int) -> Any:
        if ahead.hands is not None:
            ahead.start.exception()
            if ahead.calls and number >= ahead.calls[0][0].start:
                ahead.calls[0][1].exception()
        found = take(ahead, number)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(ReadAhead, "take", wait)
    monkeypatch.setattr(reading_ahead, "LEAST_FILES", 1)
    monkeypatch.setattr(reading_ahead, "AT_ONCE", 3)
    monkeypatch.setattr(reading_ahead, "_cores", lambda: 2)
    return seen


def call_in_process(
    ctx: Any, runtime: None, worker: str, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    """Return the worker's answer, computed in this process."""
    asked = SimpleNamespace(params=params, answer_binary=b"")
    answer = {} if method == "hello" else ReadingAhead.read(asked)
    return {**answer, "binary": asked.answer_binary}


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the worker process by a call in this process."""
    monkeypatch.setattr(JobContext, "call_worker", call_in_process)


SEEN = (
    "SELECT d.name, p.import_file, p.import_checksum, s.kind, json_extract(s.anchor, '$.rect'),"
    " json_extract(s.anchor, '$.polygon'), s.baseline, s.metadata, r.content, f.notes"
    " FROM segment s JOIN document d ON d.id = s.document_id JOIN segment_pass p ON p.id = s.pass_id"
    " JOIN format_import f ON f.pass_id = p.id"
    " LEFT JOIN content_representation r ON r.segment_id = s.id ORDER BY p.import_file, s.id"
)


def test_what_is_read_ahead_is_what_the_import_reads(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ready_files: list[bool]
) -> None:
    write_files(tmp_path / "box", FILES)
    _, ahead = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    with_worker = rows(library, SEEN)
    assert ready_files.count(True) == GOOD - 2, (
        "all but the first, and the next one that was asked for too late"
    )
    engine.run(library, "library.create", {"path": str(tmp_path / "Other.library")}, LOCAL_OWNER)
    other = engine.libraries.get(tmp_path / "Other.library")
    monkeypatch.setattr(reading_ahead, "LEAST_FILES", 1000)
    _, alone = import_and_wait(engine, other, folder=str(tmp_path / "box"))
    assert ahead == alone
    assert (alone["passes"], alone["refused_count"]) == (GOOD + 1, 2)
    assert with_worker == rows(other, SEEN)


@pytest.mark.parametrize("swapped", ["link", "another name", "folder"])
def test_a_file_that_was_swapped_since_it_was_listed_is_left_to_the_import(
    tmp_path: Path, swapped: str
) -> None:
    """The worker cannot tell whether the file is still the listed one; the import can, and refuses it."""
    write_files(tmp_path / "box", FILES)
    place = next(one for one in sorted((tmp_path / "box").rglob("*.xml")))
    asked = SimpleNamespace(
        params={"driver": PageXml.name, "files": [(str(place), place.name, None)], "beyond": "clip"},
        answer_binary=b"",
    )
    ReadingAhead.read(asked)
    assert pickle.loads(asked.answer_binary)[0].data == place.read_bytes()
    path = tmp_path / "kept.xml"
    place.rename(path)
    if swapped == "link":
        place.symlink_to(path)
    elif swapped == "another name":
        place.hardlink_to(path)
    else:
        place.parent.rename(tmp_path / "other")
        path.rename(tmp_path / "other" / place.name)
        place.parent.symlink_to(tmp_path / "other")
    ReadingAhead.read(asked)
    assert pickle.loads(asked.answer_binary) == [None]


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_worker_that_fails_is_replaced_by_reading_in_the_import(
    engine: Engine,
    library: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ready_files: list[bool],
    in_process: None,
    after: int,
) -> None:
    write_files(tmp_path / "box", FILES)
    asked: list[str] = []
    call = JobContext.call_worker

    def give_way(ctx: JobContext, runtime: None, worker: str, method: str, params: dict[str, Any]) -> Any:
        asked.append(method)
        if len(asked) > after:
            raise Unavailable("The worker crashed.", code="worker_died")
        return call(ctx, runtime, worker, method, params)

    monkeypatch.setattr(JobContext, "call_worker", give_way)
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    assert (found["passes"], found["refused_count"]) == (GOOD + 1, 2)
    assert ready_files.count(True) in (range(1, 4) if after == 2 else [0])
    assert len(asked) <= after + reading_ahead.CALLS * reading_ahead.WORKERS


def test_results_of_another_driver_with_the_same_name_are_not_used(
    engine: Engine,
    library: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ready_files: list[bool],
    in_process: None,
) -> None:
    write_files(tmp_path / "box", FILES)
    monkeypatch.setattr(
        reading_ahead, "_whole_name", lambda kind, names=iter("abcdefghijklmnop"): next(names)
    )
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    assert (found["passes"], any(ready_files)) == (GOOD + 1, False)


@pytest.mark.parametrize("calls", sample([3, 10, 17, 22, 27, 31, 36, 40], 4))
def test_a_kill_while_files_are_read_ahead_loses_and_doubles_nothing(
    engine: Engine,
    library: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ready_files: list[bool],
    calls: int,
) -> None:
    write_files(tmp_path / "box", FILES)
    monkeypatch.setattr(layouts, "Pace", lambda: Pace(4))
    with monkeypatch.context() as patch:
        patch.setattr(type(engine.kinds), "of_stage", lambda self, stage: [])
        import_and_wait(engine, library, folder=str(tmp_path / "box"))
    (parent,) = rows(library, "SELECT id FROM document WHERE name = 'Sources'")
    args = layouts.LayoutJobArgs(
        paths=[], folder=str(tmp_path / "box"), parent_id=parent[0], mirrored="box", set_id=new_id()
    )

    class KilledImport(KilledContext):
        call_worker = call_in_process

    job: Any = KilledImport(engine, library, args, calls)
    with suppress(Killed):
        layouts.run_layouts(job)
    found_layouts = layouts.run_layouts(KilledImport(engine, library, args, 10_000, checkpoint=job.kept))  # type: ignore[arg-type]
    assert (found_layouts["passes"], found_layouts["refused_count"]) == (GOOD + 1, 2)
    assert any(ready_files)
    assert rows(library, "SELECT count(*), count(DISTINCT import_checksum) FROM segment_pass") == [
        (GOOD + 1, GOOD + 1)
    ]


@pytest.mark.parametrize("lacking", ["cores", "files", "companions", "format"])
def test_nothing_is_read_ahead_for_few_files_one_core_or_companions(
    engine: Engine,
    library: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ready_files: list[bool],
    in_process: None,
    lacking: str,
) -> None:
    files, more = dict(FILES), {}
    if lacking == "cores":
        monkeypatch.setattr(reading_ahead, "_cores", lambda: 1)
    elif lacking == "files":
        monkeypatch.setattr(reading_ahead, "LEAST_FILES", 100)
    elif lacking == "companions":
        files["page/classes.txt"] = b"text\n"
    else:
        more["format"] = "pagexml"
    write_files(tmp_path / "box", files)
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"), **more)
    assert (found["passes"], any(ready_files)) == (GOOD + 1, False)


def test_the_worker_leaves_unverifiable_files_to_the_import(tmp_path: Path) -> None:
    mets = b'<mets xmlns="http://www.loc.gov/METS/"/>'
    files = {
        "good.xml": page(),
        "empty.xml": b"",
        "mets.xml": mets,
        "huge.xml": page() + b" " * reading_ahead.LONGEST,
        **{name.partition("/")[2]: data for name, data in FILES.items() if not name[-5].isdigit()},
    }
    paths = write_files(tmp_path, files)
    asked = [(str(path), path.name, None) for path in [*paths, tmp_path / "gone.xml"]]
    call = SimpleNamespace(params={"driver": "pagexml", "beyond": "clip", "files": asked}, answer_binary=b"")
    assert ReadingAhead.read(call) == {"driver": f"{PageXml.__module__}:PageXml"}
    good, *others = pickle.loads(call.answer_binary)
    assert good.data == files["good.xml"]
    assert good.placed.segments.keys == ["r1", "l1"]
    assert others == [None] * (len(asked) - 1)


def test_a_slow_worker_is_waited_for_only_once(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "box", FILES)
    over = Event()

    def stand_still(ctx: Any, runtime: None, worker: str, method: str, params: dict[str, Any]) -> Any:
        if method != "hello":
            over.wait(60)
        return call_in_process(ctx, runtime, worker, method, params)

    monkeypatch.setattr(JobContext, "call_worker", stand_still)
    for name, value in (("LEAST_FILES", 1), ("AT_ONCE", 3), ("PATIENCE", 0.001)):
        monkeypatch.setattr(reading_ahead, name, value)
    patient: list[object] = []
    plain = reading_ahead.wait
    monkeypatch.setattr(reading_ahead, "wait", lambda *args: [patient.append(args), plain(*args)][1])
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    over.set()
    assert (found["passes"], found["refused_count"]) == (GOOD + 1, 2)
    assert 0 < len(patient) <= GOOD // 3 + 1, "once a call"


def test_only_files_named_like_a_picture_are_stored_ahead(
    engine: Engine,
    library: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ready_files: list[bool],
    in_process: None,
) -> None:
    strangers = {f"page/x{n}.xml": page(f"gone{n}.png", text=f"Far {n}", width=77 + n) for n in range(4)}
    write_files(tmp_path / "box", {**FILES, **strangers})
    kept: list[str] = []
    plain = type(library.objects).put_bytes

    def put(store: Any, data: bytes) -> str:
        kept.append(current_thread().name)
        return plain(store, data)

    monkeypatch.setattr(type(library.objects), "put_bytes", put)
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    assert (found["passes"], found["unpaired_count"]) == (GOOD + 1, len(strangers) + 1)
    ahead = [name for name in kept if name.startswith("keep-ahead")]
    assert len(ahead) == GOOD - 2
    assert len(kept) == found["passes"], "each once, and none that stays without a picture"


def test_steps_grow_while_they_are_quick_and_shrink_where_they_are_not() -> None:
    pace = Pace(32)
    pace.note_step(32, 0.0)
    assert pace.files == 64, "twice as many at most"
    for _ in range(3):
        pace.note_step(pace.files, SECONDS / 100)
    assert pace.files == MOST
    pace.note_step(MOST, SECONDS * 2)
    assert pace.files == MOST // 2
    pace.note_step(1, 60.0)
    assert pace.files == 1, "a page that takes long by itself is a step"
