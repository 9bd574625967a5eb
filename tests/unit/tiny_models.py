"""Tiny random models with a byte-level tokenizer, built in seconds, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if thinking %}<think>\n{% endif %}{% endif %}"
)
# Refuses a system message, as some templates do.
STRICT = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    + CHAT
)
# Passes a system message over without a word, as others do.
SILENT = CHAT.replace("{% for m in messages %}", "{% for m in messages if m['role'] != 'system' %}")


def tokenizer(template: str | None = CHAT) -> Any:
    """256 bytes and three special tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    specials = ["<|im_start|>", "<|im_end|>", "<pad>"]
    vocabulary = {piece: n for n, piece in enumerate(alphabet)}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(specials)
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",
        pad_token="<pad>",
        chat_template=template,
    )


def llama() -> Any:
    """A random Llama with grouped heads."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=259,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.3,
        eos_token_id=257,
        pad_token_id=258,
        bos_token_id=None,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config).eval()


def gemma() -> Any:
    """A random Gemma 3 whose sliding window is much shorter than the prompts."""
    torch.manual_seed(0)
    config = Gemma3TextConfig(
        vocab_size=259,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=8,
        query_pre_attn_scalar=8,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention"] * 2,
        max_position_embeddings=512,
        initializer_range=0.3,
        eos_token_id=257,
        pad_token_id=258,
        bos_token_id=None,
    )
    return Gemma3ForCausalLM(config).eval()


def save(folder: Path, model: Any, template: str | None = CHAT) -> Path:
    """A folder as the hub has it."""
    model.save_pretrained(folder)
    tokenizer(template).save_pretrained(folder)
    return folder
