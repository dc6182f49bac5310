"""The long work of formats, one file a kind."""
