"""Parquet files, written with pyarrow: one row group in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

ROWS = 10_000
"""Records per batch."""
GROUP = 5 * ROWS
"""Records per row group."""


def arrow_schema(sorts: Mapping[str, str]) -> pyarrow.Schema:
    """Return the schema of columns by the sorts of their values: text, json (as text), integer, number, boolean, none."""
    import pyarrow

    types = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "boolean": pyarrow.bool_()}
    return pyarrow.schema([(name, types.get(sort, pyarrow.string())) for name, sort in sorts.items()])


def write_columns(
    path: Path, schema: pyarrow.Schema, batches: Iterable[Sequence[Sequence[Any]]], group: int = GROUP
) -> None:
    """Write a file of *batches*, each the values of every column in the order of *schema*.

    A boolean may be 0 or 1, as the database has it. *group*: how many rows a row group has.
    """
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        waiting: list[pyarrow.RecordBatch] = []

        def write_group() -> None:
            writer.write_table(pyarrow.Table.from_batches(waiting, schema), row_group_size=group)
            waiting.clear()

        for columns in batches:
            arrays = [_array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            waiting.append(pyarrow.record_batch(arrays, schema=schema))
            if sum(batch.num_rows for batch in waiting) >= group:
                write_group()
        if waiting:
            write_group()


def _array(column: Sequence[Any], sort: pyarrow.DataType) -> pyarrow.Array:
    import pyarrow

    if pyarrow.types.is_boolean(sort):
        return pyarrow.array(column).cast(sort)
    return pyarrow.array(column, sort)
