"""Training: the corpora are split by source and by whole documents, the training runs, the evaluation counts correctly."""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_training import small_corpus, small_settings

TRAINING = Path(__file__).parents[1]
if str(TRAINING) not in sys.path:
    sys.path.append(str(TRAINING))

from training import evaluate  # noqa: E402
from training.card import markdown  # noqa: E402
from training.evaluate import Read, figures, interval, read  # noqa: E402
from training.packed import alphabet, drawn_documents, encode, split  # noqa: E402
from training.settings import settings  # noqa: E402

WANTED = settings()["corpus"]


def test_whole_documents_are_held_out_the_same_ones_each_time() -> None:
    sizes = Counter({f"document-{number}": 20 + number % 90 for number in range(300)})
    sizes["a register"] = 5000
    chosen = drawn_documents(sizes, WANTED)
    share = sum(sizes[name] for name in chosen) / sizes.total()
    assert abs(share - WANTED["held_out_share"]) < 0.01
    assert "a register" not in chosen
    assert drawn_documents(Counter(dict(reversed(sizes.items()))), WANTED) == chosen


def test_a_source_is_held_out_wholly_or_for_one_kind_of_writing() -> None:
    wanted = {**WANTED, "held_out_sources": ["a/unseen", "a/mixed:typed"], "held_out_share": 0.0}
    told = [("a/unseen", "hand", "train", "held-out"), ("a/mixed", "typed", "valid", "held-out"),
            ("a/mixed", "hand", "train", "train"), ("a/unseen", "hand", "test", "test"),
            ("a/seen", "hand", "valid", "train")]  # fmt: skip
    rows = [
        {"source": source, "kind": kind, "split": given, "document": source, "folder": "hand-lines"}
        for source, kind, given, _ in told
    ]
    assert split(rows, wanted) == [part for *_, part in told]
    rows[-1]["folder"] = "hand-lines-2"  # whole documents are `valid` there
    assert split(rows, wanted)[-1] == "held-out"


def test_lines_under_share_alike_licences_are_not_trained_on() -> None:
    assert "OCR-D/gt_structure_text" in WANTED["excluded_sources"]


def test_a_rare_letter_is_decomposed_or_its_line_left_out() -> None:
    texts = ["ae\u0303" * 20, "ẽ" * 3, "ω"]
    letters = alphabet(texts, 15)
    codes = {letter: code for code, letter in enumerate(letters, 1)}
    assert letters == ["a", "e", "\u0303"]
    assert encode("aẽ", codes) == [1, 2, 3]
    assert encode("aω", codes) is None


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_training_of_seconds_leaves_weights_that_the_export_takes_and_the_reader_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="torch is not installed here; the training needs it.")
    from training import base

    from armarium_hand_trainer.graph import fold_normalisation, onnx_model
    from armarium_reader_hand.model import LineModel

    small_corpus(tmp_path / "lines")
    out = tmp_path / "out"
    one_step = base.Training.train

    def few(training: Any, draw: Any) -> Any:
        if training.state["step"] == 3:
            training.ask_to_stop()
        return one_step(training, draw)

    monkeypatch.setattr(base.Training, "train", few)
    told = [
        "--lines",
        str(tmp_path / "lines"),
        "--out",
        str(out),
        "--settings",
        str(small_settings(tmp_path)),
    ]
    told += ["--minutes", "30", "--batch-columns", "4096"]
    base.main(told)
    import torch

    kept = torch.load(out / "weights.pt", weights_only=True)
    letters = json.loads((out / "alphabet.json").read_text("utf-8"))
    assert kept["state"]["step"] > 0
    assert set(json.loads((out / "evaluation.json").read_text("utf-8"))["kind"]) >= {"unseen hand"}
    weights = fold_normalisation({name: value.float().numpy() for name, value in kept["average"].items()})
    model = tmp_path / "model.onnx"
    calibration: Any = [[0.0, 0.0], [1.0, 1.0]]
    made = onnx_model(weights, {"alphabet": letters, "calibration": calibration})
    model.write_bytes(made.SerializeToString())
    (text,) = LineModel.of_file(model, 1).read([np.zeros((64, 100), np.uint8)])
    assert set(text.text) <= set(letters)


def _line(document: str, distance: int, length: int) -> Read:
    return Read(document, 0.5, 1 - distance / length, (distance, length), (distance + 1, length))


def test_the_rate_is_total_distance_over_total_characters() -> None:
    found_figures = figures([_line("a", 1, 2), _line("b", 0, 98)])
    assert (found_figures["cer"], found_figures["cer_unmapped"], found_figures["lines"]) == (0.01, 0.03, 2)


def test_the_interval_is_over_documents() -> None:
    alike = [_line(f"document-{number}", 10, 100) for number in range(20)]
    assert interval(alike) == [0.1, 0.1]
    two_kinds = [_line(f"document-{number}", 50 * (number % 2), 100) for number in range(40)]
    low, high = interval(two_kinds)
    assert 0.1 < low < 0.25 < high < 0.4


def test_both_sides_are_compared_with_and_without_the_convention() -> None:
    row = {"text": "deſſus", "document": "d"}
    line = read(row, "dessus", 0.9)
    assert (line.mapped, line.unmapped) == ((0, 6), (2, 6))


def test_what_is_missing_for_an_evaluation_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluate"])
    monkeypatch.setattr(evaluate, "corpora", lambda: [tmp_path])
    assert evaluate.main() == 1
    assert "The corpus is not here" in capsys.readouterr().err
    (tmp_path / "test-000.parquet").write_bytes(b"")
    monkeypatch.setattr(evaluate, "PACKAGE", tmp_path)
    assert evaluate.main() == 1
    assert "The weights are not here" in capsys.readouterr().err


def test_the_card_is_written_from_what_the_package_states_and_begins_with_unseen_sources() -> None:
    from armarium_reader_hand.cards import shipped_card

    text = markdown(shipped_card())
    assert text == (TRAINING / "MODEL_CARD.md").read_text("utf-8")
    figures_of = text[text.index("## Figures") :]
    assert figures_of.index("unseen hand") < figures_of.index("| seen hand")


def defined_in(tree: ast.Module) -> set[str]:
    """Return the names that a module defines or imports at top level."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


def test_names_imported_between_the_scripts_exist() -> None:
    """Most of the scripts need torch, which is not installed here: their imports are resolved without running
    them.
    """
    trees = {path.stem: ast.parse(path.read_text("utf-8")) for path in (TRAINING / "training").glob("*.py")}
    names = {module: defined_in(tree) for module, tree in trees.items()}
    lacking = [
        f"training.{module}: {alias.name} of {node.module}"
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("training.")
        for alias in node.names
        if alias.name not in names[str(node.module).partition(".")[2]]
    ]
    assert not lacking
