"""Image-text models of transformers as a reader: TrOCR, and chat models that take pictures.

The engine imports this module, and so does a runtime where only the worker distribution of Armarium is
available; everything heavy is therefore imported inside methods.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from armarium_worker import LineReading, LineShape, ModelFile, Page, Reader, Refused, Runtime
from armarium_worker.instructions import bare_line, read_line
from armarium_worker.torch_builds import define_missing_operators

VISION = Runtime(
    name="vision",
    package="armarium_reader_vision",
    requirements="requirements.txt",
    probe="transformers",
    summary="transformers 5.23 with PyTorch: models that read pictures of lines.",
    size_mb=1900,
)

CONFIG = "config.json"
"""The file by which a model's folder is named."""
MARGIN = 0.15
"""Of a line's height: how much of what is around it the model is shown."""
MAX_NEW_TOKENS = 256


class VisionReader(Reader):
    """Reads given lines with an image-text model on this machine."""

    name = "vision"
    label = "Image-text model"
    can = frozenset({"read_lines"})
    runtime = VISION
    model_kind = "vision"
    model_suffixes = (CONFIG,)
    model_is_folder = True
    reading_needs_model = True

    def load(self) -> None:
        """Import torch and transformers, and load the model of the given `config.json`'s folder."""
        # Read when transformers is imported: files missing from the folder are not looked up elsewhere.
        os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        import torch

        define_missing_operators()
        import transformers

        if self.model is None:
            raise Refused("An image-text model is needed to read with; name one of this machine.")
        torch.set_num_threads(self.threads)
        folder = Path(self.model).parent
        wants_gpu = self.device in ("cuda", "auto") and torch.cuda.is_available()
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            config = transformers.AutoConfig.from_pretrained(folder, **options)
            self.chats = config.model_type != "vision-encoder-decoder"
            kind = (
                transformers.AutoModelForImageTextToText
                if self.chats
                else transformers.VisionEncoderDecoderModel
            )
            self.processor = transformers.AutoProcessor.from_pretrained(folder, **options)
            self.network = kind.from_pretrained(folder, use_safetensors=True, **options)
        except Exception as error:
            raise Refused(
                f"{folder.name} is not an image-text model that this transformers can load ({type(error).__name__}). It takes "
                "the folder of a model with config.json, weights as safetensors and the files of its processor."
            ) from error
        if self.chats and not getattr(self.processor, "chat_template", None):
            raise Refused(f"{folder.name} has no chat template, so it cannot be instructed.")
        self.network = self.network.to("cuda" if wants_gpu else "cpu").eval()

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """Read each line's picture on its own; the confidence is the mean probability of the written tokens."""
        for line in lines:
            picture = page.image.crop(box_of(line, page.width, page.height))
            inputs = self.inputs(picture, read_line(self.language))
            start = 0 if not self.chats else int(inputs["input_ids"].shape[-1])
            text, sure = self.write(inputs, start, MAX_NEW_TOKENS)
            yield LineReading(bare_line(text) if self.chats else text.strip(), sure)

    def inputs(self, picture: Any, instruction: str) -> Any:
        """Return what the model is given: *picture*, and for a chat model the *instruction*."""
        if not self.chats:
            return self.processor(images=picture, return_tensors="pt").to(self.network.device)
        content = [{"type": "image", "image": picture}, {"type": "text", "text": instruction}]
        return self.processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self.network.device)

    def write(self, inputs: Any, start: int, most: int) -> tuple[str, float | None]:
        """Return what the model writes after its first *start* tokens, at most *most*, and its confidence."""
        import torch

        with torch.inference_mode():
            generated = self.network.generate(
                **inputs,
                max_new_tokens=most,
                do_sample=False,
                num_beams=1,
                output_scores=True,
                return_dict_in_generate=True,
            )
        shares = self.network.compute_transition_scores(
            generated.sequences, generated.scores, normalize_logits=True
        ).exp()
        sure = float(shares.mean()) if shares.numel() else None
        text = self.processor.batch_decode(generated.sequences[:, start:], skip_special_tokens=True)[0]
        return str(text), sure

    @classmethod
    def models_here(cls, folder: Path, runtime_folder: Path | None) -> list[ModelFile]:
        """Return the folders of models, each by its own name."""
        return ModelFile.in_folders(folder, CONFIG)


def box_of(line: LineShape, width: int, height: int) -> tuple[int, int, int, int]:
    """Return left, top, right, bottom of the shown part of a line: its box with a margin, inside the page,
    not empty.
    """
    x, y, w, h = line.rect
    margin = h * MARGIN
    left, top = max(0, round(x - margin)), max(0, round(y - margin))
    left, top = min(left, width - 1), min(top, height - 1)
    right, bottom = min(width, round(x + w + margin)), min(height, round(y + h + margin))
    return left, top, max(right, left + 1), max(bottom, top + 1)
