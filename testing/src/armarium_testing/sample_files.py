"""The files that the examples of the actions read."""

from __future__ import annotations

from collections.abc import Sequence

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


SAMPLE_METS = """<?xml version="1.0" encoding="UTF-8"?>
<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink">
  <dmdSec ID="D"><mdWrap MDTYPE="DC"><xmlData><title xmlns="http://purl.org/dc/elements/1.1/">Letters</title></xmlData></mdWrap></dmdSec>
  <fileSec><fileGrp USE="DEFAULT">
    <file ID="i1" MIMETYPE="image/jpeg"><FLocat LOCTYPE="OTHER" OTHERLOCTYPE="FILE" xlink:href="1.jpg"/></file>
    <file ID="i2" MIMETYPE="image/jpeg"><FLocat LOCTYPE="OTHER" OTHERLOCTYPE="FILE" xlink:href="2.jpg"/></file>
  </fileGrp></fileSec>
  <structMap TYPE="PHYSICAL"><div TYPE="physSequence">
    <div ID="p1" TYPE="page" ORDER="1" ORDERLABEL="1r"><fptr FILEID="i1"/></div>
    <div ID="p2" TYPE="page" ORDER="2" ORDERLABEL="1v"><fptr FILEID="i2"/></div>
  </div></structMap>
  <structMap TYPE="LOGICAL"><div ID="l1" TYPE="letter" DMDID="D" LABEL="To a friend"/></structMap>
  <structLink><smLink xlink:from="l1" xlink:to="p1"/><smLink xlink:from="l1" xlink:to="p2"/></structLink>
</mets>
"""
"""A METS file of two pages that are one letter."""


def sample_picture() -> bytes:
    """Return a picture of the size that the sample page declares."""
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("L", (1000, 1400), 230).save(file, "PNG")
    return file.getvalue()


def sample_pdf(*texts: str) -> bytes:
    """Return a PDF of pages of 72 by 48 points, each with one of *texts* in Helvetica."""
    return write_pdf([f"BT /F1 9 Tf 6 24 Td ({text}) Tj ET" for text in texts or ("Dear Sir",)])


def write_pdf(contents: Sequence[str], page: str = "/MediaBox [0 0 72 48]") -> bytes:
    """Return a PDF with a page for each of *contents*, its drawing instructions; *page*: what each page states."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(contents)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, content in enumerate(contents):
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {page} {resources} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


SAMPLE_TROPY = """{"@context": {"@version": 1.1, "@vocab": "https://tropy.org/v1/tropy#", "template": {"@type": "@id"},
  "photo": {"@id": "https://tropy.org/v1/tropy#photo", "@container": "@list"},
  "note": {"@id": "https://tropy.org/v1/tropy#note", "@container": "@list"},
  "selection": {"@id": "https://tropy.org/v1/tropy#selection", "@container": "@list"},
  "title": "http://purl.org/dc/elements/1.1/title",
  "date": {"@id": "http://purl.org/dc/elements/1.1/date", "@type": "https://tropy.org/v1/tropy#date"}},
 "@graph": [{"@type": "Item", "template": "https://tropy.org/v1/templates/generic", "title": "Letter to Ana",
  "date": "1742-05-03", "list": ["Letters/Family"], "tag": ["damaged"],
  "photo": [{"@type": "Photo", "path": "1.png", "protocol": "file", "filename": "1.png", "mimetype": "image/png", "page": 0,
   "width": 1000, "height": 1400, "title": "f. 1r",
   "note": [{"@type": "Note", "html": {"@value": "<p>A <b>second</b> hand</p>", "@language": "en"}}],
   "transcription": [{"@type": "Transcription", "text": "Dear Ana\\nI am well"}],
   "selection": [{"@type": "Selection", "x": 100, "y": 140, "width": 200, "height": 280, "title": "Seal",
    "note": [{"@type": "Note", "text": {"@value": "Red wax", "@language": "en"}}]}]}]}],
 "version": "1.17.0"}
"""
"""An export of Tropy with one item of one photo."""
