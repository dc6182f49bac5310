"""The jobs of formats, one file per kind."""
