"""Builds the tiny models of the tests; run as a script by the runtime's interpreter: `tiny_models.py KIND
FOLDER`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

LETTERS = [*"abcdefghijklmnopqrstuvwxyzñ", "ch", "ll"]
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<image>"]
TEMPLATE = (
    "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% else %}{{ c['text'] }}"
    "{% endif %}{% endfor %}{% endfor %}"
)


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {word: number for number, word in enumerate([*SPECIAL, *LETTERS])}
    new_tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    new_tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=new_tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=["<image>"],
    )


def trocr(folder: Path) -> None:
    from transformers import (
        TrOCRConfig,
        TrOCRProcessor,
        VisionEncoderDecoderConfig,
        VisionEncoderDecoderModel,
        ViTConfig,
        ViTImageProcessor,
    )

    small = {"num_attention_heads": 2, "num_hidden_layers": 1}
    encoder = ViTConfig(hidden_size=16, intermediate_size=16, image_size=32, patch_size=16, **small)
    decoder = TrOCRConfig(
        vocab_size=len(SPECIAL) + len(LETTERS),
        d_model=16,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_ffn_dim=16,
        max_position_embeddings=300,
    )
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 1, 0, 2
    model = VisionEncoderDecoderModel(config=config)
    settings = model.generation_config
    settings.decoder_start_token_id, settings.pad_token_id, settings.eos_token_id = 1, 0, 2
    model.save_pretrained(folder)
    processor = ViTImageProcessor(size={"height": 32, "width": 32})
    TrOCRProcessor(image_processor=processor, tokenizer=tokenizer()).save_pretrained(folder)


def chat(folder: Path) -> None:
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    sees = CLIPVisionConfig(image_size=32, patch_size=16, projection_dim=16, **small)
    writes = LlamaConfig(vocab_size=len(SPECIAL) + len(LETTERS), max_position_embeddings=1024, **small)
    config = LlavaConfig(vision_config=sees, text_config=writes, image_token_index=4, image_seq_length=4)
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        tokenizer=tokenizer(),
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)


if __name__ == "__main__":
    import torch

    from armarium_worker.torch_builds import define_missing_operators

    define_missing_operators()
    torch.manual_seed(7)
    {"trocr": trocr, "chat": chat}[sys.argv[1]](Path(sys.argv[2]))
