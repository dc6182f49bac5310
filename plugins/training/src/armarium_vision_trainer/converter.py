"""The worker that converts an image-text model to 4 bits per weight, so that it fits where its base would not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarium_vision_trainer.trainer import NOT_TAUGHT
from armarium_worker import Call, Handler, Refused, WorkerContext

ROWS, BLOCK = 32, 64
"""Sizes of a layer's input and output must be multiples of this for processors to multiply with packed weights."""


class FourBit:
    """Answers `convert`; params: model (a config.json), target (a folder). Weights are NF4 of bitsandbytes."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a converter's worker."""
        return {"convert": convert}


def convert(call: Call) -> dict[str, Any]:
    """Write the model of *model*'s folder to *target* with its linear layers in 4 bits; return {model, bits}.

    The vision part is not converted: its weights are few, and rounding them costs the most accuracy. After a
    kill it starts again.
    """
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    import torch
    import transformers

    source, target = Path(str(call.params["model"])).parent, Path(str(call.params["target"]))
    beside = target.with_name(f"{target.name}.part")
    for folder in (beside, target):
        shutil.rmtree(folder, ignore_errors=True)
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        four = transformers.BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=torch.bfloat16 if torch.cuda.is_available() else torch.float32,
            llm_int8_skip_modules=left_as_they_are(source),
        )
        processor = transformers.AutoProcessor.from_pretrained(source, **options)
        network = transformers.AutoModelForImageTextToText.from_pretrained(
            source, use_safetensors=True, quantization_config=four, **options
        )
    except Exception as error:
        raise Refused(f"The model cannot be converted to 4 bits: {type(error).__name__}: {error}") from error
    count = sum(parameter.dtype == torch.uint8 for parameter in network.parameters())
    if not count:
        raise Refused(
            "No layer of the model can be converted to 4 bits; their sizes do not divide into blocks."
        )
    call.check()
    try:
        network.save_pretrained(beside)
        processor.save_pretrained(beside)
        os.replace(beside, target)
    except OSError as error:
        shutil.rmtree(beside, ignore_errors=True)
        raise Refused(
            f"The converted model could not be written ({error.strerror or type(error).__name__}). Make room on the disk and "
            "retry the job; the training is not lost."
        ) from error
    return {"model": str(target / "config.json"), "bits": 4, "layers": count}


def left_as_they_are(source: Path) -> list[str]:
    """Return the linear layers that are not converted: those of vision and vocabulary, and those whose sizes
    do not divide into blocks.
    """
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(source, local_files_only=True, trust_remote_code=False)
    with torch.device("meta"):
        network = transformers.AutoModelForImageTextToText.from_config(config)
    return [
        name
        for name, layer in network.named_modules()
        if isinstance(layer, torch.nn.Linear)
        and (
            any(part in name for part in NOT_TAUGHT) or layer.out_features % ROWS or layer.in_features % BLOCK
        )
    ]
