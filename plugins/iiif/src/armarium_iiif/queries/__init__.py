"""The queries of IIIF: canvases, manifests, lines, and what imported manifests refer to."""
