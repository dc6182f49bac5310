"""Label files, box files and control points: recognised by content, placed by the page's size, refused naming
the line.
"""

from __future__ import annotations

import pytest

from armarium.errors import Invalid
from armarium_formats.api import FormatDriver, PageModel, ReadContext
from armarium_formats.batches.names import is_companion
from armarium_formats.labels import yolo
from armarium_formats.labels.boxes import TesseractBox
from armarium_formats.labels.names import class_names, is_names_file
from armarium_formats.labels.points import QgisPoints
from armarium_formats.labels.yolo import Yolo
from armarium_formats.plain_text import PlainText
from armarium_testing.formats import Sample, exercise_format

CLASSES = {"classes.txt": b"MainZone\nDefaultLine\nword\ndragon\nNumberingZone\n"}
LABELS = b"0 0.5 0.5 0.8 0.9\n1 0.5 0.1 0.6 0.05 0.93\n2 0.2 0.1 0.1 0.05\n3 0.1 0.1 0.2 0.1 0.2 0.2 0.1 0.2\n4 0.9 0.02 0.05 0.02\n"


def labels(text: str | bytes, companions: dict[str, bytes] | None = None) -> PageModel:
    data = text.encode() if isinstance(text, str) else text
    return Yolo().read(data, ReadContext("a.txt", (1000, 2000), companions or {}))[0]


# ------------------------------------------------------------------------------------------------ YOLO


def test_the_yolo_driver_passes_the_suite() -> None:
    exercise_format(Yolo, [Sample("a.txt", LABELS, lines=1, words=1, companions=CLASSES)])


def test_boxes_and_polygons_are_placed_by_the_size_of_the_page() -> None:
    page = labels(LABELS, CLASSES)
    assert (page.width, page.height) == (1000, 2000)
    assert [
        (segment.kind, segment.kind_raw, segment.confidence, segment.is_furniture)
        for segment in page.segments
    ] == [
        ("region", "MainZone", None, False),
        ("line", "DefaultLine", 0.93, False),
        ("word", "word", None, False),
        ("region", "dragon", None, False),
        ("region", "NumberingZone", None, True),
    ]
    assert page.segments[0].points == [(100, 100), (900, 100), (900, 1900), (100, 1900)]
    assert page.segments[3].points == [(100, 200), (200, 200), (200, 400), (100, 400)]
    assert page.unknown_classes == ["dragon"]
    assert page.notes == ["Labels state no reading order; that of the file was kept."]


def test_classes_without_a_name_are_reported() -> None:
    page = labels("9 0.5 0.5 0.1 0.1\n0 0.5 0.5 0.1 0.1\n12 0.5 0.5 0.1 0.1\n", CLASSES)
    assert page.unknown_classes == ["9", "12"]
    assert [segment.kind_raw for segment in page.segments] == ["class 9", "MainZone", "class 12"]
    assert page.notes[1] == "The classes 9, 12 have no name in the file next to the labels."
    nameless = labels("0 0.5 0.5 0.1 0.1")
    assert nameless.unknown_classes == ["0"]
    assert "No file next to the labels" in nameless.notes[1]


