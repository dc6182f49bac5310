"""kraken as a reader: finds lines of written and printed pages, and reads them with any given model file.

The engine imports this module, and so does kraken's own runtime, where only the worker distribution of
Armarium is available; everything heavy is therefore imported inside methods.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from armarium_worker import (
    FoundLine,
    Handler,
    LinePlaces,
    LineReading,
    LineShape,
    ModelFile,
    OfferedModel,
    Page,
    Reader,
    Refused,
    RemoteFile,
    Runtime,
    Sign,
    WorkerContext,
    places_of_signs,
)
from armarium_worker.torch_builds import define_missing_operators

KRAKEN = Runtime(
    name="kraken",
    package="armarium_reader_kraken",
    requirements="requirements.txt",
    probe="kraken",
    summary="kraken 7.1 with PyTorch: finds the lines of handwritten and printed pages, reads them with a trained model.",
    size_mb=1600,
)
"""The runtime of everything that uses kraken; a trainer of kraken models asks for the same."""

ZENODO = "https://zenodo.org"
"""Where kraken's users publish models."""

PUBLISHED = (
    ("tiny", "21788403", 3, 0.087),
    ("small", "21788405", 14, 0.054),
    ("medium", "21788410", 64, 0.039),
)
"""kraken's open PP-OCRv6 models: size, number of the record, megabytes, and the CER that their authors state."""
LANGUAGES = (
    "ar ca cs cu co da de dum en fa fi fr frm gez ga grc he hu it ka la lv lt ml nl no oc ota pcd pl pt ro ru sk sl es sr sv syr uk "
    "ur xcl yi"
)

SHIPPED = "blla"
"""The line finder inside the kraken package."""


class KrakenReader(Reader):
    """Line finding with kraken's shipped model or another, reading with a given recognition model."""

    name = "kraken"
    label = "kraken"
    can = frozenset({"find_lines", "read_lines", "read_page"})
    runtime = KRAKEN
    model_kind = "linereader"
    model_suffixes = (".mlmodel", ".safetensors")
    reading_needs_model = True

    def load(self) -> None:
        """Import torch and kraken and load the models of the given file; the shipped line finder is loaded on
        demand.
        """
        import torch

        define_missing_operators()
        torch.set_num_threads(self.threads)
        wants_gpu = self.device in ("cuda", "auto")
        self.accelerator = "cuda" if wants_gpu and torch.cuda.is_available() else "cpu"
        self.finder: Any = None
        self.recogniser: Any = None
        if self.model is not None:
            self._take_models(Path(self.model))

    def _take_models(self, path: Path) -> None:
        from kraken.models import load_models
        from kraken.tasks import RecognitionTaskModel, SegmentationTaskModel

        try:
            models = load_models(path)
        except Exception as error:
            raise Refused(
                f"{path.name} is not a kraken model that this kraken can load ({_first_line(error)}). "
                "It takes .safetensors and .mlmodel files made with kraken 4 or later."
            ) from error
        if any("recognition" in model.model_type for model in models):
            self.recogniser = RecognitionTaskModel(models)
        if any("segmentation" in model.model_type for model in models):
            self.finder = SegmentationTaskModel(models)

    def find_lines(self, page: Page) -> Iterator[FoundLine]:
        """Return baselines with polygons, in kraken's reading order, and the regions that contain any of them."""
        from kraken.configs import SegmentationInferenceConfig
        from kraken.tasks import SegmentationTaskModel

        if self.finder is None:
            self.finder = SegmentationTaskModel.load_model()
        config = SegmentationInferenceConfig(
            accelerator=self.accelerator,
            device="auto",
            num_threads=self.threads,
        )
        if not _has_ink(page.image):
            return
        segmentation = self.finder.predict(page.image, config)
        region_keys = {key for line in segmentation.lines for key in line.regions or ()}
        for kind, regions in segmentation.regions.items():
            for region in regions:
                if region.id in region_keys:
                    yield FoundLine(
                        polygon=_points(region.boundary), kind="region", kind_raw=str(kind), key=region.id
                    )
        for line in segmentation.lines:
            yield FoundLine(
                polygon=_points(line.boundary),
                baseline=_points(line.baseline),
                key=line.id,
                parent=line.regions[0] if line.regions else None,
                kind_raw=_tag(line),
            )

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read lines one after another; text in logical order, also for right-to-left writing."""
        from kraken.configs import RecognitionInferenceConfig
        from kraken.containers import Segmentation

        if self.recogniser is None:
            raise Refused(
                "kraken comes without a recognition model. Give a recognition model: train one, or put a .safetensors or "
                ".mlmodel file among the engine's models."
            )
        boxes = self.recogniser.seg_type == "bbox"
        records = [
            (_box if boxes else _baseline)(str(number), line, page) for number, line in enumerate(lines)
        ]
        segmentation = Segmentation(
            type="bbox" if boxes else "baselines",
            imagename=str(page.path),
            text_direction="horizontal-lr",
            script_detection=False,
            lines=records,
            regions={},
            line_orders=[],
        )
        config = RecognitionInferenceConfig(
            accelerator=self.accelerator,
            device="auto",
            num_threads=self.threads,
            # In this process: kraken's own pool would send the whole page to another process for each line.
            num_line_workers=0,
        )
        for record in self.recogniser.predict(page.image, segmentation, config):
            shares = [float(share) for share in record.confidences]
            yield LineReading(
                record.prediction, sum(shares) / len(shares) if shares else None, places=letter_places(record)
            )

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of every reader, and those that a trainer of its models needs."""
        from armarium_reader_kraken.teaching import base, line_pictures

        return {**super().handlers(context), "line_pictures": line_pictures, "base": base}

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return model files in the engine's folder, and the line finder in the runtime if installed."""
        shipped = []
        if runtime_folder is not None:
            for path in runtime_folder.glob("lib/python*/site-packages/kraken/blla.mlmodel"):
                shipped.append(
                    ModelFile(
                        SHIPPED, "kraken's line finder", None, path.stat().st_size, True, {"finds": "lines"}
                    )
                )
        return [*shipped, *super().models_here(folder, runtime_folder)]

    @classmethod
    def offers(cls) -> tuple[OfferedModel, ...]:
        """Return kraken's open PP-OCRv6 models as kraken itself reads and trains them."""
        return tuple(
            OfferedModel(
                model=f"kraken-ppocrv6-{size}-safetensors",
                title=f"kraken PP-OCRv6 {size}, for kraken itself",
                licence="Apache-2.0",
                authors="Benjamin Kiessling (ALMAnaCH, Inria Paris)",
                page=f"{ZENODO}/records/{number}",
                reads="hand and print, historical and modern, in 44 languages and 10 scripts, written as it stands; in kraken's runtime "
                "(armarium runtime install kraken), which can train it further",
                size_bytes=megabytes * 1_000_000,
                doi=f"10.5281/zenodo.{number}",
                languages=tuple(LANGUAGES.split()),
                scripts=("Arab", "Armn", "Cyrl", "Ethi", "Geor", "Grek", "Hebr", "Latn", "Mlym", "Syrc"),
                cer=cer,
            )
            for size, number, megabytes, cer in PUBLISHED
        )

    @classmethod
    def remote(cls, model: str, fetch: Callable[[str], bytes]) -> RemoteFile:
        """Return the file of a model on Zenodo, given its offered name, its DOI (`10.5281/zenodo.…`) or record number."""
        doi = model.removeprefix("https://doi.org/")
        offer = next((offer for offer in cls.offers() if doi in (offer.model, offer.doi)), None)
        number = (offer.doi if offer else doi).removeprefix("10.5281/zenodo.")
        if not number.isdigit():
            raise Refused(
                f"{model!r} is not a DOI of Zenodo (10.5281/zenodo.…), where kraken's models are published."
            )
        try:
            record = json.loads(fetch(f"{ZENODO}/api/records/{number}"))
            files = [
                file
                for suffix in cls.model_suffixes
                for file in record["files"]
                if file["key"].endswith(suffix)
            ]
            about = record.get("metadata", {})
            algorithm, _, checksum = files[0].get("checksum", "").rpartition(":") if files else ("", "", "")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Refused(f"Zenodo's record {number} is not as expected; is it a public record?") from None
        if not files:
            raise Refused(
                f"Zenodo's record {number} contains no kraken model ({', '.join(cls.model_suffixes)})."
            )
        name = str(files[0]["key"])
        return RemoteFile(
            url=f"{ZENODO}/records/{number}/files/{quote(name)}?download=1",
            name=f"{offer.model if offer else f'zenodo-{number}'}{Path(name).suffix}",
            checksum=checksum if algorithm in ("md5", "sha256") else None,
            algorithm="sha256" if algorithm == "sha256" else "md5",
            title=str(about.get("title", name)),
            licence=str((about.get("license") or {}).get("id", "")),
            page=f"{ZENODO}/records/{number}",
        )


