"""PAGE XML 2019-07-15 as a table: which elements and attributes may occur where, and their values.

Written from the published format, in our own words, in the notation of `markup.schema`; every export is validated
against it.
"""

from __future__ import annotations

from functools import cache

from armarium_formats.markup.languages import languages
from armarium_formats.markup.schema import Profile
from armarium_formats.pagexml.vocabulary import script_names

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
VERSION = "2019-07-15"

_WORDS = """
direction: left-to-right right-to-left top-to-bottom bottom-to-top
textType: paragraph heading caption header footer page-number drop-capital credit floating signature-mark
  catch-word marginalia footnote footnote-continued endnote TOC-entry list-label other
graphicType: logo letterhead decoration frame handwritten-annotation stamp signature barcode paper-grow
  punch-hole other
chartType: bar line pie scatter surface other
pageType: front-cover back-cover title table-of-contents index content blank other
colour: black blue brown cyan green grey indigo magenta orange pink red turquoise violet white yellow other
colourDepth: bilevel greyscale colour other
production: printed typewritten handwritten-cursive handwritten-printscript medieval-manuscript other
align: left centre right justify
groupType: paragraph list list-item figure article div other
itemType: author imageProperties processingStep other
unit: PPI PPCM other
dataType: xsd:decimal xsd:float xsd:integer xsd:boolean xsd:date xsd:time xsd:dateTime xsd:string other
userType: xsd:string xsd:integer xsd:boolean xsd:float
charType: base combining
relation: link join
underline: singleLine doubleLine other
"""

_MACROS = {
    "REGIONS": "(TextRegion|ImageRegion|LineDrawingRegion|GraphicRegion|TableRegion|ChartRegion|SeparatorRegion|"
    "MapRegion|MathsRegion|ChemRegion|MusicRegion|AdvertRegion|NoiseRegion|UnknownRegion|CustomRegion)*",
    "HEAD": "AlternativeImage* Coords UserDefined? Labels* Roles? REGIONS",
    "KEYS": "id:id! custom:string comments:string continuation:boolean",
    "TAIL": "TextEquiv* TextStyle? UserDefined? Labels*",
    "GROUP": "id:id! regionRef:ref caption:string type:groupType continuation:boolean custom:string comments:string",
    "INDEXED": "UserDefined? Labels* (RegionRefIndexed|OrderedGroupIndexed|UnorderedGroupIndexed)+",
    "FREE": "UserDefined? Labels* (RegionRef|OrderedGroup|UnorderedGroup)+",
    "SCRIPTS": "primaryScript:script secondaryScript:script readingDirection:direction production:production "
    "custom:string comments:string",
    "GRAPHEME": "id:id! index:natural! ligature:boolean charType:charType custom:string comments:string",
}

