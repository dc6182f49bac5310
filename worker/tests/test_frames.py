"""Frames carry any content, and no input makes the reader hang, allocate without limit or return half a frame."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armarium_worker import MAX_BINARY, MAX_JSON, Frame, ProtocolError, read_frame, write_frame
from armarium_worker.frames import HEADER, MAGIC, encode_frame

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)
bodies = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8), json_values, max_size=5
)

unhurried = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


@unhurried
@given(st.lists(st.tuples(bodies, st.binary(max_size=60)), max_size=3))
def test_what_is_written_is_what_is_read(messages: list[tuple[dict[str, object], bytes]]) -> None:
    stream = io.BytesIO()
    for body, binary in messages:
        write_frame(stream, body, binary)
    stream.seek(0)
    assert [read_frame(stream) for _ in messages] == [Frame(body, binary) for body, binary in messages]
    assert read_frame(stream) is None


@unhurried
@given(st.binary(min_size=1, max_size=400))
def test_garbage_is_never_taken_for_a_frame(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_frame(io.BytesIO(data))


@unhurried
@given(bodies, st.binary(max_size=50), st.data())
def test_half_a_frame_is_an_error_and_not_a_shorter_frame(
    body: dict[str, object], binary: bytes, data: st.DataObject
) -> None:
    whole = encode_frame(body, binary)
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(ProtocolError):
        read_frame(io.BytesIO(whole[:cut]))


@unhurried
@given(bodies, st.data())
def test_a_flipped_header_byte_is_noticed_or_changes_nothing(
    body: dict[str, object], data: st.DataObject
) -> None:
    whole = bytearray(encode_frame(body))
    whole[data.draw(st.integers(0, HEADER.size - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ProtocolError):
        read_frame(io.BytesIO(bytes(whole)))


@pytest.mark.parametrize(
    ("json_length", "binary_length"), [(MAX_JSON + 1, 0), (2, MAX_BINARY + 1), (0xFFFFFFFF, 0xFFFFFFFF)]
)
def test_an_announced_giant_is_refused_before_it_is_read(json_length: int, binary_length: int) -> None:
    class Endless(io.RawIOBase):
        """A stream that fails the test when more than the header is read from it."""

        def __init__(self) -> None:
            self.header = io.BytesIO(struct.pack(">4sBBII", MAGIC, 1, 0, json_length, binary_length))

        def read(self, size: int = -1) -> bytes:
            part = self.header.read(size)
            assert part, "the reader went on after the header"
            return part

    with pytest.raises(ProtocolError, match="over the limit"):
        read_frame(Endless())  # type: ignore[arg-type]


def test_another_version_of_the_protocol_is_named() -> None:
    with pytest.raises(ProtocolError, match="version 9, and this side speaks 1"):
        read_frame(io.BytesIO(HEADER.pack(MAGIC, 9, 0, 2, 0) + b"{}"))


def test_json_that_is_no_object_is_refused() -> None:
    with pytest.raises(ProtocolError, match="must be a JSON object"):
        read_frame(io.BytesIO(HEADER.pack(MAGIC, 1, 0, 2, 0) + b"[]"))


def test_a_value_that_is_no_json_is_refused_when_written() -> None:
    with pytest.raises(ProtocolError, match="plain JSON"):
        write_frame(io.BytesIO(), {"path": {1, 2}})


def test_a_message_over_the_limit_is_refused_when_written() -> None:
    with pytest.raises(ProtocolError, match="send fewer items"):
        write_frame(io.BytesIO(), {"text": "x" * MAX_JSON})
