"""The addresses of IIIF resources under the engine's own address."""

from __future__ import annotations

from typing import NamedTuple

PRESENTATION = "http://iiif.io/api/presentation/3/context.json"
IMAGE = "http://iiif.io/api/image/3/context.json"
ANNOTATION = "http://www.w3.org/ns/anno.jsonld"
GRANULARITY = "http://iiif.io/api/extension/text-granularity/context.json"
LEVEL = "http://iiif.io/api/image/3/level2.json"


class Places(NamedTuple):
    """Addresses under *base*, the engine's address without a trailing slash; of texts as of the step *as_of*."""

    base: str
    as_of: str | None = None
    search_version: str = "2"

    @property
    def _then(self) -> str:
        return "" if self.as_of is None else f"?as_of={self.as_of}"

    def manifest(self, document_id: str) -> str:
        return f"{self.base}/api/iiif/manifest/{document_id}{self._then}"

    def range(self, manifest_id: str, document_id: str) -> str:
        return f"{self.manifest(manifest_id)}#range-{document_id}"

    def canvas(self, document_id: str) -> str:
        return f"{self.base}/api/iiif/canvas/{document_id}{self._then}"

    def lines(self, document_id: str) -> str:
        # The doubled word is the specification's own.
        return f"{self.base}/api/iiif/iiif/lines/{document_id}{self._then}"

    def image(self, identifier: str) -> str:
        return f"{self.base}/api/iiif/image/{identifier}"

    def search(self, document_id: str) -> str:
        return f"{self.base}/api/iiif/search/{self.search_version}/{document_id}"

    def autocomplete(self, document_id: str) -> str:
        return f"{self.base}/api/iiif/autocomplete/{self.search_version}/{document_id}"
