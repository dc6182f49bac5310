"""Sample files in the dialects of various programs, written for these tests, each with that program's
peculiarities.
"""

from __future__ import annotations

SIZE = 'imageFilename="a.tif" imageWidth="500" imageHeight="500"'


def page(inner: str, version: str = "2019-07-15", attributes: str = SIZE) -> str:
    """Return a PAGE file."""
    return f'<PcGts xmlns="{PNS}{version}"><Metadata><Creator>x</Creator><Created>2020-01-01T00:00:00</Created><LastChange>2020-01-01T00:00:00</LastChange></Metadata><Page {attributes}>{inner}</Page></PcGts>'


FILES: dict[str, str] = {}
"""The files by name."""
PNS = "http://schema.primaresearch.org/PAGE/gts/pagecontent/"
FILES["transkribus-table.xml"] = f'''<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<PcGts xmlns="{PNS}2013-07-15" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{PNS}2013-07-15 {PNS}2013-07-15/pagecontent.xsd">
 <Metadata><Creator>prov=READ-COOP:name=PyLaia@TranskribusPlatform:version=2.1</Creator><Created>2023-05-04T10:11:12.345+02:00</Created><LastChange>2023-05-04T10:11:12.345+02:00</LastChange>
 <TranskribusMetadata docId="11" pageId="22" pageNr="3" tsid="44" status="DONE" userId="5" imgUrl="https://files.transkribus.eu/Get?id=ABC&amp;fileType=view" xmlUrl="https://x/y" imageId="7"/></Metadata>
 <Page imageFilename="0003_p. 3.jpg" imageWidth="1000" imageHeight="1400">
  <ReadingOrder><OrderedGroup id="ro_1" caption="Regions reading order"><RegionRefIndexed index="0" regionRef="t1"/><RegionRefIndexed index="1" regionRef="gone"/><RegionRefIndexed index="2" regionRef="r2"/></OrderedGroup></ReadingOrder>
  <TableRegion id="t1" custom="readingOrder {{index:0;}}"><Coords points="10,10 900,10 900,500 10,500"/>
   <TableCell row="0" col="0" rowSpan="1" colSpan="2" id="t1_c0" leftBorderVisible="true"><Coords points="10,10 10,250 900,250 900,10"/>
     <TextLine id="t1_l0" custom="readingOrder {{index:0;}} textStyle {{offset:0; length:4;bold:true;}} abbrev {{offset:0; length:4;expansion:Anno\\u0020domini;}}"><Coords points="20,20  880,20 880,60 20,60 "/><Baseline points="20,55 880,55"/><TextEquiv><Unicode>A.D. 1750</Unicode></TextEquiv><TextStyle fontFamily="Times New Roman" bold="true"/></TextLine>
     <CornerPts>0 1 2 3</CornerPts></TableCell>
   <TableCell row="1" col="0" rowSpan="1" colSpan="1" id="t1_c1"><Coords points="10,250 10,500 450,500 450,250"/><CornerPts>0 1 2 3</CornerPts></TableCell>
   <TableCell row="1" col="1" rowSpan="1" colSpan="1" id="t1_c2"><Coords points="450,250 450,500 900,500 900,250"/>
     <TextLine id="t1_l2"><Coords points="460,260 890,260 890,300 460,300"/><TextEquiv><Unicode>42</Unicode></TextEquiv></TextLine><CornerPts>0 1 2 3</CornerPts></TableCell>
  </TableRegion>
  <TextRegion type="heading" id="r2" custom="readingOrder {{index:2;}} structure {{type:heading;}}"><Coords points="10,600 900,600 900,700 10,700"/>
    <TextLine id="r2_l1" custom="readingOrder {{index:0;}}"><Coords points="20,610 880,610 880,690 20,690"/><Baseline points="20,680 880,680"/><TextEquiv><Unicode></Unicode></TextEquiv></TextLine>
    <TextEquiv><Unicode></Unicode></TextEquiv></TextRegion>
 </Page></PcGts>'''
FILES[
    "table-nested.xml"
] = f'''<PcGts xmlns="{PNS}2019-07-15"><Metadata><Creator>x</Creator><Created>2020-01-01T00:00:00</Created><LastChange>2020-01-01T00:00:00</LastChange></Metadata>
 <Page imageFilename="a.tif" imageWidth="500" imageHeight="500"><TableRegion id="t" rows="2" columns="1"><Coords points="0,0 400,0 400,400 0,400"/><Grid><GridPoints index="0" points="0,0 400,0"/><GridPoints index="1" points="0,400 400,400"/></Grid>
  <TextRegion id="c1"><Coords points="0,0 400,0 400,200 0,200"/><Roles><TableCellRole rowIndex="0" columnIndex="0" rowSpan="1" colSpan="1" header="true"/></Roles>
    <TableRegion id="t2"><Coords points="10,10 200,10 200,100 10,100"/><TextRegion id="c11"><Coords points="10,10 100,10 100,100 10,100"/><Roles><TableCellRole rowIndex="0" columnIndex="0"/></Roles><TextLine id="l11"><Coords points="12,12 90,12 90,30 12,30"/><TextEquiv><Unicode>inner</Unicode></TextEquiv></TextLine></TextRegion></TableRegion>
    <TextLine id="l1"><Coords points="210,10 390,10 390,30 210,30"/><TextEquiv><Unicode>outer</Unicode></TextEquiv></TextLine></TextRegion></TableRegion></Page></PcGts>'''