@pytest.mark.parametrize("columns", [5, 6, 7, 8, 9, 10, 11, 12, 201])
def test_columns_tell_boxes_polygons_and_confidences_apart(columns: int) -> None:
    values = [f"{0.2 + 0.6 * (number % 7) / 7:.4f}" for number in range(columns - 1)]
    segment = labels(" ".join(["0", *values])).segments[0]
    assert (segment.confidence is not None) == (columns % 2 == 0)
    assert len(segment.points) == (4 if columns < 7 else (columns - 1) // 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0.5 0.5 0.1", "Line 1 of a.txt contains 4 numbers"),
        ("0 0.5 0.5 0.1 0.1\n\n0 0.5", "Line 3 of a.txt contains 2 numbers"),
        ("-1 0.5 0.5 0.1 0.1", "'-1', which is not a class number"),
        ("1.5 0.5 0.5 0.1 0.1", "not a class number"),
        ("9999999 0.5 0.5 0.1 0.1", "not a class number"),
        ("0 nan 0.5 0.1 0.1", "'nan', which is not a number"),
        ("0 0.5 -inf 0.1 0.1", "'-inf', which is not a number"),
        ("0 0.5 0.5 0.1 zero", "'zero', which is not a number"),
        ("0 320 240 64 32.5", "is outside the image"),
        ("0 -0.9 0.5 0.1 0.1", "is outside the image"),
        ("0 0.5 0.5 -0.1 0.1", "width or height below 0"),
        ("0 0.5 0.5 0.1 0.1 7", "ends in 7, a confidence"),
        ("0 1e999 0.5 0.1 0.1", "is outside the image"),
        ("\n \n", "contains no label"),
        ("0" + " 0.5" * 2_000_000, "a shape of more than 100,000 points"),
    ],
)
def test_a_bad_label_is_refused_naming_its_line(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        labels(text)


def test_more_labels_than_a_page_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yolo, "MAX_SHAPES", 2)
    label = "0 0.5 0.5 0.1 0.1\n"
    assert len(labels(label * 2).segments) == 2
    with pytest.raises(Invalid, match="more than 2 shapes; that is not a page") as refused:
        labels(label * 3)
    assert (refused.value.status, refused.value.code) == (422, "too_many_shapes")


def test_key_points_after_a_box_are_no_corners() -> None:
    text = "0 0.5 0.5 0.2 0.1 0.45 0.5 2 0.55 0.5 1\n"
    page = labels(text, {"data.yaml": b"names: [page]\nkpt_shape: [2, 3]\n"})
    assert page.segments[0].points == [(400, 900), (600, 900), (600, 1100), (400, 1100)]
    assert page.segments[0].confidence is None
    assert any("key points" in note for note in page.notes)
    assert (
        len(labels(text.replace(" 2 ", " 1 "), {"data.yaml": b"# kpt_shape: [2, 3]\n"}).segments[0].points)
        == 5
    )


def test_numbers_separated_by_commas_and_decimal_classes_are_read() -> None:
    page = labels("0,0.5,0.5,0.2,0.1\n1, 0.5, 0.5, 0.2, 0.1\n")
    assert [segment.kind_raw for segment in page.segments] == ["class 0", "class 1"]
    assert page.segments[0].points == page.segments[1].points
    assert "The numbers of the labels are separated by commas, not by blanks." in page.notes
    page = labels("0.0 0.5 0.5 0.2 0.1\n12.00 0.5 0.5 0.2 0.1\n")
    assert [segment.kind_raw for segment in page.segments] == ["class 0", "class 12"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10,10,200,10,200,40,10,40,Hello, you\n377,117,463,117,465,130,378,130,###\n", "labels of ICDAR"),
        ('38, 43, 920, 215, "Tiredness"\n275, 264, 665, 450, "kills"\n', "labels of ICDAR"),
        (
            "imagesource:GoogleEarth\ngsd:0.1\n10.0 10.0 20.0 10.0 20.0 20.0 10.0 20.0 line 0\n",
            "labels of DOTA",
        ),
        (
            "textline 0.5 0.5 0.2 0.1\nMainZone:column 0.5 0.5 0.2 0.1 0.93\n",
            "names instead of class numbers",
        ),
    ],
)
def test_labels_in_other_formats_are_refused_by_name_and_not_read_as_text(text: str, words: str) -> None:
    assert Yolo().sniff(text.encode()) == 0.6
    with pytest.raises(Invalid, match=words):
        labels(text)


def test_labels_need_the_size_of_the_page() -> None:
    for driver, data in ((Yolo(), LABELS), (TesseractBox(), b"a 1 2 3 4 0\n")):
        with pytest.raises(Invalid, match="does not declare the size of its page"):
            driver.read(data, ReadContext("a.txt"))


