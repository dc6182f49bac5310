"""The dataset query over a project's columns in polars: read once, kept in a file, brought up from the history."""
