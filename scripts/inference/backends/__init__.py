# ruff: noqa: PLC0415
"""The backends, one module each, imported only when a model names them.

The imports stand in functions: a machine without vLLM never imports it, and the code digest still
sees them, because it reads import statements wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable

from scripts.inference.interface import Backend, BackendError, ModelSpec


def _transformers() -> type[Backend]:
    from scripts.inference.backends.transformers_local import TransformersBackend

    return TransformersBackend


def _vllm() -> type[Backend]:
    from scripts.inference.backends.vllm_offline import VllmBackend

    return VllmBackend


def _openai() -> type[Backend]:
    from scripts.inference.backends.openai_compatible import OpenAIBackend

    return OpenAIBackend


def _archive() -> type[Backend]:
    from scripts.inference.backends.archive import ArchiveBackend

    return ArchiveBackend


def _baseline() -> type[Backend]:
    from scripts.inference.backends.baseline import BaselineBackend

    return BaselineBackend


TABLE: dict[str, Callable[[], type[Backend]]] = {
    "transformers": _transformers,
    "vllm": _vllm,
    "openai": _openai,
    "archive": _archive,
    "baseline": _baseline,
}


def create_backend(spec: ModelSpec, mode: str) -> Backend:
    """The backend of a model in a mode; nothing heavy is loaded yet."""
    if mode not in spec.modes:
        raise BackendError(
            f"models.{spec.name}: mode {mode!r} is not among its modes {list(spec.modes)}"
        )
    return TABLE[spec.backend]()(spec, mode)
