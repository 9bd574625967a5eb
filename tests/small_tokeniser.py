"""A tokenizer.json small enough to know by heart."""

from __future__ import annotations

import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers, processors


def description(pieces: tuple[str, ...] = ("un", "de", "cl", "ared"), special: bool = True) -> str:
    """A small byte-level BPE: single bytes and the given pieces."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: number for number, symbol in enumerate(alphabet)}
    merges = []
    for piece in pieces:
        for end in range(2, len(piece) + 1):
            if piece[:end] not in vocabulary:
                vocabulary[piece[:end]] = len(vocabulary)
                merges.append((piece[: end - 1], piece[end - 1]))
    built = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if special:
        built.add_special_tokens(["<s>"])
        built.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", len(vocabulary))]
        )
        built.enable_truncation(3)
        built.enable_padding(length=8)
    return built.to_str()


def small_encoding(*joined: bytes) -> tiktoken.Encoding:
    """A tiktoken encoding of single bytes and the given tokens, with one special token."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for token in joined:
        for end in range(2, len(token) + 1):
            ranks.setdefault(token[:end], len(ranks))
    return tiktoken.Encoding(
        "small",
        pat_str=r"\s?\S+|\s+",
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": len(ranks)},
    )
