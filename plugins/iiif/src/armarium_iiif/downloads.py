"""Pictures of referenced canvases, fetched through the engine's one gate to the network."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from armarium.api import Egress, Engine, Limits, ServiceError, Unavailable
from armarium_iiif.queries.references import Reference

MAX_IMAGE_BYTES: Final = 512 << 20
SECONDS: Final = 600.0


def gate(engine: Engine) -> Egress:
    """Return the engine's only way to the network: public addresses only, whatever a manifest says."""
    return Egress(local_only=engine.settings.local_only)


def download_picture(engine: Engine, page: Reference, target: Path) -> str:
    """Fetch the picture from the first address that provides it and return that; else raise the first refusal."""
    refusal: ServiceError | None = None
    for address in page.addresses():
        try:
            gate(engine).download(
                address,
                target,
                headers={"accept": "image/jpeg,image/png,image/*;q=0.8"},
                limits=Limits(max_bytes=MAX_IMAGE_BYTES, seconds=SECONDS),
            )
            return address
        except ServiceError as error:
            refusal = refusal or error
    raise refusal or Unavailable("The manifest names no picture of it.", code="no_picture")


def public_addresses(engine: Engine, page: Reference) -> list[str]:
    """Return its addresses for a fetch elsewhere; raises Forbidden or BadRequest for one that is not public as spelled."""
    for address in page.addresses():
        gate(engine).check_url(address)
    return page.addresses()
