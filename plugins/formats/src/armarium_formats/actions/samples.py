"""What the examples of the actions read."""

from __future__ import annotations

SAMPLE_PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="letter.jpg" imageWidth="1000" imageHeight="1400">
    <TextRegion id="r1"><Coords points="100,100 900,100 900,400 100,400"/>
      <TextLine id="l1"><Coords points="120,120 880,120 880,180 120,180"/><Baseline points="120,170 880,172"/>
        <TextEquiv conf="0.9"><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""
"""A small PAGE file: one region, one line, one text."""


def sample_picture() -> bytes:
    """A picture of the size that the sample page declares."""
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("L", (1000, 1400), 230).save(file, "PNG")
    return file.getvalue()
