"""IIIF: pages and folders as Presentation 3, pictures by the Image API 3, import of manifests by reference."""
