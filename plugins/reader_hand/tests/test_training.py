"""Training: the corpus is split by whole documents, augmentation preserves lines, the evaluation counts
correctly.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

TRAINING = Path(__file__).parents[1]
if str(TRAINING) not in sys.path:
    sys.path.append(str(TRAINING))

from training import evaluate  # noqa: E402
from training.augment import augment  # noqa: E402
from training.corpus import _encode, alphabet, held_out_documents  # noqa: E402
from training.evaluate import Read, figures, interval, read  # noqa: E402
from training.settings import settings  # noqa: E402


def test_whole_documents_are_held_out_the_same_ones_each_time() -> None:
    wanted = settings().corpus
    sizes = Counter({f"document-{number}": 20 + number % 90 for number in range(300)})
    sizes["a register"] = 5000
    chosen = held_out_documents(sizes, wanted)
    share = sum(sizes[name] for name in chosen) / sizes.total()
    assert abs(share - wanted.held_out_share) < 0.01
    assert "a register" not in chosen
    assert held_out_documents(Counter(dict(reversed(sizes.items()))), wanted) == chosen


def test_lines_under_share_alike_licences_are_not_trained_on() -> None:
    assert "OCR-D/gt_structure_text" in settings().corpus.excluded_sources


def test_a_rare_letter_is_decomposed_or_its_line_left_out() -> None:
    texts = ["ae\u0303" * 20, "ẽ" * 3, "ω"]
    letters = alphabet(texts, 15)
    codes = {letter: code for code, letter in enumerate(letters, 1)}
    assert letters == ["a", "e", "\u0303"]
    assert _encode("aẽ", codes) == [1, 2, 3]
    assert _encode("aω", codes) is None


@pytest.mark.parametrize("width", [16, 17, 300, 3072])
def test_an_augmented_line_keeps_its_form(width: int) -> None:
    chance = np.random.default_rng(width)
    ink = chance.integers(0, 256, (48, width)).astype(np.uint8)
    before = ink.copy()
    for _ in range(30):
        out = augment(ink, ink[:, : max(16, width // 2)], chance)
        assert out.shape[0] == 48
        assert 16 <= out.shape[1] <= 1.3 * width + 16
        assert out.dtype == np.uint8
    assert (ink == before).all()


def _line(document: str, distance: int, length: int) -> Read:
    return Read("source", document, None, "", "", 0.5, (distance, length), (distance + 1, length))


def test_the_rate_is_total_distance_over_total_characters() -> None:
    found = figures([_line("a", 1, 2), _line("b", 0, 98)])
    assert (found["cer"], found["cer_unmapped"], found["lines"]) == (0.01, 0.03, 2)


def test_the_interval_is_over_documents() -> None:
    alike = [_line(f"document-{number}", 10, 100) for number in range(20)]
    assert interval(alike) == [0.1, 0.1]
    two_kinds = [_line(f"document-{number}", 50 * (number % 2), 100) for number in range(40)]
    low, high = interval(two_kinds)
    assert 0.1 < low < 0.25 < high < 0.4


def test_both_sides_are_compared_with_and_without_the_convention() -> None:
    row = {"text": "deſſus", "source": "s", "document": "d", "century": 16}
    line = read(row, "dessus", 0.9)
    assert (line.mapped, line.unmapped) == ((0, 6), (2, 6))


def test_what_is_missing_for_an_evaluation_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wanted = settings()
    monkeypatch.setattr(sys, "argv", ["evaluate"])
    elsewhere = replace(wanted, corpus=replace(wanted.corpus, lines=str(tmp_path)))
    monkeypatch.setattr(evaluate, "settings", lambda: elsewhere)
    assert evaluate.main() == 1
    assert "The corpus is not here" in capsys.readouterr().err
    (tmp_path / "test-000.parquet").write_bytes(b"")
    monkeypatch.setattr(evaluate, "PACKAGE", tmp_path)
    assert evaluate.main() == 1
    assert "The weights are not here" in capsys.readouterr().err


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
