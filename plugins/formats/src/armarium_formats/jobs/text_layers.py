"""A part of the job `ingest-layouts`: the text that imported PDFs have themselves becomes passes of their pages."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from armarium.api import JobContext, ServiceError
from armarium_documents.api import OpenedPdf
from armarium_formats.actions.text_layers import PRESENT, PdfPages, ReadPage, pdf_pages, read_pages
from armarium_formats.jobs.layout_progress import LayoutJobArgs, Progress
from armarium_formats.schemas.exchange import ReadTextLayer

PAGES = 24
SECONDS = 3.0
"""What one step takes at most, which bounds what a kill makes the job do again."""


def read_text_layers(ctx: JobContext, progress: Progress) -> None:
    """Read the PDFs of the import, each opened once, from where *progress* says; count in it the pages that have a text."""
    args: LayoutJobArgs = ctx.args
    for number, document_id in enumerate(args.document_ids):
        if number < progress.pdf:
            continue
        try:
            file = pdf_pages(ctx.library, document_id)
            if PRESENT not in file.metadata or progress.pdf_page or args.again:
                _read_pdf(ctx, progress, document_id, file)
        except ServiceError as refusal:
            if refusal.status >= 500:
                raise
            progress.refuse(document_id, refusal.detail)
            ctx.log("warning", f"{document_id}: {refusal.detail}")
        progress.pdf, progress.pdf_page, progress.pdf_texts = number + 1, 0, 0
    ctx.save(asdict(progress))


def _read_pdf(ctx: JobContext, progress: Progress, document_id: str, file: PdfPages) -> None:
    ready: list[ReadPage] = []
    since = time.monotonic()
    with OpenedPdf(Path(ctx.library.objects.path(file.checksum))) as pdf:
        for place, page in enumerate(file.pages):
            if place < progress.pdf_page:
                continue
            pages = read_pages(ctx.library, pdf, file, [page], ctx.call_worker)
            ready += pages
            progress.texts += len(pages)
            progress.pdf_texts += len(pages)
            progress.pdf_page = place + 1
            last = progress.pdf_page == len(file.pages)
            late = time.monotonic() - since > SECONDS or ctx.stop is not None
            if last or len(ready) >= PAGES or (ready and late):
                params = ReadTextLayer(document_id=document_id)
                params.hand_over((file, ready))
                ctx.act("format.read_text_layer", params, checkpoint=asdict(progress), set_id=ctx.args.set_id)
                ready, since = [], time.monotonic()
            if not ready:
                ctx.check()
    without = len(file.pages) - progress.pdf_texts
    if without:
        pages_words = (
            f"{without} of its pages {'has' if without == 1 else 'have'} no text layer"
            if progress.pdf_texts
            else "It has no text layer"
        )
        note = f"{pages_words}; what is on them is found once they were read."
        progress.note(file.name, [note], ())
        ctx.log("info", f"{file.name}: {note}")
