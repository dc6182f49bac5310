"""The contract of embedders that run a model in a worker process: passages in, vectors out.

As with readers, the engine reads the class attributes and a worker process runs the methods; heavy libraries are
imported only inside methods.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .errors import Refused
from .reading import Reader
from .server import Call, Handler, WorkerContext
from .service import ReaderService


class PassageEmbedder(Reader):
    """The base of every embedder with a model of its own: set the class attributes, write `embed`.

    Models and the runtime are declared as for a reader; `can` stays empty, because an embedder sees no pictures.
    """

    can = frozenset()

    def embed(self, passages: Sequence[str]) -> Iterable[Sequence[float]]:
        """Return a vector for each passage, in their order, all of one length."""
        raise Refused(f"{self.label} gives passages no vectors; choose an embedder that does.")

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a worker process of this embedder."""
        service = PassageService(cls, context)
        return {"load": service.load, "embed": service.embed}


class PassageService(ReaderService):
    """Serves one embedder class: keeps the loaded model and checks its vectors."""

    def embed(self, call: Call) -> dict[str, Any]:
        """Params: passages, model?. Result: vectors[], seconds."""
        embedder = self._reader(call)
        assert isinstance(embedder, PassageEmbedder)
        passages = [str(passage) for passage in call.params["passages"]]
        started = time.perf_counter()
        vectors = [[float(number) for number in vector] for vector in embedder.embed(passages)]
        if len(vectors) != len(passages):
            raise ValueError(
                f"{embedder.name} was given {len(passages)} passages and made {len(vectors)} vectors"
            )
        return {"vectors": vectors, "seconds": time.perf_counter() - started}
