"""Custom prompts: which file is read, and refusals; a model's work names its provider."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from reading_project import ReadingProject

from armarium.api import ServiceError
from armarium_reading.api import own_prompt, place_with_provider


def test_a_prompt_is_read_from_the_folder_recipe(project: ReadingProject) -> None:
    file = project.library.path / "recipe" / "prompts" / "strict.txt"
    file.parent.mkdir(parents=True)
    file.write_text("\ufeffJudge like a notary.\n", encoding="utf-8")
    assert own_prompt(project.library, "prompts/strict.txt") == "Judge like a notary."


@pytest.mark.parametrize(
    "name",
    [
        "../library.json",
        "/etc/passwd",
        "a/../../library.json",
        "..\\library.json",
        "C:\\a",
        "~/a",
        "a\0b",
        "",
    ],
)
def test_a_prompt_file_outside_its_folder_is_refused(project: ReadingProject, name: str) -> None:
    with pytest.raises(ServiceError) as refused:
        own_prompt(project.library, name)
    assert (refused.value.status, refused.value.code) == (422, "bad_prompt_file")
    assert "folder recipe" in refused.value.detail


def test_what_is_no_prompt_is_refused(project: ReadingProject) -> None:
    folder = project.library.path / "recipe"
    folder.mkdir(exist_ok=True)
    (folder / "large.txt").write_text("x" * 70_000, encoding="utf-8")
    (folder / "latin.txt").write_bytes(b"Schl\xfcssel")
    (folder / "away.txt").symlink_to(project.library.path / "library.json")
    for name, status in (("large.txt", 422), ("latin.txt", 422), ("away.txt", 422), ("none.txt", 404)):
        with pytest.raises(ServiceError) as refused:
            own_prompt(project.library, name)
        assert refused.value.status == status


def test_work_of_a_model_names_its_provider(project: ReadingProject) -> None:
    settings = SimpleNamespace(provider=None, model=None, pages_may_leave=False)
    with pytest.raises(ServiceError) as refused:
        place_with_provider(project.engine, project.library, settings)
    assert (refused.value.status, refused.value.code) == (422, "provider_needed")
