"""Published models and models from disk at the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from armarium_testing.command_line import Machine

sys.path.insert(0, str(Path(__file__).parents[3] / "reader_hand" / "tests"))

from atr_models import publish

NAME = "kraken-ppocrv6-tiny"


def test_a_published_model_is_shown_and_never_downloaded_without_a_yes(desk: Machine) -> None:
    listed = desk.succeed("models", "get")
    for size in ("tiny", "small", "medium"):
        assert f"kraken-ppocrv6-{size}" in listed.out
    assert "no published model" in desk.expect_refusal("models", "get", "unheard-of").lower()
    result = desk.run("models", "get", "10.5281/zenodo.21788403")
    assert result.code != 0
    assert "Say --yes" in result.err
    for told in (
        NAME.removeprefix("kraken-"),
        "Apache-2.0",
        "Benjamin Kiessling",
        "about 3 MB",
        "44 languages",
    ):
        assert told.replace("ppocrv6-", "") in result.err
    assert "pinned at this download" in result.err
    assert not list(desk.home.rglob("*.onnx"))


def test_a_model_from_disk_is_taken_in_and_shown_among_the_models(desk: Machine, tmp_path: Path) -> None:
    folder = publish(tmp_path / "my-model")
    added = desk.succeed("models", "add", str(folder))
    assert "armarium read --reader atr --model my-model" in added.out
    assert "already on this machine" in desk.expect_refusal("models", "add", str(folder))
    assert desk.succeed("models", "add", str(folder), "--name", "other", "--json").json["model_id"] == "other"
    (folder / "dict.txt").write_text("a\n")
    refused = desk.run("models", "add", str(folder), "--name", "third")
    assert refused.code == 1
    assert "do not belong together" in refused.err
