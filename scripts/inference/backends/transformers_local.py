"""The `transformers` backend: a local model on the CPU or a GPU, in batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from scripts.inference import embedded_models, kernels, models
from scripts.inference.constrained import Grammar, Grammars
from scripts.inference.decoding import Decoded, Decoder, Policy, Prompt, seed_of
from scripts.inference.dialogue import TURN_MARKER, Renderer
from scripts.inference.interface import Backend, ModelSpec
from scripts.inference.reasoning import CLOSE_TAG, Separated, accounted, separate
from scripts.records import Request, Response, canonical_json

# A turn marker is searched for in this many of the last tokens.
_TAIL = 12


class TransformersBackend(Backend):
    """One local model in one mode.

    Options of the roster entry: `threads` (PyTorch's, default its own), `batch: {policy, size,
    tokens}`, `kernels` (`torch`, or `onednn` for products on the CPU). Policy and kernels are part
    of the identity, because floating point may tip a tie.
    A request's schema holds from the first token, or from the end of the trace where the model
    reasons (mode `thinking`, or a prompt that opens a trace).
    """

    name = "transformers"

    def __init__(self, spec: ModelSpec, mode: str) -> None:
        super().__init__(spec, mode)
        self.policy = _policy(spec)
        self.onednn = spec.options.get("kernels") == "onednn"
        self._renderer: Renderer | None = None
        self._loaded: tuple[Any, Any] | None = None
        self._grammars: Grammars | None = None
        self._converted = 0

    @property
    def version(self) -> str:
        """Versions of transformers and torch."""
        return f"transformers {metadata.version('transformers')}, torch {metadata.version('torch')}"

    @property
    def renderer(self) -> Renderer:
        """Prompt rendering; loads the tokenizer but not the weights."""
        if self._renderer is None:
            tokenizer = models.load_tokenizer(self.spec)
            self._renderer = Renderer(self.spec, self.mode, tokenizer)
        return self._renderer

    def identity(self) -> dict[str, Any]:
        """Template, thinking switch, batch policy, and what converted weights were made from."""
        batch = {"policy": self.policy.name, "size": self.policy.size, "tokens": self.policy.tokens}
        made_from = embedded_models.model_identity(Path(self.spec.path)) if self.spec.path else None
        # Named only where it is not the default: answers from before the option keep their keys.
        products = {"kernels": "onednn"} if self.onednn else {}
        return {
            "backend": self.name,
            "thinking": dict(self.spec.thinking),
            "mode": self.mode if self.spec.thinking.get("switch") == "accounting" else None,
            "context_length": self.spec.context_length,
            "rendering": self.renderer.identity(),
            "batch": batch,
            "weights": made_from,
            **products,
        }

    def facts(self) -> dict[str, Any]:
        """Device, threads, and one rendered example of the template."""
        device = str(self._loaded[0].device) if self._loaded else "not loaded"
        return {
            "device": device,
            "threads": torch.get_num_threads(),
            "kernels": f"onednn in {self._converted} layers" if self._converted else "torch",
            "rendering": self.renderer.identity(),
        }

    def close(self) -> None:
        """Forget the model and free the GPU's cache."""
        self._loaded = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Yield the Responses batch by batch."""
        for batch in self.generate_batches(requests):
            yield from batch

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        """Yield whole batches; a prompt that leaves no room in the context is an error Response."""
        prepared = [self._prepare(index, request) for index, request in enumerate(requests)]
        refused = [
            self._refuse(requests[prompt.index], prompt)
            for prompt, _ in prepared
            if prompt.limit <= 0
        ]
        if refused:
            yield refused
        # One group per decoding and schema, in a fixed order; usually there is just one. Rows of
        # one schema have forced tokens at the same places and take them together.
        groups: dict[str, list[Prompt]] = {}
        traces = {prompt.index: opens for prompt, opens in prepared}
        for prompt, _ in prepared:
            if prompt.limit > 0:
                request = requests[prompt.index]
                key = canonical_json([request.decoding, request.response_schema])
                groups.setdefault(key, []).append(prompt)
        if not groups:
            return
        decoder = self._decoder()
        for key in sorted(groups):
            decoding = requests[groups[key][0].index].decoding
            for rows in decoder.batches(groups[key], decoding):
                yield [
                    self._respond(requests[p.index], p, decoded, traces[p.index])
                    for p, decoded in rows
                ]

    def _decoder(self) -> Decoder:
        if self._loaded is None:
            if "threads" in self.spec.options:
                torch.set_num_threads(int(self.spec.options["threads"]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._loaded = models.load(self.spec)
            if self.onednn:
                self._converted = kernels.use_onednn(self._loaded[0])
        model, tokenizer = self._loaded
        stops = self._turn_ended if self.renderer.is_transcript else None
        return Decoder(
            model, self.policy, _end_tokens(model, tokenizer), int(tokenizer.pad_token_id), stops
        )

    def _turn_ended(self, ids: Sequence[int]) -> bool:
        return TURN_MARKER in self._text(ids[-_TAIL:])

    def _text(self, ids: Sequence[int]) -> str:
        return str(
            self.renderer.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _prepare(self, index: int, request: Request) -> tuple[Prompt, bool]:
        """The tokenised prompt (limit <= 0: it does not fit) and whether it opens a trace."""
        rendered = self.renderer.render(request.messages)
        special = self.renderer.is_transcript
        encoded = self.renderer.tokenizer(
            rendered.text, add_special_tokens=special, return_offsets_mapping=True
        )
        ids = tuple(encoded["input_ids"])
        inside = [end <= rendered.shared for _, end in encoded["offset_mapping"]]
        shared = min(inside.index(False) if False in inside else len(ids), len(ids) - 1)
        limit = int(request.decoding["max_new_tokens"])
        if self.spec.context_length is not None:
            limit = min(limit, self.spec.context_length - len(ids))
        seed = seed_of(canonical_json(request.messages), canonical_json(request.decoding))
        grammar = self._grammar(request, rendered.opens_trace)
        return Prompt(index, ids, shared, limit, seed, grammar), rendered.opens_trace

    def _grammar(self, request: Request, opens_trace: bool) -> Grammar | None:
        """The grammar of a request's schema; BackendError where it cannot be compiled."""
        if request.response_schema is None:
            return None
        if self._grammars is None:
            self._grammars = Grammars(self.renderer.tokenizer, self.spec.name)
        begins = self._trace_ended if self._reasons(opens_trace) else None
        return self._grammars.grammar(request.response_schema, request.request_id, begins)

    def _reasons(self, opens_trace: bool) -> bool:
        """Whether a trace may precede the answer."""
        return opens_trace or self.mode == "thinking"

    def _trace_ended(self, ids: Sequence[int]) -> bool:
        return CLOSE_TAG in self._text(ids[-_TAIL:])

    def _respond(
        self, request: Request, prompt: Prompt, decoded: Decoded, opens_trace: bool
    ) -> Response:
        text = self._text(decoded.ids)
        if self.renderer.is_transcript:
            text = text.partition(TURN_MARKER)[0].rstrip()
        if request.response_schema is not None and not self._reasons(opens_trace):
            parts = Separated(text, None, "none")  # a tag inside a string of the JSON is no trace
        else:
            parts = separate(text, starts_inside=opens_trace)
        trace = accounted(parts.reasoning, self.mode, self.spec.thinking)
        counted = (
            None
            if trace is None
            else len(self.renderer.tokenizer(trace, add_special_tokens=False)["input_ids"])
        )
        usage = {"prompt": len(prompt.ids), "completion": len(decoded.ids), "reasoning": counted}
        return self._response(request, parts.text, decoded.finish_reason, usage, reasoning=trace)

    def _refuse(self, request: Request, prompt: Prompt) -> Response:
        message = (
            f"the prompt has {len(prompt.ids)} tokens and leaves no room in a context of "
            f"{self.spec.context_length}"
        )
        usage = {"prompt": len(prompt.ids), "completion": 0, "reasoning": None}
        return self._response(request, "", "error", usage, error=message)

    def _response(
        self,
        request: Request,
        text: str,
        finish_reason: str,
        usage: dict[str, int | None],
        *,
        reasoning: str | None = None,
        error: str | None = None,
    ) -> Response:
        return Response(
            request_id=request.request_id,
            item_id=request.item_id,
            model=self.spec.name,
            mode=self.mode,
            text=text,
            finish_reason=finish_reason,
            usage=usage,
            backend=self.name,
            backend_version=self.version,
            attempts=1,
            reasoning=reasoning,
            error=error,
        )


def _policy(spec: ModelSpec) -> Policy:
    batch = dict(spec.options.get("batch") or {})
    default = Policy()
    return Policy(
        name=str(batch.get("policy", default.name)),
        size=int(batch.get("size", default.size)),
        tokens=int(batch.get("tokens", default.tokens)),
    )


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Tokens that end an answer: those of the generation configuration and the tokenizer's own."""
    configured = model.generation_config.eos_token_id
    found = configured if isinstance(configured, list) else [configured]
    return frozenset(int(t) for t in [*found, tokenizer.eos_token_id] if t is not None)
