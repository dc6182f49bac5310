"""The actions that put the jobs of layout into the queue."""

from __future__ import annotations

from armarium_layout.actions.samples import (
    drawing_page,
    leaning_page,
    letter_page,
    spread_page,
    table_page,
    text_page,
)
from armarium_layout.actions.starting import starting
from armarium_layout.schemas import (
    DrawingSettings,
    NoSettings,
    OutlineSettings,
    PrepareSettings,
    SignSettings,
    TableSettings,
)

STARTING = (
    starting(
        "put-in-order",
        NoSettings,
        "Put the lines of pages in order",
        "Began to put the lines of {scope_ids|pages} in order",
        letter_page,
    ),
    starting(
        "find-regions",
        NoSettings,
        "Find the regions of pages",
        "Began to find the regions of {scope_ids|pages}",
        letter_page,
    ),
    starting(
        "refine-shapes",
        OutlineSettings,
        "Give the lines of pages the outlines of their ink",
        "Began to outline the lines of {scope_ids|pages}",
        letter_page,
    ),
    starting(
        "find-a-tables-cells",
        TableSettings,
        "Find the cells of tables",
        "Began to find the cells of tables on {scope_ids|pages}",
        table_page,
    ),
    starting(
        "split-pages",
        NoSettings,
        "Cut pictures of open books at their gutter",
        "Began to split the pictures of {scope_ids|pages}",
        spread_page,
    ),
    starting(
        "prepare-the-image",
        PrepareSettings,
        "Prepare the pictures of pages",
        "Began to prepare the pictures of {scope_ids|pages}",
        leaning_page,
    ),
    starting(
        "tie-text-to-lines",
        NoSettings,
        "Share the text of pages out among their lines",
        "Began to tie the text of {scope_ids|pages} to lines",
        text_page,
    ),
    starting(
        "trace-a-drawing",
        DrawingSettings,
        "Trace the drawings of pages",
        "Began to trace the drawings of {scope_ids|pages}",
        drawing_page,
    ),
    starting(
        "find-signs",
        SignSettings,
        "Find signs on pages by their shape",
        "Began to look for signs on {scope_ids|pages}",
        letter_page,
    ),
)
