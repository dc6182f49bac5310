"""Embedders used over HTTP: their wire formats, and how passages and queries are sent through the gateway.

A served embedder opens no connection and sees no key: it encodes passages as a request and decodes the
vectors. Whether the provider may be asked at all, with which key, and what the ledger records is up to the
gateway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from armarium.api import Engine, JobContext, Library, Principal, ServiceError, find_withheld
from armarium_reading.api import (
    Caller,
    ModelRequest,
    Reply,
    Subject,
    Wire,
    ask_for_vectors,
    end_for_provider,
    placed_with_provider,
)
from armarium_search.errors import embedder_needs_provider
from armarium_search.schemas import EmbedParams, SearchParams
from armarium_search.vectors.by_models import choose_model, embed_with_model, runs_a_model
from armarium_search.vectors.embedders import GROUP, normalise_rows
from armarium_search.vectors.files import read

if TYPE_CHECKING:
    from armarium_search.vectors.embedders import Vectors

AT_ONCE = 64
"""How many passages one request contains."""
SECONDS = 30.0
"""How long a search waits for the vector of a query."""
VIEWERS = "A viewer may not use a model, so similarity was not searched. Ask an editor to search."


class ServedEmbedder(Protocol):
    """An embedder that uses a provider: a class, created without arguments, with the name it is found under."""

    name: ClassVar[str]
    served: ClassVar[bool]
    """True; it has `wire` and `read` instead of `train` and `load`."""

    def wire(self, model: str, passages: Sequence[str]) -> Wire:
        """Encode *passages* to *model* as a request."""

    def read(self, answer: Mapping[str, Any]) -> Reply:
        """Return the vectors of a whole answer, in the order of the passages."""


class OpenAIEmbeddings:
    """`/embeddings` as defined by OpenAI, and the many services and servers with the same API."""

    name: ClassVar[str] = "openai-compatible"
    served: ClassVar[bool] = True

    def wire(self, model: str, passages: Sequence[str]) -> Wire:
        """Like `ServedEmbedder.wire`."""
        return Wire("/embeddings", {"model": model, "input": list(passages), "encoding_format": "float"})

    def read(self, answer: Mapping[str, Any]) -> Reply:
        """Like `ServedEmbedder.read`; they are numbered and may arrive in any order."""
        rows = sorted(answer["data"], key=lambda byte: byte["index"])
        usage = answer.get("usage") or {}
        return Reply(
            tokens_in=usage.get("prompt_tokens"),
            tokens_out=0,
            version=answer.get("model"),
            vectors=tuple(tuple(row["embedding"]) for row in rows),
        )


class OllamaEmbeddings:
    """Ollama's own `/api/embed`."""

    name: ClassVar[str] = "ollama"
    served: ClassVar[bool] = True

    def wire(self, model: str, passages: Sequence[str]) -> Wire:
        """Like `ServedEmbedder.wire`; a passage that is too long is truncated."""
        return Wire("/api/embed", {"model": model, "input": list(passages), "truncate": True}, at_root=True)

    def read(self, answer: Mapping[str, Any]) -> Reply:
        """Like `ServedEmbedder.read`."""
        return Reply(
            tokens_in=answer.get("prompt_eval_count"),
            tokens_out=0,
            version=answer.get("model"),
            vectors=tuple(tuple(embedding) for embedding in answer["embeddings"]),
        )


def is_served(driver: Any) -> bool:
    """Return whether an embedder uses a provider."""
    return bool(getattr(driver, "served", False))


def lane_for(engine: Engine, library: Library, driver: Any, params: EmbedParams) -> str | None:
    """Return the lane of the work: that of the provider, None for the usual one. Refuses as the gateway and the
    choice of a model do.
    """
    if runs_a_model(driver):
        choose_model(engine, library, driver, params.model)
    if not is_served(driver):
        return None
    if params.provider is None:
        raise embedder_needs_provider(params.embedder)
    placed = placed_with_provider(
        engine, params.provider, params.model, pages_may_leave=params.pages_may_leave
    )
    return placed.lane


@dataclass(frozen=True)
class ServedVectors:
    """Pages of one job, sent to a provider."""

    job: JobContext
    driver: ServedEmbedder
    args: EmbedParams

    def find_allowed(self, ids: Sequence[str]) -> set[str]:
        """Return those of the pages *ids* that the model may see."""
        lane = lane_for(self.job.engine, self.job.library, self.driver, self.args)
        use = "local-model" if lane == "local-model" else "cloud-model"
        return set(ids) - set(find_withheld(self.job.library, self.job.principal, ids, use))  # type: ignore[arg-type]

    def embed(self, ids: Sequence[str], passages: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each passage of the pages *ids*; the job is put off while the provider
        is busy.
        """
        import numpy as np

        rows: list[tuple[float, ...]] = []
        for at in range(0, len(passages), AT_ONCE):
            self.job.check()
            request = _request(self.args.provider, self.args.model, self.args.pages_may_leave, Subject(ids[0], also=tuple(ids[1:])))  # fmt: skip
            batch = passages[at : at + AT_ONCE]
            try:
                rows += ask_for_vectors(self.job, request, batch, self.driver).answer
            except ServiceError as error:
                end_for_provider(self.job, error)
                raise
        return normalise_rows(np.array(rows, dtype=np.float32))


def _request(
    provider: Any, model: Any, pages_may_leave: bool, subject: Subject, seconds: float = 300.0
) -> ModelRequest:
    return ModelRequest(
        provider=provider,
        model=model,
        prompt="Vectors of passages.",
        subject=subject,
        use_case="make-a-vector",
        pages_may_leave=pages_may_leave,
        seconds=seconds,
    )


def embed_query(library: Library, engine: Engine, principal: Principal, params: SearchParams) -> None:
    """If a model computed the vectors, record the query's vector in *params*, or why it has none: done before the
    project is read, since a model may take its time.
    """
    if params.search_type == "fulltext" or not params.query.strip():
        return
    vectors = read(library)
    if vectors is None or vectors.source is None:
        return
    try:
        driver = engine.drivers.load(GROUP, vectors.embedder)
        if runs_a_model(driver):
            choice = choose_model(engine, library, driver, vectors.source["model"])
            params.note_vector(tuple(embed_with_model(engine, choice, params.query)), None)
            return
        if principal.role == "viewer":
            params.note_vector(None, VIEWERS)
            return
        request = _request(
            vectors.source["provider"],
            vectors.source["model"],
            params.pages_may_leave,
            Subject(library.uuid, kind="project"),
            SECONDS,
        )
        model = ask_for_vectors(Caller(engine, library, principal), request, [params.query], driver())
        params.note_vector(model.answer[0], None)
    except ServiceError as refusal:
        params.note_vector(None, f"{refusal.detail} Similarity was not searched.")
