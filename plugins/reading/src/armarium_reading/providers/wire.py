"""The contract of a provider type: how one question is written for its wire, and how the answer is read from it.

A driver (entry-point group `armarium.providers`) is a class derived from `ProviderType`. It opens no connection and sees
no key but in `headers`: sending, waiting, limits and the ledger are the gateway's.
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
        """The bytes as text."""
        return base64.b64encode(self.data).decode("ascii")


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent to a model. *schema* is the JSON Schema that the answer must fit; None: the answer is plain text."""

    prompt: str
    system: str | None = None
    pictures: tuple[Picture, ...] = ()
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    passages: tuple[str, ...] = ()
    form: PassageForm | None = None
    """How *passages*, in place of the prompt, are sent to be given vectors, and how these are read."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, or a piece of one that arrives in pieces. Tokens are None where the provider does not count them."""

    text: str = ""
    thinking: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    version: str | None = None
    """The model as the provider names it in its answer."""
    ended: bool = False
    """Whether the provider says that the answer is at its end."""
    cut: bool = False
    """Whether the answer ended at the limit of tokens."""
    declined: str | None = None
    """Why the provider gives no answer to this question, in its own words."""
    vectors: tuple[tuple[float, ...], ...] = ()
    """One for each passage, where vectors were asked for."""

    def __add__(self, piece: Reply) -> Reply:
        """This and the next piece: texts are joined, the later count and name hold."""
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
    """A request as it goes out: the path behind the provider's address, and the JSON body."""

    path: str
    body: dict[str, Any]
    at_root: bool = False
    """Whether the path stands behind the address without its version (`/v1`)."""


class PassageForm(Protocol):
    """How a service is asked for vectors of passages."""

    def wire(self, model: str, passages: Sequence[str]) -> Wire:
        """*passages* to *model* as a request."""

    def read(self, answer: Mapping[str, Any]) -> Reply:
        """A whole answer, its JSON parsed: its vectors, in the order of the passages, and what was counted."""


class ProviderType:
    """The base of every provider type: set the class attributes, write `wire`, `read` and `piece`.

    `read` and `piece` may assume that answers are as documented: what they raise on others (KeyError, TypeError and
    the like) is told as an answer that is not as expected.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    api_base: ClassVar[str | None] = None
    """The address that counts where a provider states none."""
    needs_key: ClassVar[bool] = True
    answers: ClassVar[bool] = True
    """False for a service that is no model, whose key other work needs."""
    at_once: ClassVar[int] = 16
    """Calls that one provider of this type is sent at a time."""

    def headers(self, key: str | None) -> dict[str, str]:
        """What proves who asks."""
        return {} if key is None else {"authorization": f"Bearer {key}"}

    def wire(self, model: str, question: Question, *, stream: bool) -> Wire:
        """*question* to *model* as a request."""
        raise errors.no_model(self.label)

    def read(self, answer: Mapping[str, Any]) -> Reply:
        """A whole answer, its JSON parsed."""
        raise errors.no_model(self.label)

    def piece(self, event: Mapping[str, Any]) -> Reply:
        """What one event of a streamed answer adds."""
        raise errors.no_model(self.label)

    def fault(self, answer: Mapping[str, Any]) -> str | None:
        """What the provider says went wrong, where *answer* (or an event) tells of an error; None: it does not."""
        error = answer.get("error")
        if not error:
            return None
        message = error.get("message") if isinstance(error, Mapping) else error
        return str(message or error)


def check_provider_type(name: str, driver: Any) -> str | None:
    """Why what is installed under *name* is no provider type of that name; None when it is one."""
    if not (isinstance(driver, type) and issubclass(driver, ProviderType)):
        return "It is no class derived from ProviderType of armarium_reading.api."
    if getattr(driver, "name", None) != name:
        said = str(getattr(driver, "name", None))[:80]
        return f"It calls itself {said}, and is installed under the name {name}; its maker must use one name."
    return None
