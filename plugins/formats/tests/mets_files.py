"""METS deliveries written for these tests: an OCR-D workspace, and a volume as a digital library delivers it."""

from __future__ import annotations

from batch_files import page, picture

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<mets:mets xmlns:mets="http://www.loc.gov/METS/"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mods="http://www.loc.gov/mods/v3"{more}>'
)
PAGE_TYPE = "application/vnd.prima.page+xml"


def file(identity: str, href: str, mimetype: str, *, local: bool = True) -> str:
    """Return a file of a fileGrp; OCR-D states its local path twice."""
    local_place = f'<mets:FLocat xlink:href="{href}" LOCTYPE="OTHER" OTHERLOCTYPE="FILE"/>' if local else ""
    return (
        f'<mets:file ID="{identity}" MIMETYPE="{mimetype}">{local_place}'
        f'<mets:FLocat xlink:href="{href}" LOCTYPE="URL"/></mets:file>'
    )


def group(use: str, *files: str) -> str:
    return f'<mets:fileGrp USE="{use}">{"".join(files)}</mets:fileGrp>'


def workspace(order: tuple[int, ...] = (3, 1, 2)) -> dict[str, bytes]:
    """Return an OCR-D workspace of three pages in reading order *order*: each with a scan, a binarised
    picture and two layout files.
    """
    numbers = sorted(order)
    files: dict[str, bytes] = {}
    for number in numbers:
        files[f"OCR-D-IMG/FILE_{number:04}.png"] = picture(grey=20 * number)
        files[f"OCR-D-BIN/FILE_{number:04}.png"] = picture(grey=20 * number + 1)
        files[f"OCR-D-GT-PAGE/FILE_{number:04}.xml"] = page(
            f"OCR-D-IMG/FILE_{number:04}.png", text=f"truth {number}"
        )
        files[f"OCR-D-OCR/FILE_{number:04}.xml"] = page(
            f"OCR-D-IMG/FILE_{number:04}.png", text=f"machine {number}"
        )
    kinds = {"OCR-D-BIN": ("png", "image/png"), "OCR-D-IMG": ("png", "image/png")}
    kinds |= {"OCR-D-GT-PAGE": ("xml", PAGE_TYPE), "OCR-D-OCR": ("xml", PAGE_TYPE)}
    groups = [
        group(use, *(file(f"{use}_{n:04}", f"{use}/FILE_{n:04}.{end}", kind) for n in numbers))
        for use, (end, kind) in kinds.items()
    ]
    divs = "".join(
        f'<mets:div TYPE="page" ID="PHYS_{n:04}" ORDER="{place}" ORDERLABEL="fol. {place}">'
        + "".join(f'<mets:fptr FILEID="{use}_{n:04}"/>' for use in kinds)
        + "</mets:div>"
        for place, n in enumerate(order, 1)
    )
    files["mets.xml"] = (
        HEAD.format(more="")
        + '<mets:metsHdr CREATEDATE="2026-01-01T00:00:00"><mets:agent TYPE="OTHER" OTHERTYPE="SOFTWARE" ROLE="CREATOR">'
        "<mets:name>by hand</mets:name></mets:agent></mets:metsHdr>"
        '<mets:dmdSec ID="DMDLOG_0001"><mets:mdWrap MDTYPE="MODS"><mets:xmlData><mods:mods>'
        '<mods:identifier type="purl">http://resolver.example/PPN1</mods:identifier></mods:mods></mets:xmlData>'
        '</mets:mdWrap></mets:dmdSec><mets:amdSec ID="AMD"/>'
        f"<mets:fileSec>{''.join(groups)}</mets:fileSec>"
        f'<mets:structMap TYPE="PHYSICAL"><mets:div TYPE="physSequence">{divs}</mets:div></mets:structMap></mets:mets>'
    ).encode()
    return files


