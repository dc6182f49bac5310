"""Builds the tiny image-text model of the tests: run by the runtime's own interpreter, `tiny_vision_model.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

LETTERS = [*"abcdefghijklmnopqrstuvwxyz"]
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<image>"]
TEMPLATE = (
    "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% else %}{{ c['text'] }}"
    "{% endif %}{% endfor %}{% endfor %}"
)


def build(folder: Path) -> None:
    """A chat model of pictures whose weights were drawn by chance; its layers are wide enough for 4 bits."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        PreTrainedTokenizerFast,
    )

    torch.manual_seed(7)
    words = {word: number for number, word in enumerate([*SPECIAL, *LETTERS])}
    spelled = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    spelled.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=spelled,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=["<image>"],
    )
    small = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    sees = CLIPVisionConfig(image_size=32, patch_size=16, projection_dim=64, **small)
    writes = LlamaConfig(
        vocab_size=len(words),
        max_position_embeddings=1024,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        **small,
    )
    config = LlavaConfig(vision_config=sees, text_config=writes, image_token_index=4, image_seq_length=4)
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        tokenizer=tokenizer,
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