def test_labels_are_recognised_by_content() -> None:
    sniff = Yolo().sniff
    assert sniff(LABELS) == 0.95
    assert sniff(b"0 nan 0.5 0.1 0.1\n") == 0.95  # broken labels are refused, not read as text
    assert sniff(LABELS[:-20]) == 0.95
    assert sniff(LABELS * 2000) == 0.95
    for other in (
        b"0 0,5 0,5 0,1 0,1\n",
        b"1,320,240,64,32.5\n",
        b"1.0 320 240 64 32\n",
        b"anno 1 2 3 4 5\n",
        b"1 2 3 4 5\n",
        b"1 2.5\n",
        b"3.5 1 1 1 1\n",
        b"classes\n",
        b"",
    ):
        assert sniff(other) == 0.0


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("classes.txt", b"\xef\xbb\xbfa\r\nb b\r\n\r\n", {0: "a", 1: "b b"}),
        ("obj.names", b"a\n\nc", {0: "a", 2: "c"}),
        ("data/data.yaml", b"train: x\nnc: 2\nnames: ['a', \"b\"]  # two\n", {0: "a", 1: "b"}),
        ("data.yaml", b"names: [a,\n  b,\n  c]\nx: 1\n", {0: "a", 1: "b", 2: "c"}),
        ("data.yaml", b"names:\n- a\n- 'b'\nnc: 2\n", {0: "a", 1: "b"}),
        ("data.yml", b"names:\n  0: a\n  # none\n  3: b # x\npath: c\n", {0: "a", 3: "b"}),
        ("data.yaml", b"names: {0: a, 7: b}\n", {0: "a", 7: "b"}),
        ("data.yaml", b"nc: 3\n", {}),
        ("data.yaml", b"names: [a", {0: "a"}),
        ("notes.json", b'{"categories": [{"id": 4, "name": "a"}]}', {4: "a"}),
        ("notes.json", b'{"names": {"1": "a", "x": "b"}}', {1: "a"}),
        ("notes.json", b'{"names": ["a"]}', {0: "a"}),
        ("notes.json", b"[" * 100_000, {}),
        ("notes.json", b"[]", {}),
        ("notes.json", b'{"names": 3}', {}),
        ("page.xml", b"a\nb\n", {}),
    ],
)
def test_class_names_are_taken_from_the_file_that_lists_them(
    name: str, data: bytes, found: dict[int, str]
) -> None:
    assert class_names({name: data}) == found


def test_the_nearest_list_of_classes_goes_first() -> None:
    files = {"data.yaml": b"names: [z]", "x/classes.txt": b"a", "b.names": b"q"}
    assert class_names(files) == {0: "a"}
    assert class_names({"of-mine.yaml": b"names: [z]", "page.txt": b"a"}) == {0: "z"}


@pytest.mark.parametrize(
    "name",
    [
        "labels\\classes.txt",
        "Predefined_Classes.txt",
        "_darknet.labels",
        "coco.names",
        "a/data.yml",
        "notes.json",
    ],
)
def test_files_of_class_names_are_recognised_by_file_name_in_any_folder(name: str) -> None:
    assert is_names_file(name)
    assert is_companion(name)


@pytest.mark.parametrize("name", ["page.txt", "settings.yaml", "page.xml", "names"])
def test_other_files_are_not_taken_for_class_names(name: str) -> None:
    assert not is_names_file(name)
    assert not is_companion(name)


# ----------------------------------------------------------------------------------------- box files

WORDS = b"D 10 100 20 130 0\ne 22 100 30 120 0\n  30 100 40 130 0\nS 40 100 50 130 0\n\t 50 100 51 130 0\nx 10 50 20 70 0\n\t 20 50 21 70 0\n"


def boxes(text: bytes) -> list[PageModel]:
    return TesseractBox().read(text, ReadContext("a.box", (1000, 200)))


def test_the_box_file_driver_passes_the_suite() -> None:
    exercise_format(TesseractBox, [Sample("a.box", WORDS, lines=2, words=3, text="De S")])


