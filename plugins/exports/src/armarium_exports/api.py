"""What other families may use of exports: how a plugin contributes record types of its own.

A family contributes records without importing this module: `extras={"export_records": {"entity": rows}}`,
where `rows(conn, document_ids, withheld)` yields records as mappings of plain values, each with its `id`;
*document_ids* are those of the documents that are exported, None for the whole project, *withheld* those that
rights exclude from it. A table in place of `rows` stands for its visible columns.
"""

from __future__ import annotations

from armarium_exports.hookspecs import Contribution

__all__ = ["Contribution"]
