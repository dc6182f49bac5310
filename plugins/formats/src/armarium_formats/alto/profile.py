"""ALTO 4.4 as a table: which elements and attributes may occur where, and their values; every export is validated against
it.

Written from the published format, in our own words, in the notation of `markup.schema`.
"""

from __future__ import annotations

from functools import cache

from armarium_formats.markup.schema import Profile

NAMESPACE = "http://www.loc.gov/standards/alto/ns-v4#"
XLINK = "http://www.w3.org/1999/xlink"
VERSION = "4.4"

_WORDS = """
unit: pixel mm10 inch1200
position: Left Right Foldout Single Cover
fontType: serif sans-serif
fontWidth: proportional fixed
fontStyle: bold italics smallcaps strikethrough subscript superscript underline
align: Left Right Center Block
direction: ltr rtl ttb btt
substitution: HypPart1 HypPart2 Abbreviation
category: contentGeneration contentModification preOperation postOperation other
linkType: simple
linkShow: new replace embed other none
linkActuate: onLoad onRequest other none
"""

_QUALITIES = ("OK", "Missing", "Missing in original", "Damaged", "Retained", "Target", "As in original")

_MACROS = {
    "STEP": "processingCategory? processingDateTime? processingAgency? processingStepDescription* "
    "processingStepSettings? processingSoftware?",
    "BLOCKS": "(TextBlock|Illustration|GraphicalElement|ComposedBlock)*",
    "GROUP": "(ElementRef|OrderedGroup|UnorderedGroup)+",
    "GROUPED": "ID:id! TAGREFS:refs REF:refs",
    "TAG": "ID:id! TYPE:string LABEL:string! DESCRIPTION:string URI:uri",
    "BOX": "HEIGHT:float WIDTH:float HPOS:float VPOS:float",
    "SPACE": "ID:id STYLEREFS:refs PROCESSINGREFS:refs BOX",
    "LINK": "xlink:type:linkType xlink:href:uri xlink:role:string xlink:arcrole:string xlink:title:string "
    "xlink:show:linkShow xlink:actuate:linkActuate",
    "BLOCK": "ID:id! STYLEREFS:refs TAGREFS:refs PROCESSINGREFS:refs BOX ROTATION:float IDNEXT:ref CS:boolean LINK",
}

_ELEMENTS = """
alto Description? Styles? Tags? ReadingOrder? Layout @ SCHEMAVERSION:string
Description MeasurementUnit sourceImageInformation? OCRProcessing* Processing*
MeasurementUnit =unit
sourceImageInformation fileName? fileIdentifier* documentIdentifier*
fileName =string
fileIdentifier =string @ fileIdentifierLocation:string
documentIdentifier =string @ documentIdentifierLocation:string
OCRProcessing preProcessingStep* ocrProcessingStep postProcessingStep* @ ID:id!
Processing STEP @ ID:id!
preProcessingStep STEP
ocrProcessingStep STEP
postProcessingStep STEP
processingCategory =list.category
processingDateTime =date
processingAgency =string
processingStepDescription =string
processingStepSettings =string
processingSoftware softwareCreator? softwareName? softwareVersion? applicationDescription?
softwareCreator =string
softwareName =string
softwareVersion =string
applicationDescription =string
Styles TextStyle* ParagraphStyle*
TextStyle @ ID:id FONTFAMILY:string FONTTYPE:fontType FONTWIDTH:fontWidth FONTSIZE:float FONTCOLOR:hex
  FONTSTYLE:list.fontStyle
ParagraphStyle @ ID:id! ALIGN:align LEFT:float RIGHT:float LINESPACE:float FIRSTLINE:float
Tags (LayoutTag|StructureTag|RoleTag|NamedEntityTag|OtherTag)*
LayoutTag XmlData? @ TAG
StructureTag XmlData? @ TAG
RoleTag XmlData? @ TAG
NamedEntityTag XmlData? @ TAG
OtherTag XmlData? @ TAG
XmlData ANY+
ReadingOrder (OrderedGroup|UnorderedGroup)+
OrderedGroup GROUP @ GROUPED
UnorderedGroup GROUP @ GROUPED
ElementRef @ ID:id! REF:refs! TAGREFS:refs
Layout Page+ @ STYLEREFS:refs
Page TopMargin? LeftMargin? RightMargin? BottomMargin? PrintSpace? @ ID:id! PAGECLASS:string STYLEREFS:refs
  PROCESSINGREFS:refs HEIGHT:float WIDTH:float PHYSICAL_IMG_NR:float! PRINTED_IMG_NR:string QUALITY:quality
  QUALITY_DETAIL:string POSITION:position PROCESSING:ref ACCURACY:float PC:conf ROTATION:float LANG:tag
TopMargin Shape? BLOCKS @ SPACE
LeftMargin Shape? BLOCKS @ SPACE
RightMargin Shape? BLOCKS @ SPACE
BottomMargin Shape? BLOCKS @ SPACE
PrintSpace Shape? BLOCKS @ SPACE
TextBlock Shape? TextLine* @ BLOCK language:tag LANG:tag BASEDIRECTION:direction
Illustration Shape? @ BLOCK TYPE:string FILEID:string
GraphicalElement Shape? @ BLOCK
ComposedBlock Shape? BLOCKS @ BLOCK TYPE:string FILEID:string
TextLine Shape? (String,SP?)+ HYP? @ ID:id STYLEREFS:refs TAGREFS:refs PROCESSINGREFS:refs BOX BASELINE:points
  LANG:tag CS:boolean BASEDIRECTION:direction
String Shape? ALTERNATIVE* Glyph* @ ID:id STYLEREFS:refs TAGREFS:refs PROCESSINGREFS:refs BOX CONTENT:string!
  STYLE:list.fontStyle SUBS_TYPE:substitution SUBS_CONTENT:string WC:conf CC:string CS:boolean LANG:tag
SP @ ID:id BOX
HYP @ BOX CONTENT:string!
ALTERNATIVE =string @ PURPOSE:string
Glyph Shape? Variant* @ ID:id CONTENT:glyph! GC:conf BOX
Variant @ CONTENT:length.3 VC:conf
Shape (Polygon|Ellipse|Circle)
Polygon @ POINTS:points!
Ellipse @ HPOS:float! VPOS:float! HLENGTH:float! VLENGTH:float! ROTATION:float
Circle @ HPOS:float! VPOS:float! RADIUS:float!
"""

TAG_ELEMENTS = ("LayoutTag", "StructureTag", "RoleTag", "NamedEntityTag", "OtherTag")
SPACES = ("TopMargin", "LeftMargin", "RightMargin", "BottomMargin", "PrintSpace")
"""The parts of a Page, in the sequence in which the format has them."""


_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_POINT = rf"{_NUMBER}[ ,]{_NUMBER}"


@cache
def schema() -> Profile:
    """Return the schema of ALTO 4.4, built on first use."""
    return Profile(
        NAMESPACE,
        "alto",
        _ELEMENTS,
        _MACROS,
        _WORDS,
        {"quality": frozenset(_QUALITIES)},
        points=("POINTS BASELINE", rf"{_POINT}(?: {_POINT})*", "pairs of numbers with blanks between"),
        ids="//@ID",
        references="STYLEREFS TAGREFS PROCESSINGREFS REF IDNEXT PROCESSING",
        foreign={"xlink": XLINK},
        attributes_apart=True,
    )
