"""The bytes of an ONNX file, a protocol buffers message: fields read and appended, without the onnx package.

Also what is checked of a file from elsewhere before onnxruntime is given it. The numbers of fields are those of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from armarium_worker import Refused

PROPERTY, GRAPH, FUNCTION = 14, 7, 25
OUTPUT = 12
DEEPEST = 16
"""Graphs within graphs."""
LOOPS = frozenset({"Loop", "Scan"})
STANDARD = frozenset({"", "ai.onnx"})
"""Domains of operators that onnxruntime brings along by the standard."""


def field(number: int, value: bytes) -> bytes:
    """Return a field of bytes. Appended to a message it is merged into it: repeated fields are joined."""
    remaining, size = len(value), bytearray()
    while True:
        size.append(remaining & 127 | (128 if remaining > 127 else 0))
        remaining >>= 7
        if not remaining:
            return bytes([number << 3 | 2]) + bytes(size) + value


def onnx_property(name: str, value: str) -> bytes:
    """Return a property of the model to append to the bytes of its file; of several with one name the last counts."""
    return field(PROPERTY, field(1, name.encode()) + field(2, value.encode()))


def as_output(name: str) -> bytes:
    """Return bytes that, appended to a model's, make the value *name* an output: the graph once more, with only that."""
    return field(GRAPH, field(OUTPUT, field(1, name.encode())))


def check_graph(path: Path, largest: int) -> None:
    """Refuse a file over *largest* bytes, one that is no ONNX model, and one that needs other files, code of its own, or loops."""
    size = path.stat().st_size
    if size > largest:
        raise Refused(
            f"The model has {size / 1e6:,.0f} MB, and at most {largest / 1e6:,.0f} MB are taken. Use a smaller edition of it."
        )
    graphs = 0
    try:
        for number, value in _fields(memoryview(path.read_bytes())):
            if number == FUNCTION:
                raise _custom("a function")
            if number == GRAPH:
                graphs += 1
                _check_graph(_message(value), 0)
    except (ValueError, UnicodeDecodeError):
        graphs = 0
    if not graphs:
        raise Refused("The file is not an ONNX model, or is damaged. Download or export it again.")


def _check_graph(graph: memoryview, depth: int) -> None:
    if depth > DEEPEST:
        raise Refused(f"The model nests graphs more than {DEEPEST} deep. Export it again.")
    for number, value in _fields(graph):
        if number == 1:
            _check_node(_message(value), depth)
        elif number == 5:
            _check_tensor(_message(value))
        elif number == 15:
            _check_sparse(_message(value))


def _check_node(node: memoryview, depth: int) -> None:
    kind, domain = "", ""
    for number, value in _fields(node):
        if number == 4:
            kind = bytes(_message(value)).decode()
        elif number == 7:
            domain = bytes(_message(value)).decode()
        elif number == 5:
            for part, inner in _fields(_message(value)):
                if part in (5, 10):
                    _check_tensor(_message(inner))
                elif part in (6, 11):
                    _check_graph(_message(inner), depth + 1)
                elif part in (22, 23):
                    _check_sparse(_message(inner))
    if domain not in STANDARD:
        raise _custom(f"{domain[:60]}.{kind[:60]}")
    if kind in LOOPS:
        raise Refused(
            f"The model has a loop ({kind}), so how long it reads cannot be told. Export its encoder and CTC head alone."
        )


def _check_tensor(tensor: memoryview) -> None:
    for number, value in _fields(tensor):
        if number == 13 or (number == 14 and value != 0):
            raise Refused(
                "The model keeps its weights in other files (external data). Export it with the weights in the file itself."
            )


def _check_sparse(sparse: memoryview) -> None:
    for number, value in _fields(sparse):
        if number in (1, 2):
            _check_tensor(_message(value))


def _custom(what: str) -> Refused:
    return Refused(
        f"The model needs an operator that is not of the ONNX standard ({what}). Export it with standard operators only."
    )


def _message(value: memoryview | int) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number stands where a message belongs")
    return value


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview | int]]:
    """Yield the fields of a message: bytes, or a number. ValueError for what is not a message."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _number(data, at)
            yield number, value
            continue
        if kind == 2:
            size, at = _number(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError("a kind of field that ONNX does not use")
        if number == 0 or at + size > len(data):
            raise ValueError("a field that is cut off")
        yield number, data[at : at + size]
        at += size


def _number(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << (7 * place)
        if byte < 128:
            return value, at
    raise ValueError("a number that does not end")
