"""A tokenizer.json small enough to know by heart."""

from __future__ import annotations

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
