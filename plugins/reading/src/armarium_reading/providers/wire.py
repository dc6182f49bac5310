"""The contract of a provider type: how a question is encoded for its service, and how the answer is decoded.

A driver (entry-point group `armarium.providers`) is a class derived from `ProviderType`. It opens no
connection and sees the key only in `headers`: the gateway does the sending, waiting, limits and ledger.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from armarium_reading import errors

GROUP = "armarium.providers"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as a file's bytes, `image/jpeg` or `image/png`."""

    data: bytes
    mime_type: str = "image/jpeg"

    @property
    def base64(self) -> str:
        """Return the bytes as base64 text."""
        return base64.b64encode(self.data).decode("ascii")


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent to a model. *schema* is the JSON Schema the answer must match; None: the answer is plain text."""

    prompt: str
    system: str | None = None
    pictures: tuple[Picture, ...] = ()
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    passages: tuple[str, ...] = ()
    form: PassageForm | None = None
    """How *passages* are sent, in place of the prompt, to get vectors for them, and how those are read."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, or a piece of one that arrives in pieces. Tokens are None if the provider does not count them."""

    text: str = ""
    thinking: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    version: str | None = None
    """The model's name in the provider's answer."""
    ended: bool = False
    """Whether the provider marked the answer as complete."""
    cut: bool = False
    """Whether the answer was cut off at the limit of tokens."""
    declined: str | None = None
    """Why the provider declined to answer, in its own words."""
    vectors: tuple[tuple[float, ...], ...] = ()
    """One per passage, if vectors were requested."""

    def __add__(self, piece: Reply) -> Reply:
        """Return this piece joined with the next: texts are concatenated, the later count and name win."""
        return Reply(
            self.text + piece.text,
            self.thinking + piece.thinking,
            self.tokens_in if piece.tokens_in is None else piece.tokens_in,
            self.tokens_out if piece.tokens_out is None else piece.tokens_out,
            piece.version or self.version,
            self.ended or piece.ended,
            self.cut or piece.cut,
            self.declined or piece.declined,
            self.vectors + piece.vectors,
        )


@dataclass(frozen=True, slots=True)
class Wire:
    """A request as it is sent: the path below the provider's address, and the JSON body."""

    path: str
    body: dict[str, Any]
    at_root: bool = False
    """Whether the path starts at the address without its version (`/v1`)."""


class PassageForm(Protocol):
    """How a service is asked for the vectors of passages."""

    def wire(self, model: str, passages: Sequence[str]) -> Wire:
        """Encode *passages* to *model* as a request."""

    def read(self, answer: Mapping[str, Any]) -> Reply:
        """Decode a whole answer, parsed from JSON: its vectors, in the order of the passages, and the counts."""


class ProviderType:
    """The base of every provider type: set the class attributes, write `wire`, `read` and `piece`.

    `read` and `piece` may assume that answers are as documented: what they raise for others (KeyError,
    TypeError and the like) is reported as an unexpected answer.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    api_base: ClassVar[str | None] = None
    """The address used if a provider states none."""
    needs_key: ClassVar[bool] = True
    answers: ClassVar[bool] = True
    """False for a service without models, whose key other work needs."""
    at_once: ClassVar[int] = 16
    """How many calls one provider of this type is sent at a time."""

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers that authenticate the request."""
        return {} if key is None else {"authorization": f"Bearer {key}"}

    def wire(self, model: str, question: Question, *, stream: bool) -> Wire:
        """Encode *question* to *model* as a request."""
        raise errors.no_model(self.label)

    def read(self, answer: Mapping[str, Any]) -> Reply:
        """Decode a whole answer, parsed from JSON."""
        raise errors.no_model(self.label)

    def piece(self, event: Mapping[str, Any]) -> Reply:
        """Return what one event of a streamed answer adds."""
        raise errors.no_model(self.label)

    def fault(self, answer: Mapping[str, Any]) -> str | None:
        """Return the error that *answer* (or an event) reports; None if it reports none."""
        error = answer.get("error")
        if not error:
            return None
        message = error.get("message") if isinstance(error, Mapping) else error
        return str(message or error)
