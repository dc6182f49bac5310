"""The dataset query (A 4.2) over a project's columns in polars: read once, kept in a file, brought up from the history."""
