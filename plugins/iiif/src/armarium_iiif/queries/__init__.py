"""What is read for IIIF: canvases, manifests, lines, and what imported manifests refer to."""