def volume(refused: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return a volume of a digital library: the second page in three sizes, the first in one, a full text and
    a logical structure; the third page is only on the network. *refused*: further addresses that a page
    points at.
    """
    files = {
        "default/2.png": picture(grey=50),
        "max/2.png": picture(240, 180, grey=51),
        "thumbs/2.png": picture(12, 9, grey=52),
        "default/1.png": picture(grey=53),
        "fulltext/2.xml": page("", text="Liebe Schwester"),
    }
    groups = (
        group("THUMBS", file("T2", "thumbs/2.png", "image/png"))
        + group("MAX", file("M2", "max/2.png", "image/png"))
        + group(
            "DEFAULT",
            file("D1", "default/1.png", "image/png"),
            file("D2", "default/2.png", "image/png"),
            file("D3", "https://images.example/3.png", "image/png", local=False),
            *(file(f"R{n}", href, "image/png", local=False) for n, href in enumerate(refused)),
        )
        + group("FULLTEXT", file("F2", "fulltext/2.xml", PAGE_TYPE), file("F1", "fulltext/1.xml", PAGE_TYPE))
    )
    odd = "".join(f'<mets:fptr FILEID="R{n}"/>' for n in range(len(refused)))
    files["volume.xml"] = (
        HEAD.format(more=' LABEL="Briefe" OBJID="oai:example:1" TYPE="volume"')
        + '<mets:dmdSec ID="DMD1"><mets:mdWrap MDTYPE="MODS"><mets:xmlData><mods:mods>'
        "<mods:titleInfo><mods:nonSort>Die</mods:nonSort><mods:title>Briefe der Anna</mods:title></mods:titleInfo>"
        "<mods:name><mods:namePart>Anna Weber</mods:namePart></mods:name>"
        "<mods:originInfo><mods:dateIssued>1750</mods:dateIssued></mods:originInfo>"
        "<mods:location><mods:shelfLocator>Ms. 12</mods:shelfLocator></mods:location></mods:mods></mets:xmlData>"
        '</mets:mdWrap></mets:dmdSec><mets:dmdSec ID="DMD2"><mets:mdWrap MDTYPE="MODS"><mets:xmlData><mods:mods/>'
        '</mets:xmlData></mets:mdWrap></mets:dmdSec><mets:amdSec ID="AMD"/>'
        f"<mets:fileSec>{groups}</mets:fileSec>"
        '<mets:structMap TYPE="LOGICAL"><mets:div ID="LOG0" TYPE="volume" DMDID="DMD1" LABEL="Briefe">'
        '<mets:div ID="LOG1" TYPE="letter" DMDID="DMD2" LABEL="An die Schwester"/></mets:div></mets:structMap>'
        '<mets:structMap TYPE="PHYSICAL"><mets:div ID="PHYS0" TYPE="physSequence">'
        '<mets:div ID="P2" TYPE="page" ORDER="1" ORDERLABEL="1r"><mets:fptr FILEID="T2"/><mets:fptr FILEID="M2"/>'
        '<mets:fptr FILEID="D2"/><mets:fptr FILEID="F2"/></mets:div>'
        f'<mets:div ID="P1" TYPE="page" ORDER="2" ORDERLABEL=" - "><mets:fptr FILEID="D1"/><mets:fptr FILEID="F1"/>{odd}</mets:div>'
        '<mets:div ID="P3" TYPE="page" ORDER="3" ORDERLABEL="2r"><mets:fptr FILEID="D3"/></mets:div>'
        "</mets:div></mets:structMap>"
        '<mets:structLink><mets:smLink xlink:from="LOG0" xlink:to="PHYS0"/><mets:smLink xlink:from="LOG1" xlink:to="P2"/>'
        '<mets:smLink xlink:from="LOG1" xlink:to="P1"/></mets:structLink></mets:mets>'
    ).encode()
    return files


def without_structure() -> dict[str, bytes]:
    """Return two pages without a structMap: only the fileSec orders them, and not by name."""
    files = {f"scans/{n}.png": picture(grey=90 + n) for n in (1, 2)}
    files |= {f"ocr/{n}.xml": page("", text=f"page {n}") for n in (1, 2)}
    groups = group("OCR", *(file(f"O{n}", f"ocr/{n}.xml", PAGE_TYPE) for n in (1, 2))) + group(
        "MASTER", *(file(f"M{n}", f"scans/{n}.png", "image/png") for n in (2, 1))
    )
    files["mets.xml"] = (
        HEAD.format(more="")
        + f"<mets:fileSec>{groups}</mets:fileSec><mets:structMap><mets:div/></mets:structMap></mets:mets>"
    ).encode()
    return files
