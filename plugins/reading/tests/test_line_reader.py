"""`linereader` stands for whichever line reader has the named model: by name, by a card's id, by published
id, or by file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_readers import FakeReader
from reading_project import ReadingProject

from armarium.api import NameOrMaterialPath, ServiceError
from armarium.principals import LOCAL_OWNER
from armarium_reading.readers import Choice, choose, models_folder


class ThirdPartyReader(FakeReader):
    """A third-party line reader whose models are of the kind that all line readers share."""

    name, label, model_kind = "first", "First", "linereader"
    model_suffixes = (".one",)
    reading_needs_model = True


class OwnReader(FakeReader):
    """A line reader of ours with models of its own kind, which needs none to be named."""

    name, label, model_kind = "hand", "Second", "second"
    model_suffixes = (".two",)


@pytest.fixture
def readers(project: ReadingProject, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models folder, with only these two line readers installed."""
    monkeypatch.setattr(
        "armarium_reading.readers.readers", lambda engine: [FakeReader, ThirdPartyReader, OwnReader]
    )
    for reader, name in ((ThirdPartyReader, "latin.one"), (OwnReader, "court.two")):
        folder = models_folder(project.engine, str(reader.model_kind))
        folder.mkdir(parents=True)
        (folder / name).write_text(reader.name, encoding="utf-8")
    published = models_folder(project.engine, "linereader") / "latin.one.source.json"
    published.write_text(json.dumps({"source_id": "10.5281/zenodo.7"}), encoding="utf-8")
    return models_folder(project.engine, "second").parent


def choose_line_reader(project: ReadingProject, model: str | None, method: str = "read_lines") -> Choice:
    named = None if model is None else NameOrMaterialPath(model)
    if named is not None:
        project.engine.paths.check({"model": named}, LOCAL_OWNER)
    return choose(project.engine, project.library, reader="linereader", method=method, model=named)


@pytest.mark.parametrize(
    ("model", "reader", "file"),
    [
        ("latin", "first", "latin.one"),
        ("latin.one", "first", "latin.one"),
        ("court", "hand", "court.two"),
        ("linereader:court@1", "hand", "court.two"),
        ("linereader:latin.one", "first", "latin.one"),
        ("10.5281/zenodo.7", "first", "latin.one"),
        ("linereader:10.5281/zenodo.7@2", "first", "latin.one"),
        (None, "hand", None),
    ],
)
def test_the_reader_that_has_the_model_is_taken(
    project: ReadingProject, readers: Path, model: str | None, reader: str, file: str | None
) -> None:
    line_reader = choose_line_reader(project, model)
    assert (line_reader.reader.name, line_reader.model_path and line_reader.model_path.name) == (reader, file)


def test_a_file_is_read_by_the_reader_of_its_kind(
    project: ReadingProject, readers: Path, tmp_path: Path
) -> None:
    for suffix, reader in ((".two", "hand"), (".one", "first")):
        file = tmp_path / f"mine{suffix}"
        file.write_text("weights", encoding="utf-8")
        line_reader = choose_line_reader(project, str(file))
        assert (line_reader.reader.name, line_reader.model_path) == (reader, file)


@pytest.mark.parametrize(
    "model", ["nobody", "linereader:nobody@1", "linereader:/etc/passwd@1", "linereader:../secret.two@1"]
)
def test_a_model_that_no_line_reader_has_is_refused(
    project: ReadingProject, readers: Path, model: str
) -> None:
    (readers / "secret.two").write_text("beside the models", encoding="utf-8")
    with pytest.raises(ServiceError) as refused:
        choose_line_reader(project, model)
    assert (refused.value.status, refused.value.code) == (404, "unknown_model")


@pytest.mark.usefixtures("readers")
def test_a_name_longer_than_a_file_can_have_is_refused(project: ReadingProject) -> None:
    with pytest.raises(ServiceError) as refused:
        choose_line_reader(project, "0" * 1_200)
    assert refused.value.status < 500
