"""The detectors that are trained: RT-DETR and D-FINE, with or without a base, and what they find on pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from armarium_region_trainer.scoring import FoundRegion
from armarium_worker import Refused

FAMILY = ("rt_detr", "rt_detr_v2", "d_fine")
"""Types of models that are trained and run in the same way: queries with a sigmoid for each class."""


def load_detector(config: Path, classes: Sequence[str] | None = None) -> Any:
    """Load the detector of that config.json; with *classes*, one to be trained on these. Refused for another
    kind of model.
    """
    from transformers import AutoConfig, AutoModelForObjectDetection

    folder = str(config.parent)
    try:
        settings = AutoConfig.from_pretrained(folder, local_files_only=True)
        if settings.model_type not in FAMILY:
            raise Refused(
                f"{config.parent.name} is not a detector that can be used: choose an RT-DETR or a D-FINE."
            )
        more: dict[str, Any] = {}
        if classes is not None:
            names = dict(enumerate(classes))
            more = {"id2label": names, "label2id": {name: number for number, name in names.items()}}
        return AutoModelForObjectDetection.from_pretrained(
            folder, local_files_only=True, ignore_mismatched_sizes=True, **more
        )
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"{config.parent.name} is not a detector that transformers can load.") from error


def new_detector(classes: Sequence[str]) -> Any:
    """Create a small RT-DETR with about nine million random weights."""
    from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig

    names = dict(enumerate(classes))
    # The first stage takes the embedding unchanged, so both have the same width.
    backbone = RTDetrResNetConfig(
        embedding_size=48,
        hidden_sizes=[48, 96, 128, 192],
        depths=[2, 2, 2, 2],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = RTDetrConfig(
        backbone_config=backbone,
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        freeze_backbone_batch_norms=False,
        encoder_in_channels=[96, 128, 192],
        encoder_hidden_dim=128,
        encoder_ffn_dim=512,
        decoder_in_channels=[128, 128, 128],
        d_model=128,
        decoder_ffn_dim=512,
        decoder_layers=3,
        num_queries=100,
        num_denoising=50,
        id2label=names,
        label2id={name: number for number, name in names.items()},
    )
    return RTDetrForObjectDetection(config)


def found_on(network: Any, pictures: Any, at_least: float = 0.0) -> list[list[FoundRegion]]:
    """Return what *network* finds on *pictures* (pages, 3, side, side): boxes in fractions of the page,
    highest score first.
    """
    import torch

    network.eval()
    with torch.no_grad():
        output = network(pixel_values=pictures)
    answers = []
    for logits, boxes in zip(output.logits, output.pred_boxes, strict=True):
        shares = logits.float().sigmoid()
        kinds = shares.shape[-1]
        scores, at = shares.flatten().topk(min(300, shares.numel()))
        page = []
        for score, place in zip(scores.tolist(), at.tolist(), strict=True):
            if score < at_least:
                break
            x, y, w, h = boxes[place // kinds].tolist()
            page.append(FoundRegion(place % kinds, (x - w / 2, y - h / 2, w, h), score))
        answers.append(page)
    return answers