_ELEMENTS = """
PcGts Metadata Page @ pcGtsId:id
Metadata Creator Created LastChange Comments? UserDefined? MetadataItem* @ externalRef:string
Creator =string
Created =dateTime
LastChange =dateTime
Comments =string
MetadataItem Labels* @ type:itemType name:string value:string! date:dateTime
Labels Label* @ externalModel:string externalId:string prefix:string comments:string
Label @ value:string! type:string comments:string
UserDefined UserAttribute+
UserAttribute @ name:string description:string type:userType value:string
Page AlternativeImage* Border? PrintSpace? ReadingOrder? Layers? Relations? TextStyle? UserDefined? Labels* REGIONS
  @ imageFilename:string! imageWidth:int! imageHeight:int! imageXResolution:float imageYResolution:float
  imageResolutionUnit:unit custom:string orientation:float type:pageType primaryLanguage:language
  secondaryLanguage:language primaryScript:script secondaryScript:script readingDirection:direction
  textLineOrder:direction conf:conf
AlternativeImage @ filename:string! comments:string conf:conf
Border Coords
PrintSpace Coords
Coords @ points:points! conf:conf
Baseline @ points:points! conf:conf
ReadingOrder (OrderedGroup|UnorderedGroup) @ conf:conf
OrderedGroup INDEXED @ GROUP
UnorderedGroup FREE @ GROUP
OrderedGroupIndexed INDEXED @ index:int! GROUP
UnorderedGroupIndexed FREE @ index:int! GROUP
RegionRef @ regionRef:ref!
RegionRefIndexed @ index:int! regionRef:ref!
Layers Layer+
Layer RegionRef+ @ id:id! zIndex:int! caption:string
Relations Relation+
Relation Labels* SourceRegionRef TargetRegionRef @ id:id! type:relation custom:string comments:string
SourceRegionRef @ regionRef:ref!
TargetRegionRef @ regionRef:ref!
TextStyle @ fontFamily:string serif:boolean monospace:boolean fontSize:float xHeight:integer kerning:int
  textColour:colour textColourRgb:integer bgColour:colour bgColourRgb:integer reverseVideo:boolean bold:boolean
  italic:boolean underlined:boolean underlineStyle:underline subscript:boolean superscript:boolean
  strikethrough:boolean smallCaps:boolean letterSpaced:boolean
Roles TableCellRole?
TableCellRole @ rowIndex:int! columnIndex:int! rowSpan:int colSpan:int header:boolean
TextRegion HEAD TextLine* TextEquiv* TextStyle? @ KEYS orientation:float type:textType leading:int
  readingDirection:direction textLineOrder:direction readingOrientation:float indented:boolean align:align
  primaryLanguage:language secondaryLanguage:language primaryScript:script secondaryScript:script
  production:production
ImageRegion HEAD @ KEYS orientation:float colourDepth:colourDepth bgColour:colour embText:boolean
LineDrawingRegion HEAD @ KEYS orientation:float penColour:colour bgColour:colour embText:boolean
GraphicRegion HEAD @ KEYS orientation:float type:graphicType numColours:int embText:boolean
TableRegion HEAD Grid? @ KEYS orientation:float rows:int columns:int lineColour:colour bgColour:colour
  lineSeparators:boolean embText:boolean
Grid GridPoints GridPoints+
GridPoints @ index:int! points:points!
ChartRegion HEAD @ KEYS orientation:float type:chartType numColours:int bgColour:colour embText:boolean
SeparatorRegion HEAD @ KEYS orientation:float colour:colour
MapRegion HEAD @ KEYS orientation:float
MathsRegion HEAD @ KEYS orientation:float bgColour:colour
ChemRegion HEAD @ KEYS orientation:float bgColour:colour
MusicRegion HEAD @ KEYS orientation:float bgColour:colour
AdvertRegion HEAD @ KEYS orientation:float bgColour:colour
NoiseRegion HEAD @ KEYS
UnknownRegion HEAD @ KEYS
CustomRegion HEAD @ KEYS type:string
TextLine AlternativeImage* Coords Baseline? Word* TAIL
  @ id:id! primaryLanguage:language SCRIPTS index:int
Word AlternativeImage* Coords Glyph* TAIL @ id:id! language:language SCRIPTS
Glyph AlternativeImage* Coords Graphemes? TAIL @ id:id! ligature:boolean symbol:boolean script:script
  production:production custom:string comments:string
Graphemes (Grapheme|NonPrintingChar|GraphemeGroup)+
Grapheme TextEquiv* Coords @ GRAPHEME
NonPrintingChar TextEquiv* @ GRAPHEME
GraphemeGroup TextEquiv* (Grapheme|NonPrintingChar)* @ GRAPHEME
TextEquiv PlainText? Unicode @ index:natural conf:conf dataType:dataType dataTypeDetails:string comments:string
PlainText =string
Unicode =string
"""

REGION_TAGS = tuple(_MACROS["REGIONS"].strip("()*").split("|"))


@cache
def schema() -> Profile:
    """Return the schema of PAGE 2019-07-15, built on first use."""
    return Profile(
        NAMESPACE,
        "PcGts",
        _ELEMENTS,
        _MACROS,
        _WORDS,
        {
            "language": frozenset([*languages(), "other"]),
            "script": frozenset([*script_names().values(), "other"]),
        },
        points=("points", r"(?:[0-9]+,[0-9]+ )+[0-9]+,[0-9]+", "two or more x,y pairs of whole numbers"),
        ids="//@id | /*/@pcGtsId",
        references="regionRef",
    )


@cache
def children_of(tag: str) -> tuple[str, ...]:
    """Return the names of the children that an element may have, in order; the mixture of regions is one name."""
    content = schema().elements[tag].content
    names = ("(REGIONS" if token.startswith("(") else token.rstrip("?*+") for token in content)
    return tuple(dict.fromkeys(names))
