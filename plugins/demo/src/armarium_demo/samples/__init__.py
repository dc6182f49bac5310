"""Sample pages drawn by this code: photographs of invented letters and deeds, with their ground truth."""

from armarium_demo.samples.pages import (
    SampleDocument,
    SampleLine,
    SamplePage,
    SampleRegion,
    manuscript_page,
    sample_documents,
    sample_pages,
    write_sample_pages,
    write_truth,
)

__all__ = [
    "SampleDocument",
    "SampleLine",
    "SamplePage",
    "SampleRegion",
    "manuscript_page",
    "sample_documents",
    "sample_pages",
    "write_sample_pages",
    "write_truth",
]
