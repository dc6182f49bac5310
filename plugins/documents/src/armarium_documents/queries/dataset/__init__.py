"""The dataset query in polars over a project's columns, stored in a file and updated from the history."""
