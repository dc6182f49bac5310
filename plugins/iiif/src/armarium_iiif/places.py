"""The addresses of IIIF resources under the engine's own address."""

from __future__ import annotations

from typing import NamedTuple

PRESENTATION = "http://iiif.io/api/presentation/3/context.json"
IMAGE = "http://iiif.io/api/image/3/context.json"
ANNOTATION = "http://www.w3.org/ns/anno.jsonld"
GRANULARITY = "http://iiif.io/api/extension/text-granularity/context.json"
LEVEL = "http://iiif.io/api/image/3/level2.json"


class Places(NamedTuple):
    """Addresses under *base*, the engine's address without a trailing slash."""

    base: str

    def manifest(self, document_id: str) -> str:
        return f"{self.base}/api/iiif/manifest/{document_id}"

    def range(self, manifest_id: str, document_id: str) -> str:
        return f"{self.manifest(manifest_id)}#range-{document_id}"

    def canvas(self, document_id: str) -> str:
        return f"{self.base}/api/iiif/canvas/{document_id}"

    def lines(self, document_id: str) -> str:
        # The doubled word is the specification's own.
        return f"{self.base}/api/iiif/iiif/lines/{document_id}"

    def image(self, identifier: str) -> str:
        return f"{self.base}/api/iiif/image/{identifier}"
