"""The published schemas are found, and a missing one fails CI instead of being skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from published_schemas import rng, schema_path, shared_data, xsd

PUBLISHED = (
    "alto-2-1.xsd", "alto-3-1.xsd", "alto-4-0.xsd", "alto-4-1.xsd", "alto-4-2.xsd", "alto-4-3.xsd", "alto-4-4.xsd",
    "page-2013-07-15.xsd", "page-2019-07-15.xsd", "mets.xsd",
    pytest.param("tei_all-4.7.0.rng", marks=pytest.mark.slow),
)  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_schema_compiles_without_the_network(name: str) -> None:
    assert xsd(name) if name.endswith(".xsd") else rng(name)


def test_in_ci_with_a_shared_folder_a_missing_schema_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    (tmp_path / "shared").mkdir()
    with pytest.raises(pytest.fail.Exception, match=r"alto-4-4\.xsd is missing.*shared/data/schemas"):
        schema_path("alto-4-4.xsd", tmp_path / "shared" / "data")
    with pytest.raises(pytest.skip.Exception, match=r"alto-4-4\.xsd is missing"):
        schema_path("alto-4-4.xsd", tmp_path / "elsewhere" / "data")


def test_elsewhere_it_is_skipped_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"belongs into the folder schemas"):
        schema_path("mets.xsd", tmp_path)


def test_the_folder_is_looked_for_beside_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARMARIUM_SHARED_DATA", raising=False)
    folder = shared_data()
    assert folder.parts[-2:] == ("shared", "data")
    assert (folder.parents[1] / Path(__file__).resolve().parents[3].name / "pyproject.toml").is_file()