FILES["escriptorium-page.xml"] = f'''<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<PcGts xmlns="{PNS}2019-07-15" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><Metadata externalRef="unknown"><Creator>escriptorium</Creator><Created>2024-01-01T00:00:00+00:00</Created><LastChange>2024-01-01T00:00:00+00:00</LastChange></Metadata>
<Page imageFilename="f1.jpg" imageWidth="800" imageHeight="600">
 <TextRegion id="eSc_textblock_1" custom="structure {{type:MainZone:column#1;}}"><Coords points="10,10 700,10 700,500 10,500"/>
  <TextLine id="eSc_line_1" custom="structure {{type:DefaultLine;}}"><Coords points="20,20 600,20 600,60 20,60"/><Baseline points="20,55 600,55"/><TextEquiv conf="0.91"><Unicode>ligne</Unicode></TextEquiv></TextLine>
  <TextLine id="eSc_line_2" custom="structure {{type:InterlinearLine;}}"><Baseline points="20,95 600,95"/><TextEquiv><Unicode/></TextEquiv></TextLine>
 </TextRegion>
 <TextRegion id="eSc_dummyblock_"><TextLine id="eSc_line_3"><Coords points="20,520 600,520 600,560 20,560"/><Baseline points="20,555 600,555"/><TextEquiv><Unicode>hors zone</Unicode></TextEquiv></TextLine></TextRegion>
</Page></PcGts>'''
FILES["kraken-page.xml"] = f'''<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="{PNS}2019-07-15"><Metadata><Creator>kraken 5.2</Creator><Created>2024-02-02T00:00:00Z</Created><LastChange>2024-02-02T00:00:00Z</LastChange><MetadataItem type="processingStep" name="recognition" value="catmus"><Labels><Label value="x" type="y"/></Labels></MetadataItem></Metadata>
<Page imageFilename="/scans/u/f1.jpg" imageWidth="800" imageHeight="600" readingDirection="left-to-right">
 <ReadingOrder><UnorderedGroup id="ug"><OrderedGroup id="og1"><RegionRefIndexed index="0" regionRef="region_0"/></OrderedGroup></UnorderedGroup></ReadingOrder>
 <TextRegion id="region_0" custom="structure {{type:$pag;}}"><Coords points="1.5,2.25 700,10 700,500 10,500"/>
  <TextLine id="line_0" custom="structure {{type:$default;}} language {{type:lat;}}" primaryLanguage="Latin"><Coords points="20,20 600,20 600,60 20,60"/><Baseline points="20,55 600,55"/>
   <Word id="segment_0"><Coords points="20,20 100,20 100,60 20,60"/><Glyph id="char_0"><Coords points="20,20 50,20 50,60 20,60"/><TextEquiv conf="0.99"><Unicode>a</Unicode></TextEquiv></Glyph><TextEquiv conf="0.99"><Unicode>ab</Unicode></TextEquiv></Word>
   <TextEquiv conf="0.98"><Unicode>ab cd</Unicode></TextEquiv></TextLine></TextRegion>
</Page></PcGts>'''
FILES["ocrd.xml"] = f'''<?xml version="1.0" encoding="UTF-8"?>
<pc:PcGts xmlns:pc="{PNS}2019-07-15" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" pcGtsId="FILE_0001_OCR-D-OCR"><pc:Metadata><pc:Creator>OCR-D/core 2.60</pc:Creator><pc:Created>2024-01-01T00:00:00</pc:Created><pc:LastChange>2024-01-01T00:00:00</pc:LastChange>
 <pc:MetadataItem type="processingStep" name="recognition/text-recognition" value="ocrd-tesserocr-recognize"><pc:Labels externalModel="ocrd-tool" externalId="parameters"><pc:Label value="Fraktur" type="model"/></pc:Labels></pc:MetadataItem></pc:Metadata>
<pc:Page imageFilename="OCR-D-IMG/FILE_0001.tif" imageWidth="2000" imageHeight="3000" orientation="-0.43" type="content" readingDirection="left-to-right" textLineOrder="top-to-bottom">
 <pc:AlternativeImage filename="OCR-D-BIN/FILE_0001.png" comments="binarized,cropped"/>
 <pc:Border><pc:Coords points="10,10 1990,10 1990,2990 10,2990"/></pc:Border>
 <pc:ReadingOrder><pc:OrderedGroup id="ro" caption="x"><pc:OrderedGroupIndexed id="g1" index="0" regionRef="r1"><pc:RegionRefIndexed index="0" regionRef="r2"/></pc:OrderedGroupIndexed></pc:OrderedGroup></pc:ReadingOrder>
 <pc:TextRegion id="r1" orientation="1.5" production="printed" primaryScript="Latf - Latin (Fraktur variant)" primaryLanguage="German"><pc:AlternativeImage filename="x.png" comments="deskewed"/><pc:Coords points="100,100 900,100 900,500 100,500" conf="0.9"/>
  <pc:TextRegion id="r2" type="drop-capital"><pc:Coords points="100,100 200,100 200,200 100,200"/><pc:TextEquiv index="0"><pc:Unicode>E</pc:Unicode></pc:TextEquiv></pc:TextRegion>
  <pc:TextLine id="l1"><pc:Coords points="210,100 900,100 900,150 210,150"/><pc:Word id="w1"><pc:Coords points="210,100 400,100 400,150 210,150"/><pc:TextEquiv index="1" conf="0.8"><pc:Unicode>iu</pc:Unicode></pc:TextEquiv><pc:TextEquiv index="0" conf="0.9" dataType="other" dataTypeDetails="x"><pc:Unicode>in</pc:Unicode></pc:TextEquiv></pc:Word><pc:TextEquiv index="0"><pc:PlainText>in</pc:PlainText><pc:Unicode>in</pc:Unicode></pc:TextEquiv></pc:TextLine>
  <pc:TextEquiv index="0"><pc:Unicode>E
in</pc:Unicode></pc:TextEquiv></pc:TextRegion>
 <pc:SeparatorRegion id="s1"><pc:Coords points="10,10 20,10 20,600 10,600"/></pc:SeparatorRegion>
 <pc:NoiseRegion id="n1"><pc:Coords points="1,1 5,1 5,5 1,5"/></pc:NoiseRegion>
</pc:Page></pc:PcGts>'''
FILES["aletheia-2010.xml"] = """<?xml version="1.0"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2010-03-19" pcGtsId="pc-1"><Metadata><Creator>PRImA</Creator><Created>2010-01-01T00:00:00</Created><LastChange>2010-01-01T00:00:00</LastChange><Comments>c</Comments></Metadata>
<Page imageFilename="p.tif" imageWidth="300" imageHeight="300"><Border><Coords><Point x="0" y="0"/><Point x="300" y="0"/><Point x="300" y="300"/></Coords></Border>
<PrintSpace><Coords><Point x="5" y="5"/><Point x="290" y="5"/><Point x="290" y="290"/></Coords></PrintSpace>
<ReadingOrder><UnorderedGroup id="g"><RegionRef regionRef="r1"/></UnorderedGroup></ReadingOrder><Layers><Layer id="ly" zIndex="0"><RegionRef regionRef="r1"/></Layer></Layers>
<TextRegion id="r1" type="page-number" reading_orientation="0" textColour="Black" bgColour="White" indented="false"><Coords><Point x="10" y="10"/><Point x="90" y="10"/><Point x="90" y="40"/><Point x="10" y="40"/></Coords><TextEquiv><PlainText>12</PlainText><Unicode>12</Unicode></TextEquiv></TextRegion>
<ImageRegion id="i1" colourDepth="Bilevel" embText="true"><Coords><Point x="10" y="100"/><Point x="90" y="100"/><Point x="90" y="140"/></Coords></ImageRegion>
</Page></PcGts>"""
for name, unit, size in (
    ("mm10", "mm10", True),
    ("inch1200", "inch1200", True),
    ("mm10-nosize", "mm10", False),
):
    FILES[f"alto2-{name}.xml"] = f"""<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v2#" xmlns:xlink="http://www.w3.org/1999/xlink"><Description><MeasurementUnit>{unit}</MeasurementUnit><sourceImageInformation><fileName>0001.tif</fileName></sourceImageInformation>
<OCRProcessing ID="OCR1"><ocrProcessingStep><processingStepDescription>resolution: 300</processingStepDescription><processingStepSettings>width:2480
height:3508
xresolution:300
yresolution:300</processingStepSettings><processingSoftware><softwareCreator>CCS Content Conversion Specialists GmbH, Germany</softwareCreator><softwareName>CCS docWORKS/METAe Version 6.5-2</softwareName></processingSoftware></ocrProcessingStep></OCRProcessing></Description>
<Styles><TextStyle ID="TXT_0" FONTSIZE="9" FONTFAMILY="Times New Roman"/><ParagraphStyle ID="PAR_1" ALIGN="Left"/></Styles>
<Layout><Page ID="P1" PHYSICAL_IMG_NR="1" {'HEIGHT="2970" WIDTH="2100"' if size else ""} PC="0.95" ACCURACY="91.5" QUALITY="OK">
<TopMargin ID="P1_TM" HPOS="0" VPOS="0" WIDTH="2100" HEIGHT="100"><TextBlock ID="P1_TB0" HPOS="900" VPOS="20" WIDTH="100" HEIGHT="40"><TextLine ID="P1_TL0" HPOS="900" VPOS="20" WIDTH="100" HEIGHT="40"><String ID="P1_ST0" HPOS="900" VPOS="20" WIDTH="100" HEIGHT="40" CONTENT="17" WC="1.0" CC="00"/></TextLine></TextBlock></TopMargin>
<LeftMargin ID="P1_LM" HPOS="0" VPOS="100" WIDTH="100" HEIGHT="2700"/><RightMargin ID="P1_RM" HPOS="2000" VPOS="100" WIDTH="100" HEIGHT="2700"/><BottomMargin ID="P1_BM" HPOS="0" VPOS="2800" WIDTH="2100" HEIGHT="170"/>
<PrintSpace ID="P1_PS" HPOS="100" VPOS="100" WIDTH="1900" HEIGHT="2700"><ComposedBlock ID="P1_CB1" HPOS="120" VPOS="120" WIDTH="800" HEIGHT="600" TYPE="container"><TextBlock ID="P1_TB1" HPOS="120" VPOS="120" WIDTH="800" HEIGHT="300" STYLEREFS="TXT_0 PAR_1" language="de"><Shape><Polygon POINTS="120,120 920,120 920,420 120,420"/></Shape>
<TextLine ID="P1_TL1" HPOS="120" VPOS="130" WIDTH="790" HEIGHT="40"><String ID="P1_ST1" HPOS="120" VPOS="130" WIDTH="300" HEIGHT="40" CONTENT="Zei" SUBS_TYPE="HypPart1" SUBS_CONTENT="Zeitung" WC="0.9" STYLE="bold"/><HYP WIDTH="10" HPOS="420" VPOS="130" CONTENT="-"/></TextLine>
<TextLine ID="P1_TL2" HPOS="120" VPOS="180" WIDTH="790" HEIGHT="40"><String ID="P1_ST2" HPOS="120" VPOS="180" WIDTH="300" HEIGHT="40" CONTENT="tung" SUBS_TYPE="HypPart2" SUBS_CONTENT="Zeitung"><ALTERNATIVE PURPOSE="x">lung</ALTERNATIVE></String><SP ID="SP1" WIDTH="10" HPOS="420" VPOS="180"/><String ID="P1_ST3" HPOS="440" VPOS="180" WIDTH="100" HEIGHT="40" CONTENT="an"/></TextLine></TextBlock>
<Illustration ID="P1_I1" HPOS="120" VPOS="430" WIDTH="400" HEIGHT="200" TYPE="Photo" FILEID="x"/></ComposedBlock><GraphicalElement ID="P1_G1" HPOS="960" VPOS="100" WIDTH="5" HEIGHT="2600" ROTATION="0.5"/></PrintSpace></Page></Layout></alto>"""
FILES["alto-two-pages.xml"] = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>book.pdf</fileName></sourceImageInformation></Description>
<Layout><Page ID="p1" PHYSICAL_IMG_NR="1" WIDTH="100" HEIGHT="200" POSITION="Left"><PrintSpace HPOS="0" VPOS="0" WIDTH="100" HEIGHT="200"><TextBlock ID="b1" HPOS="1" VPOS="1" WIDTH="90" HEIGHT="20"><TextLine HPOS="1" VPOS="1" WIDTH="90" HEIGHT="20"><String CONTENT="one" HPOS="1" VPOS="1" WIDTH="90" HEIGHT="20"/></TextLine></TextBlock></PrintSpace></Page>
<Page ID="p2" PHYSICAL_IMG_NR="2" WIDTH="120" HEIGHT="220" POSITION="Right"><PrintSpace><TextBlock ID="b1" HPOS="1" VPOS="1" WIDTH="90" HEIGHT="20"><TextLine BASELINE="19" HPOS="1" VPOS="1" WIDTH="90" HEIGHT="20"><String CONTENT="two" HPOS="1" VPOS="1" WIDTH="90" HEIGHT="20"/></TextLine></TextBlock></PrintSpace></Page><Page ID="p3" PHYSICAL_IMG_NR="3" WIDTH="120" HEIGHT="220"/></Layout></alto>"""
FILES["gallica.xml"] = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://bibnum.bnf.fr/ns/alto_prod" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://bibnum.bnf.fr/ns/alto_prod http://bibnum.bnf.fr/ns/alto_prod.xsd"><Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>X0000001.tif</fileName></sourceImageInformation><OCRProcessing ID="OCR.1"><ocrProcessingStep><processingDateTime>2012-03-04</processingDateTime><processingSoftware><softwareCreator>ABBYY</softwareCreator></processingSoftware></ocrProcessingStep></OCRProcessing></Description>
<Styles><TextStyle ID="TXT_0" FONTFAMILY="Times" FONTSIZE="10.5"/></Styles>
<Layout><Page ID="PAG_1" PHYSICAL_IMG_NR="1" PRINTED_IMG_NR="iv" WIDTH="1000" HEIGHT="1500" POSITION="Single" PC="0.98"><PrintSpace ID="PAG_1_PS" HPOS="0" VPOS="0" WIDTH="1000" HEIGHT="1500">
<ComposedBlock ID="CB1" HPOS="10" VPOS="10" WIDTH="400" HEIGHT="200" TYPE="table"><TextBlock ID="TB1" HPOS="10" VPOS="10" WIDTH="400" HEIGHT="100" language="fr"><TextLine ID="L1" HPOS="10" VPOS="10" WIDTH="380" HEIGHT="40"><String ID="S1" HPOS="10" VPOS="10" WIDTH="100" HEIGHT="40" CONTENT="L'&#233;tat" WC="0.5" CC="00009" STYLEREFS="TXT_0"/><SP ID="SP1" HPOS="110" VPOS="10" WIDTH="10"/><String ID="S2" HPOS="130" VPOS="10" WIDTH="100" HEIGHT="40" CONTENT="&lt;&amp;&gt;"/><HYP CONTENT="&#173;"/></TextLine></TextBlock></ComposedBlock></PrintSpace></Page></Layout></alto>"""
FILES["tesseract-alto.xml"] = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.loc.gov/standards/alto/ns-v3# http://www.loc.gov/alto/v3/alto-3-0.xsd">
	<Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>in.png</fileName></sourceImageInformation><OCRProcessing ID="OCR_0"><ocrProcessingStep><processingSoftware><softwareName>tesseract 5.3.0</softwareName></processingSoftware></ocrProcessingStep></OCRProcessing></Description>
	<Layout><Page WIDTH="640" HEIGHT="480" PHYSICAL_IMG_NR="0" ID="page_0"><PrintSpace HPOS="0" VPOS="0" WIDTH="640" HEIGHT="480">
	<ComposedBlock ID="cblock_0" HPOS="30" VPOS="30" WIDTH="500" HEIGHT="100"><TextBlock ID="block_0" HPOS="30" VPOS="30" WIDTH="500" HEIGHT="100"><TextLine ID="line_0" HPOS="30" VPOS="30" WIDTH="500" HEIGHT="40"><String ID="string_0" HPOS="30" VPOS="30" WIDTH="100" HEIGHT="40" WC="0.96" CONTENT="Dear"/><SP WIDTH="11" VPOS="30" HPOS="130"/><String ID="string_1" HPOS="141" VPOS="30" WIDTH="100" HEIGHT="40" WC="0.5" CONTENT="Sir"/></TextLine></TextBlock></ComposedBlock>
	<Illustration ID="cblock_1" HPOS="30" VPOS="200" WIDTH="50" HEIGHT="50"/><GraphicalElement ID="cblock_2" HPOS="30" VPOS="260" WIDTH="500" HEIGHT="2"/>
	</PrintSpace></Page></Layout></alto>"""
FILES["escriptorium-alto.xml"] = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.loc.gov/standards/alto/ns-v4# http://www.loc.gov/standards/alto/v4/alto-4-2.xsd"><Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>f1.jpg</fileName><fileIdentifier>http://x/f1</fileIdentifier></sourceImageInformation></Description>
<Tags><OtherTag ID="BT1" LABEL="MainZone" DESCRIPTION="block type MainZone"/><OtherTag ID="LT2" LABEL="DefaultLine" DESCRIPTION="line type DefaultLine"/><OtherTag ID="LT3" LABEL="HeadingLine:rubricated" DESCRIPTION="line type"/></Tags>
<Layout><Page WIDTH="800" HEIGHT="600" PHYSICAL_IMG_NR="0" ID="eSc_dummypage_"><PrintSpace HPOS="0" VPOS="0" WIDTH="800" HEIGHT="600"><TextBlock HPOS="10" VPOS="10" WIDTH="700" HEIGHT="500" ID="eSc_textblock_1" TAGREFS="BT1"><Shape><Polygon POINTS="10 10 710 10 710 510 10 510"/></Shape><TextLine ID="eSc_line_1" TAGREFS="LT2" BASELINE="20 55 600 55" HPOS="20" VPOS="20" WIDTH="580" HEIGHT="40"><Shape><Polygon POINTS="20 20 600 20 600 60 20 60"/></Shape><String CONTENT="une ligne enti&#232;re" HPOS="20" VPOS="20" WIDTH="580" HEIGHT="40" WC="0.9"/></TextLine><TextLine ID="eSc_line_2" TAGREFS="LT3 GONE" BASELINE="20 95 300 90 600 95"><String CONTENT="" HPOS="0" VPOS="0" WIDTH="0" HEIGHT="0"/></TextLine></TextBlock><TextBlock ID="eSc_dummyblock_"><TextLine ID="eSc_line_9" BASELINE="1,1 50,1" HPOS="1" VPOS="1" WIDTH="49" HEIGHT="1"><String CONTENT="loose"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""
FILES["gcv.hocr"] = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en"><head><title>test.jpg</title><meta http-equiv="Content-Type" content="text/html;charset=utf-8" /><meta name='ocr-system' content='gcv2hocr.py' /><meta name='ocr-langs' content='de' /><meta name='ocr-number-of-pages' content='1' /><meta name='ocr-capabilities' content='ocr_page ocr_carea ocr_line ocrx_word ocrp_lang'/></head>
<body><div class='ocr_page' id='page_1' lang='unknown' title='image "test.jpg";bbox 0 0 640 480'>
<div class='ocr_carea' lang='de' title='bbox 10 10 600 100'>
<span class='ocr_line' id='line_0_0' title='bbox 10 10 600 50; baseline 0 0'><span class='ocrx_word' id='word_0_0_0' title='bbox 10 10 100 50'>Sehr</span> <span class='ocrx_word' id='word_0_0_1' title='bbox 110 10 200 50'>geehrter</span><span class='ocrx_word' id='word_0_0_2' title='bbox 200 10 210 50'>,</span></span>
</div></div></body></html>"""
FILES[
    "azure.hocr"
] = """<!DOCTYPE html><html><head><meta charset="utf-8"><meta name=ocr-system content="Azure Read 3.2"></head><body>
<div class=ocr_page id=p1 title="image page1.png; bbox 0.0 0.0 1700.5 2200.0; ppageno 0; x_unit pixel">
<p class=ocr_par dir=ltr title="bbox 100.4 100.6 900 300">
<span class=ocr_line title="bbox 100.4 100.6 900 150; x_bboxes 1 2 3 4; x_confs 97.2 88.1"><span class=ocrx_word title="bbox 100 100 300 150; x_confs 97.2">Caf&eacute;</span>&nbsp;<span class=ocrx_word title="bbox 320 100 500 150;x_conf 0.88">a&nbsp;b</span></span><br>
<span class="ocr_line foo" title="poly 100 160 900 170 900 210 100 200"><strong>bold</strong> plain
</p></div>
<div class=ocr_page title='ppageno 1'><span class=ocrx_line title='bbox 1 2 3 4'>x_line</span></div>"""
FILES["abbyycloud.xml"] = (
    '\ufeff<?xml version="1.0" encoding="UTF-8"?>'
    + """
<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml" version="1.0" producer="ABBYY Cloud OCR SDK" pagesCount="1" mainLanguage="EnglishUnitedStates" languages="EnglishUnitedStates,German">
<page width="1000" height="1400" resolution="300" originalCoords="1" rotation="Normal">
<block blockType="Text" blockName="" l="10" t="10" r="500" b="200"><region><rect l="10" t="10" r="500" b="100"/><rect l="10" t="100" r="300" b="200"/></region>
<text id="{1}" orientation="Normal"><par align="Justified" lineSpacing="900"><line baseline="50" l="20" t="20" r="480" b="55"><formatting lang="EnglishUnitedStates" ff="Arial" fs="10." bold="1"><charParams l="20" t="20" r="40" b="55" wordStart="1" charConfidence="90" wordFromDictionary="1">D</charParams><charParams l="40" t="20" r="60" b="55" charConfidence="-1" suspicious="1">o</charParams><charParams l="60" t="20" r="80" b="55" isTab="1">	</charParams><charParams l="80" t="20" r="100" b="55" wordStart="true"><charRecVariants><charRecVariant charConfidence="33">1</charRecVariant><charRecVariant charConfidence="30">l</charRecVariant></charRecVariants>1</charParams></formatting></line></par><par/></text></block>
<block blockType="Table" l="10" t="300" r="500" b="500"><row><cell width="100" height="50" colSpan="2"><text><par><line baseline="330" l="12" t="302" r="100" b="333"><formatting lang="GermanNewSpelling">Zelle ohne Zeichen</formatting></line></par></text></cell></row><row><cell width="50" height="50"/><cell width="50" height="50" rowSpan="3"/></row></block>
<block blockType="Picture" l="600" t="10" r="900" b="400"/><block blockType="Barcode" l="600" t="500" r="900" b="600"><barcodeInfo type="QRCODE"/><text><par><line l="1" t="2" r="3" b="4"><formatting>4006</formatting></line></par></text></block>
<block blockType="SeparatorsBox" l="5" t="700" r="900" b="710"><separatorsBox><separator thickness="2" type="Black"><start x="5" y="705"/><end x="900" y="705"/></separator></separatorsBox></block>
</page></document>"""
)
FILES["tei-transkribus.xml"] = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title type="main">Letters</title></titleStmt><publicationStmt><publisher>tranScriptorium</publisher></publicationStmt><sourceDesc><bibl/></sourceDesc></fileDesc></teiHeader>
<facsimile xml:id="facs_1"><surface ulx="0" uly="0" lrx="1000" lry="1400" corresp="https://x"><graphic url="0001.jpg" width="1000px" height="1400px"/><graphic url="https://files.transkribus.eu/Get?id=A&amp;fileType=view" width="1000px" height="1400px"/>
 <zone points="10,10 900,10 900,500 10,500" rendition="TextRegion" subtype="paragraph" xml:id="facs_1_r1"><zone points="20,20 880,20 880,60 20,60" rendition="Line" xml:id="facs_1_r1l1"/><zone points="20,70 880,70 880,110 20,110" rendition="Line" xml:id="facs_1_r1l2"/></zone>
 <zone points="10,600 900,600 900,700 10,700" rendition="Table" xml:id="facs_1_t1"/></surface></facsimile>
