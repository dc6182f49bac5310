"""The worker that trains a low-rank adapter of an image-text model: one epoch per call, with its state in a
checkpoint.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armarium_vision_trainer.lines import Line, read_lines, transcription_in
from armarium_worker import Call, EpochTrainer, Refused, TrainingState, distance, no_room

MERGED, ADAPTER = "merged", "adapter"
"""Folders of the base with the adapter merged into its weights, and of the adapter alone."""
RATE = 1e-4
WARM_UP = 10
"""Steps of the warm-up."""
CLIP = 1.0
MOST_VALIDATED = 64
"""How many validation lines are read after each epoch; reading takes longer than training."""
MAX_NEW_TOKENS = 256
MOST_TOKENS = 4_096
"""Tokens of a line's instruction, picture and answer together; a longer line is not used."""
SHARD = "4GB"
"""The largest file of merged weights."""
SEED = 16
NOT_TAUGHT = ("vision", "visual", "image", "projector", "lm_head", "embed")
"""Parts whose weights do not change: vision, the projection to the language model, and the vocabulary."""


@dataclass(kw_only=True)
class Ready(TrainingState):
    """A training in progress."""

    network: Any
    processor: Any
    taught: list[Line]
    validation: list[Line]
    device: str


class VisionTrainer(EpochTrainer[Ready]):
    """Answers `epoch` and `finish`; params: folder, base {path or repo}, rank, batch_size.

    The result of an epoch: epoch, loss (per token), cer (on the validation lines), lines, unusable,
    validation_lines, best.
    """

    def finish(self, call: Call) -> dict[str, Any]:
        """Write the adapter of the best epoch, and the base with it merged in; return {model, adapter}, two paths."""
        from peft import get_peft_model_state_dict, set_peft_model_state_dict

        ready = self.load_finished(call)
        merged, adapter = ready.folder / MERGED, ready.folder / ADAPTER
        for folder in (merged, adapter):
            # An earlier attempt may have left part of it.
            shutil.rmtree(folder, ignore_errors=True)
        try:
            set_peft_model_state_dict(ready.network, ready.best_state)
            assert get_peft_model_state_dict(ready.network)
            ready.network.save_pretrained(adapter)
            whole = ready.network.merge_and_unload()
            whole.save_pretrained(merged, max_shard_size=SHARD)
            ready.processor.save_pretrained(merged)
        except OSError as error:
            raise no_room("the model", error) from error
        finally:
            # A merged network can no longer be trained.
            self.ready = None
        return {"model": str(merged / "config.json"), "adapter": str(adapter / "adapter_config.json")}

    def begin(self, folder: Path, params: Mapping[str, Any]) -> Ready:
        """Return the base with an adapter, or as saved in the checkpoint."""
        import torch
        from peft import LoraConfig, get_peft_model, set_peft_model_state_dict

        torch.set_num_threads(self.context.threads)
        torch.manual_seed(SEED)
        device = "cuda" if self.context.device in ("cuda", "auto") and torch.cuda.is_available() else "cpu"
        network, processor = load_base(params["base"], device)
        names = taught_layers(network)
        if not names:
            raise Refused("The base has no layers that an adapter can be added to; choose another model.")
        rank = int(params.get("rank", 16))
        config = LoraConfig(
            r=rank, lora_alpha=2 * rank, lora_dropout=0.05, target_modules=names, task_type="CAUSAL_LM"
        )
        network = get_peft_model(network, config)
        if device == "cuda":
            # Activations are computed twice (gradient checkpointing), so that they fit beside a large base.
            network.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            network.enable_input_require_grads()
        change = torch.optim.AdamW(
            [parameter for parameter in network.parameters() if parameter.requires_grad], RATE
        )
        lines = read_lines(folder)
        taught = [line for line in lines if not line.for_validation]
        validation = [line for line in lines if line.for_validation] or taught
        ready = Ready(
            folder=folder,
            change=change,
            network=network,
            processor=processor,
            taught=taught,
            validation=validation[:MOST_VALIDATED],
            device=device,
        )
        if (weights := ready.resume(device)) is not None:
            set_peft_model_state_dict(network, weights["adapter"])
        return ready

    def one_epoch(self, call: Call, ready: Ready) -> None:
        """Train on all lines once, then read those for validation."""
        import torch
        from peft import get_peft_model_state_dict

        number = len(ready.epochs) + 1
        torch.manual_seed(SEED + number)
        order = list(range(len(ready.taught)))
        random.Random(SEED + number).shuffle(order)
        size = max(1, int(call.params.get("batch_size", 4)))
        started, losses, tokens, unusable = time.monotonic(), 0.0, 0, 0
        ready.network.train()
        with self.whole_epoch():
            for start in range(0, len(order), size):
                call.check()
                batch = [ready.taught[at] for at in order[start : start + size]]
                loss, letters, left_out = _teach(ready, batch)
                losses, tokens, unusable = losses + loss, tokens + letters, unusable + left_out
                call.progress(min(start + size, len(order)), len(order), epoch=number)
            if not tokens:
                raise Refused(
                    "None of the lines can be used for training: with their pictures they are longer than "
                    "the model accepts."
                )
            rate_now = self._error_rate(call, ready)
        is_best = rate_now < ready.best or not ready.best_state
        if is_best:
            ready.best = rate_now
            state = get_peft_model_state_dict(ready.network)
            ready.best_state = {name: value.detach().cpu().clone() for name, value in state.items()}
        ready.epochs.append(
            self.outcome(
                started,
                device=ready.device,
                epoch=number,
                loss=round(losses / tokens, 4),
                cer=round(rate_now, 5),
                lines=len(ready.taught) - unusable,
                unusable=unusable,
                validation_lines=len(ready.validation),
                best=is_best,
            )
        )
        ready.save(adapter=get_peft_model_state_dict(ready.network))

    def _error_rate(self, call: Call, ready: Ready) -> float:
        """Return total distance over total characters of what the model reads in the validation lines."""
        wrong = letters = 0
        ready.network.eval()
        for line in ready.validation:
            call.check()
            text = " ".join(line.text.split())
            wrong += distance(text, transcription_in(_write(ready, line)))
            letters += len(text)
        return wrong / max(1, letters)