def _has_ink(image: Any) -> bool:
    """Return whether the picture has any contrast; kraken's finder fails on a single colour."""
    low, high = image.convert("L").getextrema()
    return bool(high > low)


def _points(points: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in points or ()]


def letter_places(record: Any) -> LinePlaces | None:
    """Return where kraken cut the letters of a line; None where its shape has no sections that could be cut."""
    try:
        cuts = record.cuts
    except (ValueError, IndexError):
        return None
    signs = [
        Sign(sign, _points(cut), float(share))
        for sign, cut, share in zip(record.prediction, cuts, record.confidences, strict=True)
        if not sign.isspace()
    ]
    first, *_, last = getattr(record, "baseline", None) or ((0, 0), (1, 0))
    slope = (float(last[0] - first[0]), float(last[1] - first[1]))
    return places_of_signs(record.prediction, signs, slope if slope[0] >= 0 else (-slope[0], -slope[1]))


def _tag(line: Any) -> str | None:
    """Return the line's type as the model names it; None for `default`."""
    tags = (line.tags or {}).get("type") or []
    kind = tags[0].get("type") if tags else None
    return None if kind in (None, "default") else str(kind)


def _baseline(key: str, line: LineShape, page: Page) -> Any:
    """Return a line as kraken's baseline record; without a baseline, one along the lower quarter of its box."""
    from kraken.containers import BaselineLine

    x, y, w, h = line.rect
    baseline = [(x, y + h * 0.75), (x + w, y + h * 0.75)] if len(line.baseline) < 2 else line.baseline
    return BaselineLine(
        id=key,
        baseline=_pixels(baseline, page),
        boundary=_pixels([*line.outline, line.outline[0]], page),
        base_dir={"rtl": "R", "ltr": "L"}.get(line.direction or ""),
    )


def _box(key: str, line: LineShape, page: Page) -> Any:
    from kraken.containers import BBoxLine

    x, y, w, h = line.rect
    (left, top), (right, bottom) = _pixels([(x, y), (x + w, y + h)], page)
    return BBoxLine(id=key, bbox=(left, top, max(right, left + 1), max(bottom, top + 1)))


def _pixels(points: Sequence[tuple[float, float]], page: Page) -> list[tuple[int, int]]:
    """Return whole pixels inside the picture; kraken refuses a line that touches its edge."""
    return [
        (min(max(round(x), 0), page.width - 1), min(max(round(y), 0), page.height - 1)) for x, y in points
    ]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
