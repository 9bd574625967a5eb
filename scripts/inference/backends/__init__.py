"""The backends, one module each, imported only when a model names them.

The modules are named as text: a machine without vLLM never imports it, and the code digest of an
inference rule covers the one backend that the rule's model uses (`backend_file`), not all of them.
"""

from __future__ import annotations

from importlib import import_module

from scripts.inference.interface import Backend, BackendError, ModelSpec

# Name in the configuration: module and class.
TABLE: dict[str, tuple[str, str]] = {
    "transformers": ("scripts.inference.backends.transformers_local", "TransformersBackend"),
    "vllm": ("scripts.inference.backends.vllm_offline", "VllmBackend"),
    "openai": ("scripts.inference.backends.openai_compatible", "OpenAIBackend"),
    "archive": ("scripts.inference.backends.archive", "ArchiveBackend"),
    "baseline": ("scripts.inference.backends.baseline", "BaselineBackend"),
}


def backend_file(name: str) -> str:
    """The backend's module as a path relative to the repository, for the code digest."""
    return TABLE[name][0].replace(".", "/") + ".py"


def backend_class(name: str) -> type[Backend]:
    """The class of a backend; BackendError when a library that it needs is not installed."""
    module, attribute = TABLE[name]
    try:
        found: type[Backend] = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise BackendError(
            f"the {name} backend needs the package {error.name!r}, which is not installed here"
        ) from error
    return found


def create_backend(spec: ModelSpec, mode: str) -> Backend:
    """The backend of a model in a mode; nothing heavy is loaded yet."""
    if mode not in spec.modes:
        raise BackendError(
            f"models.{spec.name}: mode {mode!r} is not among its modes {list(spec.modes)}"
        )
    return backend_class(spec.backend)(spec, mode)
