"""Schema-constrained decoding: a JSON Schema becomes a mask over the next token of each row.

`llguidance` compiles the schema to a grammar over the bytes of the model's own tokenizer and says
after every token which may follow. What the grammar forces (keys, punctuation) comes as whole
tokens, in the tokenizer's own spelling, and needs no choice. A schema covers the answer: where the
model reasons first, the grammar begins after the trace.

Properties are written in the order of `required` (`schemas.in_required_order`): a request that was
read from a file has lost that of the properties themselves, and the same key of the store must give
the same answer. White space is fixed, one blank after a comma or colon: where it may repeat, a weak
model writes nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from llguidance import LLMatcher
from llguidance.hf import from_tokenizer

from scripts.inference.interface import BackendError
from scripts.inference.schemas import in_required_order

_WRITING: Any = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
}
#: Says of a row's new tokens whether the answer, and with it the schema, begins after them.
Begins = Callable[[Sequence[int]], bool]


class Grammars:
    """The compiled schemas of one tokenizer, each compiled once.

    Raises BackendError for a slow tokenizer, which has no `tokenizer.json`.
    """

    def __init__(self, tokenizer: Any, model: str) -> None:
        self.model = model
        try:
            self._tokenizer = from_tokenizer(tokenizer)
        except ValueError as error:
            raise BackendError(
                f"models.{model}: a response schema needs a tokenizer.json ({error})"
            ) from error
        self._compiled: dict[str, Any] = {}

    def grammar(
        self, schema: Mapping[str, Any], request_id: str, begins: Begins | None = None
    ) -> Grammar:
        """The grammar of a schema; BackendError naming the request where it cannot be compiled."""
        text = json.dumps(in_required_order(schema))
        if text not in self._compiled:
            grammar = LLMatcher.grammar_from_json_schema(text, overrides=_WRITING)
            matcher = LLMatcher(self._tokenizer, grammar, log_level=0)
            if matcher.is_error():
                raise BackendError(
                    f"models.{self.model}: the response schema of request {request_id} cannot be "
                    f"compiled ({' '.join(matcher.get_error().split())[:200]}); write it with "
                    "other keywords"
                )
            self._compiled[text] = matcher
        return Grammar(self._compiled[text], begins)


class Grammar:
    """One compiled schema; `start` gives each row its own state."""

    def __init__(self, matcher: Any, begins: Begins | None) -> None:
        self._matcher = matcher
        self._begins = begins

    def start(self) -> Writer:
        """The state of a row that has written nothing."""
        return Writer(self._matcher.deep_copy(), self._begins)


class Writer:
    """Where one row stands in its grammar."""

    def __init__(self, matcher: Any, begins: Begins | None) -> None:
        self._matcher = matcher
        self._begins = begins

    @property
    def complete(self) -> bool:
        """Nothing may follow: the value is whole."""
        return bool(self._matcher.is_stopped())

    def allowed(self, size: int) -> torch.Tensor | None:
        """The tokens that may follow, shape (size,), boolean; None while the model reasons."""
        if self._begins is not None:
            return None
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        mask = np.zeros(size, dtype=bool)
        known = np.unpackbits(bits, bitorder="little")[:size].view(bool)
        mask[: known.size] = known
        self._check()
        return torch.from_numpy(mask)

    def accept(self, token: int, written: Sequence[int]) -> list[int]:
        """Take a chosen token (`written` ends with it); the tokens that it forces to follow."""
        if self._begins is not None:
            if not self._begins(written):
                return []
            self._begins = None
            return self.forced()
        self._matcher.consume_token(token)
        self._check()
        return self.forced()

    def forced(self) -> list[int]:
        """Take, and return, the tokens that must follow now; none while the model reasons."""
        if self._begins is not None:
            return []
        tokens = [int(token) for token in self._matcher.compute_ff_tokens()]
        if tokens:
            self._matcher.consume_tokens(tokens)
            self._check()
        return tokens

    def _check(self) -> None:
        """Raise BackendError where the library gave up (a grammar beyond its limits)."""
        if self._matcher.is_error():
            raise BackendError(f"constrained decoding failed: {self._matcher.get_error()[:300]}")
