"""RapidOCR as a reader: finds and reads lines of printed and typed pages with the weights in its wheel.

Runs in a worker process of the engine's own interpreter. It never downloads: each model is given by its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium_worker import (
    FoundLine,
    LineReading,
    LineShape,
    ModelFile,
    Page,
    Point,
    Reader,
    ReadLine,
    Refused,
)

if TYPE_CHECKING:
    import numpy

WEIGHTS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
}
MAX_LINES = 1000
"""RapidOCR keeps at most this many candidates of a page."""
BASELINE_HEIGHT = 0.22
"""How far above the lower edge of a line's box its baseline is taken to run, as a share of the box's height."""


class RapidOcrReader(Reader):
    """The default reader: print and typescript in Latin script, Chinese and Japanese."""

    name = "rapidocr"
    label = "RapidOCR"
    can = frozenset({"find_lines", "read_lines", "read_page"})
    writing = frozenset({"print"})
    languages = (
        "zh", "en", "ja", "af", "az", "bs", "ca", "cs", "cy", "da", "de", "es", "et", "eu", "fi", "fr", "ga", "gl",
        "hr", "hu", "id", "is", "it", "ku", "la", "lb", "lt", "lv", "mi", "ms", "mt", "nl", "no", "oc", "pi", "pl",
        "pt", "qu", "rm", "ro", "rs", "sk", "sl", "sq", "sv", "sw", "tl", "tr", "uz", "vi",
    )  # fmt: skip
    scripts = ("Latn", "Hans", "Hant", "Jpan")
    # Measured on 400 handwritten and 400 printed lines by `training/calibrate_rapidocr.py` of reader_hand.
    calibration = (
        (0.0, 0.0675), (0.307, 0.1351), (0.5181, 0.2286), (0.5599, 0.272), (0.5897, 0.3521), (0.6163, 0.3737),
        (0.6457, 0.4187), (0.6735, 0.4346), (0.6966, 0.4987), (0.7289, 0.5569), (0.7629, 0.6043), (0.8011, 0.7199),
        (0.8421, 0.7504), (0.8893, 0.8124), (0.9454, 0.9113), (0.9683, 0.964), (0.9776, 0.9735), (0.9852, 0.9783),
        (0.9942, 0.989), (0.9995, 0.9957), (1.0, 0.9957),
    )  # fmt: skip

    def load(self) -> None:
        """Start RapidOCR with the weights of its wheel, and as many threads as the engine allows."""
        from rapidocr import RapidOCR

        folder = weights_folder()
        missing = [name for name in WEIGHTS.values() if not (folder / name).is_file()]
        if missing:
            raise Refused(
                f"The rapidocr package does not contain {missing[0]}. Install rapidocr 3.10 or a later 3."
            )
        self.ocr: Any = RapidOCR(
            params={
                "Global.log_level": "critical",
                # Which letter stands where; the boxes that RapidOCR makes of it forget lines that it turned.
                "Global.return_word_box": True,
                "EngineConfig.onnxruntime.intra_op_num_threads": self.threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                **{f"{part}.model_path": str(folder / name) for part, name in WEIGHTS.items()},
            }
        )
        self._keep_what_it_saw()

    def _keep_what_it_saw(self) -> None:
        """Have RapidOCR answer at which columns it saw each letter, in place of boxes."""
        self.turned: list[Any] = []
        self._turn, self.ocr.cls_and_rotate = self.ocr.cls_and_rotate, self._turn_lines
        self.ocr.calc_word_boxes = self._keep_columns

    def _turn_lines(self, pictures: Any) -> Any:
        """Turn pictures of lines that are upside down, and keep which these are."""
        turned, classes = self._turn(pictures)
        least = self.ocr.text_cls.cls_thresh
        self.turned = [
            picture
            for picture, (label, score) in zip(turned, classes.cls_res, strict=True)
            if "180" in label and score > least
        ]
        return turned, classes

    def _is_turned(self, picture: Any) -> bool:
        return any(turned_picture is picture for turned_picture in self.turned)

    def _keep_columns(self, pictures: Any, boxes: Any, read: Any) -> Any:
        """Stand in for RapidOCR's own boxes of words: the columns of each line's letters, and whether it was turned."""
        return tuple(
            (word_result, self._is_turned(picture))
            for word_result, picture in zip(read.word_results, read.imgs, strict=True)
        )

    def open_page(self, path: Path, max_pixels: int) -> Page:
        """Decode the page in the colour order RapidOCR's models were trained with."""
        page = super().open_page(path, max_pixels)
        page.image = self.ocr.load_img(page.image)
        return page

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Return boxes of text, each a line or a part of one."""
        boxes = self.ocr(page.image, use_det=True, use_cls=False, use_rec=False)
        for box, score in zip(_list(boxes.boxes), _list(boxes.scores), strict=True):
            yield _line(box, score)

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read given lines in one call, rotating those that are upside down."""
        if not lines:
            return
        from armarium_reader_rapidocr.crops import cut_line, line_box
        from armarium_reader_rapidocr.letters import letter_places

        pictures = [cut_line(page.image, line) for line in lines]
        turned, _ = self.ocr.cls_and_rotate(pictures)
        read = self.ocr.recognize_txt(turned)
        results = zip(lines, turned, read.txts, read.scores, read.word_results, strict=True)
        for line, picture, text, score, word_result in results:
            places = letter_places(text, word_result, line_box(line), is_turned=self._is_turned(picture))
            yield LineReading(str(text), float(score), places=places)

    def read_page(self, page: Page) -> Iterator[ReadLine]:
        """Find and read as RapidOCR itself does, which decodes and scales the page once."""
        from armarium_reader_rapidocr.letters import letter_places

        read = self.ocr(page.image, use_det=True, use_cls=True, use_rec=True)
        results = zip(*map(_list, (read.boxes, read.txts, read.scores, read.word_results)), strict=True)
        for box, text, score, (word_result, is_turned) in results:
            places = letter_places(text, word_result, box, is_turned=is_turned)
            yield ReadLine(_line(box, score), LineReading(str(text), float(score), places=places))

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return the weights in the wheel, presented as one model."""
        files = [weights_folder() / name for name in WEIGHTS.values()]
        size = sum(file.stat().st_size for file in files if file.is_file())
        return [ModelFile("PP-OCRv6-small", "PP-OCRv6 small", None, size, shipped=True)]


def weights_folder() -> Path:
    """Return where the rapidocr package keeps its weights, without importing it."""
    from importlib.util import find_spec

    spec = find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise Refused("The package rapidocr is not installed. Reinstall armarium-reader-rapidocr.")
    return Path(spec.origin).parent / "models"


def _list(values: Any) -> list[Any]:
    return [] if values is None else list(values)


def _line(box: numpy.ndarray[Any, Any], score: Any) -> FoundLine:
    """Convert a box of four corners, clockwise from the upper left, to a line with a baseline near its lower edge."""
    corners: list[Point] = [(float(x), float(y)) for x, y in box]
    upper_left, upper_right, lower_right, lower_left = corners
    baseline = (_middle_of(lower_left, upper_left), _middle_of(lower_right, upper_right))
    return FoundLine(polygon=corners, baseline=baseline, confidence=float(score))


def _middle_of(lower: Point, upper: Point) -> Point:
    share = BASELINE_HEIGHT
    return (lower[0] + (upper[0] - lower[0]) * share, lower[1] + (upper[1] - lower[1]) * share)