<facsimile xml:id="facs_2"><surface ulx="0" uly="0" lrx="1000" lry="1400"><graphic url="0002.jpg" width="1000px" height="1400px"/><zone points="10,10 900,10 900,500 10,500" rendition="TextRegion" xml:id="facs_2_r1"><zone points="20,20 880,20 880,60 20,60" rendition="Line" xml:id="facs_2_r1l1"/></zone></surface></facsimile>
<text><body><pb facs="#facs_1" n="1" xml:id="img_0001"/><p facs="#facs_1_r1"><lb facs="#facs_1_r1l1" n="N001"/>Dear <hi rend="bold:true;">Sir</hi>, <abbr expand="etcetera">etc</abbr><lb facs="#facs_1_r1l2" n="N002"/><persName>John <placeName>York</placeName></persName> <unclear>is</unclear> <gap/></p>
<table facs="#facs_1_t1"><row n="1"><cell>a</cell><cell>b</cell></row></table>
<pb facs="#facs_2" n="2" xml:id="img_0002"/><p facs="#facs_2_r1"><lb facs="#facs_2_r1l1" n="N001"/>second page</p></body></text></TEI>"""
FILES[
    "tei-escriptorium.xml"
] = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><sourceDoc xml:id="doc"><surface n="f1" ulx="0" uly="0" lrx="800" lry="600"><graphic url="f1.jpg"/>
<zone xml:id="z1" type="MainZone" subtype="column" n="1" points="10,10 700,10 700,500 10,500" source="https://iiif.example/full.jpg"><zone xml:id="z1l1" type="DefaultLine" n="1" points="20,20 600,20 600,60 20,60"><path n="1" points="20,55 600,55"/><line xml:id="z1l1t" n="1">une <hi>ligne</hi></line></zone><zone xml:id="z1l2" type="DefaultLine" points="20,70 600,70 600,100 20,100"><line/></zone></zone></surface>
<surface n="f2"><graphic url="f2.jpg" width="800px" height="600px"/></surface></sourceDoc></TEI>"""
FILES["page-loose.xml"] = (
    page("""<TextLine id="l0"><Coords points="1,1 90,1 90,20 1,20"/><TextEquiv><Unicode>on the page</Unicode></TextEquiv></TextLine>
<TextRegion id="r1"><Coords points="10 10 400 10 400 400 10 400"/><Word id="w0"><Coords points="20,20,40,20,40,30,20,30"/><TextEquiv><Unicode>loose</Unicode></TextEquiv></Word><TextLine id="l1"><Coords points="20.0,40.0 300.0,40.0 300.0,60.0 20.0,60.0"/><Baseline points="20,55"/><TextEquiv/><TextEquiv><Unicode> blank first</Unicode></TextEquiv></TextLine></TextRegion>
<TableRegion id="t"><Coords points="-1,0 499,0 501,499"/><TextLine id="tl"><Coords points="5,450 90,450 90,470 5,470"/><TextEquiv><Unicode>in a table</Unicode></TextEquiv></TextLine></TableRegion>""")
)
FILES["page-2024.xml"] = page(
    """<ReadingOrder><OrderedGroup id="g"><RegionRefIndexed index="1" regionRef="b"/><RegionRefIndexed index="0" regionRef="a"/></OrderedGroup></ReadingOrder><TextRegion id="b" type="floating"><Coords points="1,1 90,1 90,20 1,20"/></TextRegion><TextRegion id="a"><Coords points="1,1 90,1 90,20 1,20"/><TextEquiv conf="1.2"><Unicode>A</Unicode></TextEquiv></TextRegion>""",
    "2024-07-15",
    'imageFilename="a.tif" imageWidth="500" imageHeight="500" imageXResolution="300" imageResolutionUnit="PPI"',
)
FILES["kraken-alto.xml"] = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://www.loc.gov/standards/alto/ns-v4#" xsi:schemaLocation="http://www.loc.gov/standards/alto/ns-v4# http://www.loc.gov/standards/alto/v4/alto-4-3.xsd"><Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>/x/y/f1.jpg</fileName></sourceImageInformation><Processing ID="OCR_0"><processingCategory>other</processingCategory><processingStepDescription>rec</processingStepDescription><processingStepSettings>a: b</processingStepSettings><processingSoftware><softwareName>kraken</softwareName></processingSoftware></Processing></Description>
<Tags><OtherTag DESCRIPTION="text region" ID="TYPE_1" TYPE="type" LABEL="main"/><OtherTag ID="LANG_2" TYPE="language" LABEL="lat"/><OtherTag DESCRIPTION="line" ID="TYPE_3" TYPE="type" LABEL="default"/><RoleTag ID="ro" LABEL="x"/></Tags>
<ReadingOrder><OrderedGroup ID="o1"><ElementRef ID="e1" REF="line_1"/><ElementRef ID="e2" REF="line_0"/></OrderedGroup></ReadingOrder>
<Layout><Page WIDTH="800" HEIGHT="600" PHYSICAL_IMG_NR="0" ID="page_0"><PrintSpace HPOS="0" VPOS="0" WIDTH="800" HEIGHT="600"><TextBlock ID="region_0" HPOS="0" VPOS="0" WIDTH="700" HEIGHT="500" TAGREFS="TYPE_1"><Shape><Polygon POINTS="0,0 700,0 700,500 0,500"/></Shape>
<TextLine ID="line_0" HPOS="20" VPOS="20" WIDTH="500" HEIGHT="40" TAGREFS="LANG_2 TYPE_3" BASELINE="20,55 520,55" BASEDIRECTION="rtl"><Shape><Ellipse HPOS="100" VPOS="40" HLENGTH="80" VLENGTH="20"/></Shape><String ID="segment_0" CONTENT="&#1505;&#1508;&#1512;" HPOS="20" VPOS="20" WIDTH="100" HEIGHT="40" WC="0.97"><Shape><Polygon POINTS="20,20 120,20 120,60 20,60"/></Shape><Glyph ID="char_0" CONTENT="&#1505;" HPOS="20" VPOS="20" WIDTH="10" HEIGHT="40" GC="0.9"><Variant VC="0.1" CONTENT="x"/></Glyph></String><SP ID="segment_1" HPOS="120" VPOS="20" WIDTH="10" HEIGHT="40"/><String ID="segment_2" CONTENT="x" HPOS="130" VPOS="20" WIDTH="100" HEIGHT="40" WC="0.5"/></TextLine>
<TextLine ID="line_1" HPOS="20.4" VPOS="80.6" WIDTH="500.2" HEIGHT="40"><String CONTENT="second" HPOS="20.4" VPOS="80.6" WIDTH="500.2" HEIGHT="40"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""
FILES[
    "upper.hocr"
] = """<HTML><HEAD><META NAME="ocr-system" CONTENT="x"></HEAD><BODY><DIV CLASS="ocr_page" ID=p TITLE="image 'C:\\scans\\a b.png'; bbox 0 0 900 1200; ppageno 0"><DIV CLASS="ocr_carea"><P CLASS="ocr_par"><SPAN CLASS="ocr_line" TITLE="bbox 10 10 800 60; x_size 30; baseline -0.001 -5; textangle 180"><SPAN CLASS="ocrx_word" TITLE="bbox 10 10 200 60; x_wconf 95; cuts 1 2 3">Hy&shy;phen</SPAN><SPAN CLASS='ocrx_word' TITLE='bbox 220 10 400 60; x_wconf -1'><EM>it</EM>alic</SPAN></SPAN><SPAN CLASS=ocr_line TITLE="bbox 10 70 800 120">unclosed <SPAN CLASS=ocrx_word TITLE="bbox 10 70 90 120">word</P></DIV>
<DIV CLASS="ocr_photo" TITLE="bbox 10 200 500 700"></DIV><TABLE CLASS=ocr_table TITLE="bbox 10 800 500 900"><TR><TD>cell</TD></TR></TABLE></DIV></BODY></HTML>"""
FILES[
    "abbyy6.xml"
] = """<document version="1.0" producer="ABBYY FineReader Engine 9.0" pagesCount="2" xmlns="http://www.abbyy.com/FineReader_xml/FineReader6-schema-v1.xml"><page width="600" height="800" resolution="300"><block blockType="Text" l="0" t="0" r="500" b="100"><region><rect l="0" t="0" r="500" b="100"></rect></region><text><par><line baseline="40" l="10" t="10" r="490" b="50"><formatting lang="OldGerman" ff="x" fs="8">
<charParams l="10" t="10" r="20" b="50" wordStart="true">&#383;</charParams><charParams l="20" t="10" r="30" b="50">o</charParams><charParams l="30" t="10" r="40" b="50"> </charParams><charParams l="40" t="10" r="50" b="50">&#172;</charParams></formatting></line></par></text></block></page><page width="600" height="800" resolution="300"/></document>"""
FILES[
    "tei-verse.xml"
] = """<?xml version="1.0"?><!DOCTYPE TEI SYSTEM "tei_all.dtd"><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><facsimile><surface xml:id="s1" ulx="0" uly="0" lrx="21.0" lry="29.7"><graphic url="../img/p%201.jpg" width="2100px" height="2970px"/><zone xml:id="z1" ulx="1" uly="1" lrx="20" lry="14.5"/></surface></facsimile>
<text><body><pb facs="#s1" n="1r"/><div><head facs="#z1">Title<lb break="no"/>line</head><lg><l>verse <choice><abbr>q<am>̃</am></abbr><expan>q<ex>ue</ex></expan></choice></l><l>two<note place="margin">gloss</note></l></lg></div><pb n="1v"/><p>no picture<lb/>second</p></body></text></TEI>"""
FILES["tess-page.xml"] = (
    page("""<ReadingOrder><OrderedGroup id="ro" caption="Regions reading order"><RegionRefIndexed index="0" regionRef="r_1_1"/></OrderedGroup></ReadingOrder><TextRegion id="r_1_1" custom="readingOrder {index:0;}"><Coords points="10,10 400,10 400,100 10,100"/><TextLine id="r_1_1_l_1" readingDirection="left-to-right" custom="readingOrder {index:0;}"><Coords points="10,10 400,10 400,50 10,50"/><Baseline points="10,45 400,45"/><Word id="r_1_1_l_1_w_1" readingDirection="left-to-right" custom="readingOrder {index:0;}"><Coords points="10,10 100,10 100,50 10,50"/><TextEquiv index="1" conf="0.961"><Unicode>Dear</Unicode></TextEquiv></Word><TextEquiv index="1" conf="0.95"><Unicode>Dear</Unicode></TextEquiv></TextLine><TextEquiv index="1" conf="0.95"><Unicode>Dear
</Unicode></TextEquiv></TextRegion>""")
)
