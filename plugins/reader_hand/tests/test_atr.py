"""The reader `atr`: published recognisers are taken in with their alphabet, and lines are read with them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from atr_models import HEIGHT, LETTERS, publish, tiny_model, written
from onnx import ModelProto, TensorProto, helper, numpy_helper, save
from PIL import Image

from armarium_reader_hand.atr.reader import AtrReader
from armarium_reader_hand.atr.recogniser import as_read
from armarium_reader_hand.atr.taking import take_model
from armarium_reading.api import LineShape, Refused, exercise_reader

LARGEST = 1 << 20


class FakeCall:
    """A call of the worker."""

    def __init__(self, folder: Path) -> None:
        self.params = {"folder": str(folder)}

    def check(self) -> None:
        """Go on."""


def take(folder: Path) -> dict[str, Any]:
    return take_model(FakeCall(folder), LARGEST)  # type: ignore[arg-type]


def reader_of(model: str) -> AtrReader:
    reader = AtrReader(model=model)
    reader.load()
    return reader


def read(reader: AtrReader, picture: Any, folder: Path) -> Any:
    path = folder / "page.png"
    Image.fromarray(picture).save(path)
    page = reader.open_page(path, 10**8)
    (line,) = reader.read_lines(page, [LineShape((0, 0, page.width, page.height))])
    return line


def test_what_is_written_is_read_with_the_alphabet_of_dict_txt(tmp_path: Path) -> None:
    reader = reader_of(take(publish(tmp_path / "m"))["model"])
    found = read(reader, written("bab ab"), tmp_path)
    assert found.text == "bab ab"
    assert 0.9 < found.confidence <= 1
    # Letters and marks are composed, as everywhere here.
    assert read(reader, written("a" + "\u0327"), tmp_path).text == "a\u0327"
    assert read(reader, written("aa"), tmp_path).text == "aa"
    assert read(reader, written(""), tmp_path).text == ""


def test_it_is_a_reader(tmp_path: Path) -> None:
    model = take(publish(tmp_path / "m"))["model"]
    (tmp_path / "kit").mkdir()
    assert exercise_reader(AtrReader, tmp_path / "kit", model=Path(model)).checked


def test_alternatives_come_with_their_probabilities(tmp_path: Path) -> None:
    reader = reader_of(take(publish(tmp_path / "m"))["model"])
    reader.alternatives = 2
    found = read(reader, written("ab"), tmp_path)
    assert len(found.alternatives) == 2
    assert found.text not in dict(found.alternatives)


def test_paddles_space_after_the_letters_is_read(tmp_path: Path) -> None:
    """Their networks have one class more than dict.txt has letters: the space."""
    folder = publish(tmp_path / "m", letters=LETTERS[:-1])
    assert read(reader_of(take(folder)["model"]), written("b a"), tmp_path).text == "b a"


def test_scores_and_logarithms_are_read_as_probabilities_are(tmp_path: Path) -> None:
    expected = read(reader_of(take(publish(tmp_path / "m"))["model"]), written("ab"), tmp_path)
    for kind, cut in (("score", 1), ("LogSoftmax", 0)):
        model = tiny_model()
        if cut:
            del model.graph.node[-1]
            model.graph.node[-1].output[0] = "y"
        else:
            model.graph.node[-1].op_type = kind
        found = read(reader_of(take(publish(tmp_path / kind, model))["model"]), written("ab"), tmp_path)
        assert found.text == expected.text
        assert found.confidence == pytest.approx(expected.confidence, abs=1e-4)


def test_a_blank_that_comes_last_is_told_by_the_card(tmp_path: Path) -> None:
    folder = publish(tmp_path / "m", tiny_model([0, 60, 120, 180, 255]))
    (folder / "card.json").write_text(json.dumps({"blank": "last", "title": "Last"}))
    told = take(folder)
    assert told["title"] == "Last"
    assert read(reader_of(told["model"]), written("ab"), tmp_path).text == "ab"


@pytest.mark.parametrize(
    ("seen", "meant"),
    [
        ("abc 12", "abc 12"),
        ("םולש", "שלום"),
        ("1923 תנש", "שנת 1923"),
        ("(ב) א", "א (ב)"),
        ("anno םולש est", "anno שלום est"),
        ("", ""),
    ],
)
def test_what_is_written_from_right_to_left_is_put_in_the_order_in_which_it_is_read(
    seen: str, meant: str
) -> None:
    assert as_read(seen) == meant


def test_a_published_network_of_the_same_family_reads_as_its_own_software_does(tmp_path: Path) -> None:
    """PP-OCRv6 with real weights, those in RapidOCR's wheel; kraken's own PP-OCRv6 weights cannot be had here."""
    from armarium_demo.samples import sample_pages
    from armarium_reader_rapidocr.reader import RapidOcrReader, weights_folder

    weights = weights_folder() / "PP-OCRv6_rec_small.onnx"
    if not weights.is_file():
        pytest.skip("RapidOCR's weights are not installed.")
    folder = tmp_path / "m"
    folder.mkdir()
    shutil.copy(weights, folder / "inference.onnx")
    # Its alphabet is a property of its file.
    (folder / "card.json").write_text(json.dumps({"colour": "bgr"}))
    model = take_model(FakeCall(folder), 64 << 20)  # type: ignore[arg-type]
    (sample,) = sample_pages(count=1)
    page = tmp_path / "page.jpg"
    page.write_bytes(sample.jpeg)
    shapes = [LineShape(_box(line.polygon), line.polygon) for line in sample.lines[:2]]
    ours, theirs = AtrReader(model=model["model"], threads=2), RapidOcrReader(threads=2)
    texts = []
    for reader in (ours, theirs):
        reader.load()
        texts.append([line.text for line in reader.read_lines(reader.open_page(page, 10**9), shapes)])
    assert texts[0] == texts[1]
    assert all(texts[0])


def _box(polygon: Any) -> Any:
    (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*polygon, strict=True))
    return left, top, right - left, bottom - top


def _node(kind: str, **settings: Any) -> Any:
    return helper.make_node(kind, ["x"], ["z"], **settings)


def _inner(name: str, *nodes: Any) -> Any:
    return helper.make_graph(
        list(nodes), name, [], [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)]
    )


def _external() -> ModelProto:
    model = tiny_model()
    weights = model.graph.initializer[1]
    weights.data_location = TensorProto.EXTERNAL
    entry = weights.external_data.add()
    entry.key, entry.value = "location", "../../etc/passwd"
    return model


def _external_constant() -> ModelProto:
    tensor = numpy_helper.from_array(np.zeros(2, np.float32), "w")
    tensor.ClearField("raw_data")
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "weights.bin"
    return tiny_model(extra=[helper.make_node("Constant", [], ["z"], value=tensor)])


def _function() -> ModelProto:
    inner = helper.make_node("Relu", ["p"], ["q"])
    function = helper.make_function("own", "Mine", ["p"], ["q"], [inner], [helper.make_opsetid("", 17)])
    return tiny_model(extra=[_node("Mine", domain="own")], functions=[function])


def _cycle() -> ModelProto:
    pair = [helper.make_node("Add", ["x", "q"], ["p"]), helper.make_node("Relu", ["p"], ["q"])]
    model = tiny_model(extra=pair)
    model.graph.output.append(helper.make_tensor_value_info("q", TensorProto.FLOAT, None))
    return model


def _huge() -> ModelProto:
    model = tiny_model()
    many = numpy_helper.from_array(np.array([1 << 40]), "many")
    model.graph.initializer.append(many)
    nodes = [
        helper.make_node("ConstantOfShape", ["many"], ["much"]),
        helper.make_node("ReduceMax", ["much"], ["z"]),
    ]
    model.graph.node.extend(nodes)
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, None))
    return model


def _within(kind: str) -> ModelProto:
    """A loop inside a branch."""
    loop = helper.make_node(kind, ["x"], ["z"], body=_inner("body", _node("Relu")))
    branches = {"then_branch": _inner("then", loop), "else_branch": _inner("else", _node("Relu"))}
    return tiny_model(extra=[helper.make_node("If", ["x"], ["z"], **branches)])


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (_external, "external data"),
        (_external_constant, "external data"),
        (
            lambda: tiny_model(extra=[_node("Mine", domain="com.example")]),
            r"not of the ONNX standard \(com.example.Mine\)",
        ),
        (_function, "not of the ONNX standard"),
        (lambda: tiny_model(extra=[_node("Loop", body=_inner("body", _node("Relu")))]), r"a loop \(Loop\)"),
        (lambda: _within("Scan"), r"a loop \(Scan\)"),
        (_cycle, "cannot be run"),
        (_huge, "cannot be run"),
        (lambda: tiny_model([255, 0, 60]), r"4 letters and the network answers with 3 classes"),
        (lambda: tiny_model([*range(0, 240, 20)]), "do not belong together"),
    ],
)
def test_a_model_that_is_not_safe_or_does_not_fit_is_refused_in_a_sentence(
    tmp_path: Path, made: Callable[[], ModelProto], why: str
) -> None:
    folder = publish(tmp_path / "m", made())
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(Refused, match=why) as refusal:
        take(folder)
    assert str(refusal.value).endswith(".")
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_model_of_two_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    folder = publish(tmp_path / "m")
    with (folder / "inference.onnx").open("r+b") as file:
        file.truncate(2 << 30)
    with pytest.raises(Refused, match=r"2,147 MB, and at most 1 MB"):
        take(folder)


@pytest.mark.parametrize(
    "bytes_of",
    [lambda data: b"", lambda data: b"PK\x03\x04" * 50, lambda data: data[:-7], lambda data: b"\x0a" * 99],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, bytes_of: Callable[[bytes], bytes]) -> None:
    folder = publish(tmp_path / "m")
    path = folder / "inference.onnx"
    path.write_bytes(bytes_of(path.read_bytes()))
    with pytest.raises(Refused):
        take(folder)


@pytest.mark.parametrize(
    ("letters", "why"),
    [
        (b"a\nb\n\nc\n", "Line 3 of the alphabet"),
        (b"a\nb\x00\nc\nd\n", "Line 2 of the alphabet"),
        (b"\xff\xfea\nb\nc\nd\n", "not UTF-8"),
        (b"a\n" * 3_000_000, "larger than 4 MiB"),
        (None, "alphabet is missing"),
    ],
)
def test_an_alphabet_that_is_none_is_refused(tmp_path: Path, letters: bytes | None, why: str) -> None:
    folder = publish(tmp_path / "m")
    (folder / "dict.txt").unlink()
    if letters is not None:
        (folder / "dict.txt").write_bytes(letters)
    with pytest.raises(Refused, match=why):
        take(folder)


@pytest.mark.parametrize(
    ("card", "why"),
    [
        ({"dict": "/etc/passwd"}, "names no files or paths"),
        ({"weights": "../../model.onnx"}, "names no files or paths"),
        ({"page": "file:///etc/passwd"}, "a web address"),
        ({"page": "/etc/passwd"}, "a web address"),
        ({"languages": ["../x"]}, "a list of tags"),
        ({"scripts": ["Latn", 3]}, "a list of tags"),
        ({"title": "a\nb"}, "a line of text"),
        ({"height": 100_000}, "from 8 to 512"),
        ({"std": 0}, "a number"),
        ({"colour": "cmyk"}, "rgb or bgr"),
        (["no", "card"], "not a JSON object"),
    ],
)
def test_a_card_with_a_path_or_a_wrong_field_is_refused(tmp_path: Path, card: Any, why: str) -> None:
    folder = publish(tmp_path / "m")
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(Refused, match=why):
        take(folder)


def test_a_network_that_is_no_recogniser_of_lines_is_refused(tmp_path: Path) -> None:
    model = tiny_model()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
    with pytest.raises(Refused, match="one line at a time"):
        take(publish(tmp_path / "batch", model))
    flat = helper.make_graph(
        [helper.make_node("ReduceMean", ["x"], ["y"])],
        "flat",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, HEIGHT, "width"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    new_model = helper.make_model(flat, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(Refused, match="does not answer as a line recogniser"):
        take(publish(tmp_path / "flat", new_model))


def test_a_file_that_was_not_taken_in_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "plain.onnx"
    save(tiny_model(), str(path))
    with pytest.raises(Refused, match="was not taken in"):
        reader_of(str(path))


def test_kraken_s_open_models_are_offered_with_what_a_person_is_told() -> None:
    offers = {offer.model: offer for offer in AtrReader.offers()}
    assert {offer.doi for offer in offers.values()} == {
        f"10.5281/zenodo.217884{number}" for number in ("03", "05", "10")
    }
    for offer in offers.values():
        assert (offer.licence, len(offer.scripts)) == ("Apache-2.0", 10)
        assert "Kiessling" in offer.authors
        assert [file.name for file in offer.files] == ["inference.onnx", "dict.txt"]
        assert all(file.url.startswith("https://") for file in offer.files)
        assert set(offer.writing) == {"hand", "print"}