def test_characters_become_words_and_lines_with_the_axis_turned() -> None:
    page = boxes(WORDS)[0]
    assert [line.text for line in page.lines()] == ["De S", "x"]
    assert page.lines()[0].points == [(10, 70), (50, 70), (50, 100), (10, 100)]
    word = page.of_kind("word")[0]
    assert (word.text, word.points) == ("De", [(10, 70), (30, 70), (30, 100), (10, 100)])
    assert word.extras == {"tesseract-box": {"characters": ["D 10 70 20 100", "e 22 80 30 100"]}}
    assert page.kept == {"boxes of characters": 4}
    assert page.notes == []


def test_whole_lines_carry_their_text() -> None:
    page = boxes(b"WordStr 10 100 500 130 0 #Dear Sir # 5\n\t 501 100 505 130 0\nWordStr 10 50 500 80 0 #\n")[
        0
    ]
    assert [(line.text, line.kind_raw) for line in page.lines()] == [
        ("Dear Sir # 5", "WordStr"),
        ("", "WordStr"),
    ]


def test_without_marks_words_and_lines_are_found_by_gaps() -> None:
    rows = b"a 10 100 20 130 0\nb 22 100 30 130 0\nc 60 100 70 130 0\nd 10 40 20 70 0\n1 22 40 30 70 0\n"
    page = boxes(rows)[0]
    assert [line.text for line in page.lines()] == ["ab c", "d1"]
    assert "found by the gaps" in page.notes[0]
    assert [line.text for line in boxes(b"a 1 2 3 4\n2 3 2 7 4\n")[0].lines()] == ["a2"]


