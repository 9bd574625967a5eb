"""A tiny random language model, saved as a real checkpoint, for tests that need a real engine.

One token a letter, a ChatML template with the thinking switch of the Qwen3 family, random weights
from a fixed seed: it writes nonsense, but greedily the same nonsense every time.
"""

from __future__ import annotations

from pathlib import Path

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}"
)


def save_tiny_tokenizer(folder: Path):
    """Write tokenizer.json and the chat template; returns the tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    # Printable ASCII, space and newline (byte-level spelling): every token is a readable letter.
    alphabet = [*map(chr, range(33, 127)), "Ġ", "Ċ"]
    core = Tokenizer(models.BPE({token: i for i, token in enumerate(alphabet)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(["<|im_start|>", "<|im_end|>", "<|endoftext|>"])
    core.add_tokens(["<think>", "</think>"])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return tokenizer


def save_tiny_model(folder: Path, layers: int = 2) -> Path:
    """Write config.json, model.safetensors and the tokenizer of a Qwen3-type model (0.6 MB)."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = save_tiny_tokenizer(folder)
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=1024,
        tie_word_embeddings=False,
        # Wide weights spread the logits: near-ties would let rounding choose the token.
        initializer_range=0.3,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    with torch.no_grad():
        # A logit of 0 is never the highest: no stray think tag, which servers treat specially.
        model.lm_head.weight[tokenizer.convert_tokens_to_ids(["<think>", "</think>"])] = 0.0
    model.save_pretrained(folder)
    return folder
