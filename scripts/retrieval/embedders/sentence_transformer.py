"""Models of sentence-transformers: a folder inside an installed package, a local folder, a hub id.

Only weights in safetensors are loaded and no code of a repository is run. A folder is read with the
hub switched off. Texts are embedded one by one, so that a vector does not depend on the padding
that its neighbours would bring.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cached_property
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.files import sha256_file
from scripts.inference.model_folders import ModelFolderError, tensor_names
from scripts.retrieval.embedders.interface import (
    Embedder,
    EmbedderSpec,
    EmbeddingError,
    Mode,
    sendable,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGE = "package:"


class SentenceTransformerEmbedder(Embedder):
    """One model on the CPU (or, with `gpus: 1`, on a GPU)."""

    long_texts = "cut at the model's limit"

    def __init__(self, spec: EmbedderSpec) -> None:
        super().__init__(spec)
        self.folder = local_folder(spec)
        if self.folder is None and not spec.revision:
            raise EmbeddingError(
                f"embedders.{spec.name}.revision: missing; {spec.source!r} is no folder, and a "
                "model of the hub needs a commit to be repeatable"
            )

    @cached_property
    def version(self) -> str:
        """Versions of the library and of the weights: SHA-256 of a folder, commit of a hub id."""
        library = f"sentence-transformers {metadata.version('sentence-transformers')}"
        weights = self.spec.revision if self.folder is None else folder_digest(self.folder)
        return f"{library}, weights {weights}"

    def identity(self) -> dict[str, Any]:
        """The weights' digest stands for the folder they were found in."""
        out = super().identity()
        if self.folder is not None and not self.spec.source.startswith(PACKAGE):
            out["source"] = "folder"
        return out

    @property
    def token_limit(self) -> int | None:
        """Tokens that the model reads, special ones included."""
        limit = self._model.max_seq_length
        return None if limit is None else int(limit)

    @cached_property
    def _model(self) -> SentenceTransformer:
        if self.folder is not None:
            os.environ["HF_HUB_OFFLINE"] = "1"
            self._refuse_damaged(self.folder)
        import torch  # noqa: PLC0415
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
        from transformers.utils import logging  # noqa: PLC0415

        if not sys.stderr.isatty():
            logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(int(self.spec.options.get("threads") or 1))
        try:
            return SentenceTransformer(
                str(self.folder or self.spec.source),
                device="cuda" if self.spec.options.get("gpus") else "cpu",
                revision=self.spec.revision,
                local_files_only=self.folder is not None,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbeddingError(
                f"embedder {self.spec.name!r}: {self.spec.source} cannot be loaded "
                f"({' '.join(str(error).split())[:300]}); fetch it where there is a network (hf "
                f"download {self.spec.source} --revision {self.spec.revision}), or correct source"
            ) from error

    def _refuse_damaged(self, folder: Path) -> None:
        """EmbeddingError when a file of weights is cut off: what is missing would be random."""
        for path in sorted(folder.rglob("*.safetensors")):
            try:
                tensor_names(path)
            except ModelFolderError as error:
                raise EmbeddingError(
                    f"embedder {self.spec.name!r}: {error}; download it again"
                ) from error

    def count_tokens(self, text: str) -> int:
        """Tokens of a passage by the model's tokeniser, special ones included."""
        encoded = self._model.tokenizer(
            self.spec.passage_prefix + sendable(text), truncation=False, verbose=False
        )
        return len(encoded["input_ids"])

    def _vectors(self, texts: list[str], mode: Mode) -> Any:  # noqa: ARG002
        rows = [
            self._model.encode(
                [text], batch_size=1, show_progress_bar=False, convert_to_numpy=True
            )[0]
            for text in texts
        ]
        return np.stack(rows)


def local_folder(spec: EmbedderSpec) -> Path | None:
    """The folder that `source` names, None for a hub id; nothing of a package is imported."""
    if not spec.source.startswith(PACKAGE):
        path = Path(spec.source).expanduser()
        return path if path.is_dir() else None
    package, _, inner = spec.source.removeprefix(PACKAGE).partition("/")
    found = util.find_spec(package) if package.isidentifier() else None
    if found is None or not found.submodule_search_locations:
        raise EmbeddingError(
            f"embedders.{spec.name}.source: the package {package!r} is not installed; install it "
            "or name another model"
        )
    root = Path(next(iter(found.submodule_search_locations))).resolve()
    path = (root / inner).resolve()
    if not path.is_relative_to(root) or not path.is_dir():
        raise EmbeddingError(
            f"embedders.{spec.name}.source: no folder {inner!r} in the package {package!r}"
        )
    return path


def folder_digest(folder: Path) -> str:
    """SHA-256 (16 digits) over the names and contents of a model's weights and settings."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in {".safetensors", ".json", ".txt", ".model"}:
            name = path.relative_to(folder).as_posix()
            digest.update(f"{name}={sha256_file(path)}\n".encode())
    return digest.hexdigest()[:16]