def load_base(base: Mapping[str, Any], device: str) -> tuple[Any, Any]:
    """Return the model and the processor of *base*: {path} of a config.json on this machine, or {repo} at the
    model hub.
    """
    if "repo" not in base:
        os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    import torch
    import transformers

    place = str(base["repo"]) if "repo" in base else str(Path(str(base["path"])).parent)
    options: dict[str, Any] = {"trust_remote_code": False, "local_files_only": "repo" not in base}
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    try:
        processor = transformers.AutoProcessor.from_pretrained(place, **options)
        network = transformers.AutoModelForImageTextToText.from_pretrained(
            place, use_safetensors=True, dtype=kind, **options
        )
    except Exception as error:
        raise Refused(
            f"{Path(place).name} is not an image-text model that this transformers can load ({type(error).__name__}). Name one "
            "with config.json, weights as safetensors and the files of its processor."
        ) from error
    if not getattr(processor, "chat_template", None):
        raise Refused(f"{Path(place).name} has no chat template, so it cannot be given an instruction.")
    return network.to(device), processor


def taught_layers(network: Any) -> list[str]:
    """Return the names of the linear layers to train: those of the language model."""
    from torch import nn

    return [
        name
        for name, layer in network.named_modules()
        if isinstance(layer, nn.Linear) and not any(part in name for part in NOT_TAUGHT)
    ]


def _build_prompt(ready: Ready, line: Line) -> Any:
    """Return the prompt for a line, the same one that the reader of vision models uses."""
    content = [{"type": "image", "image": line.image()}, {"type": "text", "text": line.prompt}]
    return ready.processor.apply_chat_template(
        [{"role": "user", "content": content}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
    ).to(ready.device)


def _teach(ready: Ready, some: Sequence[Line]) -> tuple[float, int, int]:
    """Do one step; return the summed loss of the answers' tokens, their number, and how many lines were too long."""
    import torch

    losses, tokens, too_long = 0.0, 0, 0
    for line in some:
        inputs = dict(_build_prompt(ready, line))
        answer = _answer_ids(ready, line.answer)
        before = int(inputs["input_ids"].shape[-1])
        if before + len(answer) > MOST_TOKENS:
            too_long += 1
            continue
        more = torch.tensor([answer], device=ready.device)
        for name, value in list(inputs.items()):
            # The values for each token continue over the answer: attended to, and not part of a picture.
            if name == "input_ids":
                inputs[name] = torch.cat([value, more], dim=-1)
            elif torch.is_tensor(value) and value.dim() == 2 and int(value.shape[-1]) == before:
                fill = torch.ones_like(more) if name == "attention_mask" else torch.zeros_like(more)
                inputs[name] = torch.cat([value, fill.to(value.dtype)], dim=-1)
        labels = inputs["input_ids"].clone()
        labels[:, :before] = -100
        loss = ready.network(**inputs, labels=labels).loss
        (loss / len(some)).backward()
        losses, tokens = losses + float(loss.detach()) * len(answer), tokens + len(answer)
    if tokens:
        changing = [parameter for parameter in ready.network.parameters() if parameter.requires_grad]
        ready.step(changing, RATE, warm_up=WARM_UP, clip=CLIP)
    return losses, tokens, too_long


def _answer_ids(ready: Ready, answer: str) -> list[int]:
    tokenizer = ready.processor.tokenizer
    ids: list[int] = tokenizer(answer, add_special_tokens=False)["input_ids"]
    return ids if tokenizer.eos_token_id is None else [*ids, tokenizer.eos_token_id]


def _write(ready: Ready, line: Line) -> str:
    import torch

    inputs = _build_prompt(ready, line)
    start = int(inputs["input_ids"].shape[-1])
    most = min(MAX_NEW_TOKENS, 2 * len(_answer_ids(ready, line.answer)) + 16)
    with torch.inference_mode():
        tokens = ready.network.generate(**inputs, max_new_tokens=most, do_sample=False, num_beams=1)
    return str(ready.processor.batch_decode(tokens[:, start:], skip_special_tokens=True)[0])
