"""What the engine relies on, always; vectors of a tiny random model, where the runtime is installed."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import armarium_embedder_sentences
from armarium.api import Settings
from armarium.runtimes.registry import interpreter, read_marker
from armarium_embedder_sentences.embedder import SENTENCES, SentenceTransformers
from armarium_search.api import GROUP, check_embedder
from armarium_worker import Refused, WorkerProcess, WorkerRefused

PACKAGE = Path(armarium_embedder_sentences.__file__).parent

_TINY = """
import sys, torch
from pathlib import Path
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizer
torch.manual_seed(1)
place = Path(sys.argv[1])
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", *("##" + one for one in "abcdefghijklmnopqrstuvwxyz")]
(place / "plain").mkdir(parents=True)
(place / "plain" / "vocab.txt").write_text("\\n".join(words))
BertTokenizer(str(place / "plain" / "vocab.txt")).save_pretrained(place / "plain")
config = BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
BertModel(config).save_pretrained(place / "plain")
part = Transformer(str(place / "plain"), max_seq_length=32)
SentenceTransformer(modules=[part, Pooling(16)]).save(str(place / "tiny"))
"""


def runtime_python() -> Path:
    """Return the interpreter that ARMARIUM_TEST_SENTENCES names, or that of an installed runtime; skip if
    there is none.
    """
    if answer := os.environ.get("ARMARIUM_TEST_SENTENCES"):
        return Path(answer)
    folder = Settings().state_dir / "runtimes" / SENTENCES.name
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The sentences runtime is not installed here (armarium runtime install sentences).")


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random model with a few thousand weights."""
    place = tmp_path_factory.mktemp("models")
    process = subprocess.run(
        [str(runtime_python()), "-c", _TINY, str(place)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return place / "tiny"


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    """The embedder in a process of its runtime."""
    process = WorkerProcess(
        "armarium_embedder_sentences.embedder:SentenceTransformers",
        python=runtime_python(),
        packages={PACKAGE.name: PACKAGE},
    )
    yield process
    process.kill()


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.slow
def test_passages_get_vectors_of_length_one_that_depend_on_the_passage_alone(
    tiny_model: Path, worker: WorkerProcess
) -> None:
    def embed(*passages: str) -> Any:
        params = {"model": str(tiny_model / "modules.json"), "language": None, "passages": list(passages)}
        return worker.call("embed", params)["vectors"]

    vectors = embed("minas de plata", "el rey", "minas de plata")
    assert [round(cosine(vector, vector), 5) for vector in vectors] == [1, 1, 1]
    assert math.isclose(cosine(vectors[0], vectors[2]), 1, abs_tol=1e-5)
    assert cosine(vectors[0], vectors[1]) < 0.999
    assert math.isclose(cosine(embed("el rey")[0], vectors[1]), 1, abs_tol=1e-4)


@pytest.mark.slow
def test_what_is_no_model_and_pickled_weights_are_refused(tiny_model: Path, worker: WorkerProcess) -> None:
    (weights,) = tiny_model.glob("model.safetensors")
    kept = weights.rename(weights.with_name("kept"))
    (tiny_model / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    try:
        with pytest.raises(WorkerRefused, match="tiny is not a model"):
            worker.call("load", {"model": str(tiny_model / "modules.json")})
    finally:
        (tiny_model / "pytorch_model.bin").unlink()
        kept.rename(weights)
    with pytest.raises(WorkerRefused, match="A model is needed"):
        worker.call("load", {"model": None})


def test_the_only_model_is_taken_when_none_is_named(tmp_path: Path) -> None:
    assert check_embedder(GROUP, "sentence-transformers", SentenceTransformers) is None

    def choose() -> Path | None:
        return SentenceTransformers.model_for(reading=True, language=None, folder=tmp_path)

    with pytest.raises(Refused, match="None is on this machine yet"):
        choose()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "modules.json").write_text("[]")
        if name == "first":
            assert choose() == tmp_path / "first" / "modules.json"
    with pytest.raises(Refused, match="first, second"):
        choose()


def test_every_package_of_the_runtime_is_pinned_and_no_address_is_named() -> None:
    lines = (PACKAGE / SENTENCES.requirements).read_text().splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9_.-]+==[0-9][0-9a-z.]*", line) for line in pinned), pinned
    assert len(pinned) > 20