def test_each_page_of_a_box_file_is_a_page() -> None:
    one, two = boxes(b"a 1 2 3 4 0\nb 1 2 3 4 3\n")
    assert (one.lines()[0].text, two.lines()[0].text) == ("a", "b")
    assert "200 pixels high" in two.notes[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a 1 2 3 4 0\nb 1 2 3\n", "Line 2 of a.box is 'b 1 2 3'"),
        (b"a 1 2 nan 4 0\n", "Line 1 of a.box"),
        (b"a 1.5 2 3 4 0\n", "Line 1 of a.box"),
        (b"a 1 2 3 99999999999 0\n", "Line 1 of a.box"),
        (b"\n\n", "contains no box"),
        (b"a 1 2 3 4 0\n" * 300_001, "more than 300,000 boxes"),
    ],
)
def test_a_bad_box_file_is_refused(text: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        boxes(text)


def test_box_files_are_recognised_by_content() -> None:
    sniff = TesseractBox().sniff
    assert sniff(WORDS) == 0.9
    assert sniff("ﬁ 1 2 3 4 0\r\n".encode()) == 0.9
    assert sniff(b"Hello 1 2 30 40 0\n") == 0.9
    assert sniff(b"Total 12 13 14 15\n") == 0.0
    assert sniff(b"a 9 2 3 4 0\n") == 0.0
    assert sniff(WORDS * 2000) == 0.9


# ------------------------------------------------------------------------------------ control points

POINTS = (
    b'#CRS: GEOGCRS["WGS 84",DATUM["x",ELLIPSOID["y",1,2]],ID["EPSG",4326]]\n'
    b"mapX,mapY,sourceX,sourceY,enable,dX,dY,residual\n"
    b"10.5,52.25,100.5,-200.25,1,0.1,-0.2,0.22\n11,53,900,-1300,0,0,0,0\n"
)


def points(text: bytes, size: tuple[int, int] | None = (1000, 1400)) -> PageModel:
    return QgisPoints().read(text, ReadContext("map.points", size))[0]


def test_the_control_point_driver_passes_the_suite() -> None:
    exercise_format(QgisPoints, [Sample("map.points", POINTS, lines=0, words=0)])


def test_control_points_are_preserved_for_georeferencing() -> None:
    page = points(POINTS)
    assert page.segments == []
    qgis_points = page.extras["qgis-points"]
    assert qgis_points["epsg"] == 4326
    assert qgis_points["crs"].startswith("GEOGCRS")
    assert qgis_points["points"] == [
        {"map_x": 10.5, "map_y": 52.25, "x": 100.5, "y": 200.25, "enabled": True},
        {"map_x": 11, "map_y": 53, "x": 900, "y": 1300, "enabled": False},
    ]  # fmt: skip
    assert page.kept == {"control points": 2}
    assert page.notes == []


@pytest.mark.parametrize(
    ("stated", "number"),
    [
        ("EPSG:25830", 25830), ("urn:ogc:def:crs:EPSG::4326", 4326), ("urn:ogc:def:crs:EPSG:9.8.5:3857", 3857),
        ("OGC:CRS84", 4326), ("urn:ogc:def:crs:OGC:1.3:CRS84", 4326), ("ESRI:102003", None),
    ],
)  # fmt: skip
def test_a_reference_system_is_known_however_it_is_named(stated: str, number: int | None) -> None:
    text = f"#CRS: {stated}\nmapX,mapY,sourceX,sourceY\n-77,-12,100,-100\n"
    assert points(text.encode()).extras["qgis-points"]["epsg"] == number


def test_control_points_of_older_programs_are_read() -> None:
    page = points(b"mapX,mapY,pixelX,pixelY,enable\n1,2,3,4,1\n1,2,2000,5,1\n")
    assert [(point["x"], point["y"]) for point in page.extras["qgis-points"]["points"]] == [(3, 4), (2000, 5)]
    assert page.extras["qgis-points"]["crs"] is None
    assert page.notes == [
        "The points count rows downwards from 0, not upwards as QGIS does.",
        "1 of 2 control points are outside the page's image.",
        "The file names no coordinate reference system for its map coordinates.",
    ]
    assert points(b"mapX,mapY,sourceX,sourceY\n", None).extras["qgis-points"]["points"] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a,b\n1,2\n", "should name mapX"),
        (b"", "should name mapX"),
        (POINTS[:-18], "Line 4 of map.points"),
        (b"mapX,mapY,sourceX,sourceY\n1,2,nan,4\n", "'nan' for sourcex"),
        (b"mapX,mapY,sourceX,sourceY\n1,inf,3,4\n", "'inf' for mapy"),
        (b"mapX,mapY,sourceX,sourceY\n" + b"1,2,3,4\n" * 100_001, "more than 100,000"),
        # Found by fuzzing.
        (b'mapX,mapY,sourceX,sourceY\n1,2,3,4,"' + b"9" * 140_000 + b"\n", "a quotation mark may be missing"),
    ],
)
def test_bad_control_points_are_refused(text: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        points(text)


@pytest.mark.parametrize("driver", [Yolo(), TesseractBox(), QgisPoints()], ids=lambda driver: driver.name)
def test_a_file_of_only_line_breaks_is_refused_before_it_is_split(driver: FormatDriver) -> None:
    with pytest.raises(Invalid, match="more than any page"):
        driver.read(b"\n" * (33 * 1024 * 1024), ReadContext("a.txt", (10, 10)))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_labels_and_boxes_are_read_in_any_encoding_of_unicode(encoding: str) -> None:
    for driver, data in ((Yolo(), LABELS), (TesseractBox(), WORDS), (QgisPoints(), POINTS)):
        other_data = data.decode().encode(encoding)
        assert driver.sniff(other_data) >= 0.9
        assert driver.read(other_data, ReadContext("a", (1000, 2000), CLASSES))[0].kept == (
            driver.read(data, ReadContext("a", (1000, 2000), CLASSES))[0].kept
        )


def test_each_small_text_file_belongs_to_one_format() -> None:
    drivers = (Yolo(), TesseractBox(), QgisPoints(), PlainText())
    for data, name in (
        (LABELS, "yolo"),
        (WORDS, "tesseract-box"),
        (POINTS, "qgis-points"),
        (b"Dear Sir", "plain-text"),
    ):
        assert max(drivers, key=lambda driver: driver.sniff(data)).name == name
