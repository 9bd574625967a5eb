"""A translation model on this machine (NLLB, MADLAD and their kind), as an inference backend.

It answers requests whose one message is the text to be translated, so that translations go through
the same store as every other answer. Loaded by `transformers`, on the GPU where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

from scripts.inference import models
from scripts.inference.interface import Backend, BackendError, ModelSpec
from scripts.records import Request, Response

#: Codes of FLORES-200, which NLLB uses, and of MADLAD-400's target marks.
NLLB_CODES = {
    "ar": "arb_Arab",
    "zh": "zho_Hans",
    "en": "eng_Latn",
    "de": "deu_Latn",
    "ha": "hau_Latn",
}
MADLAD_MARKS = {language: f"<2{language}>" for language in NLLB_CODES}
BEAMS = 4
BATCH = 16


def local_spec(local: Mapping[str, Any], path: str | None = None) -> ModelSpec:
    """The model of `translation.local`: `source`, `revision`, and maybe `precision`, `beams`.

    `path` is a prepared folder; without it `source` is a folder or a hub id.
    """
    for key in ("source", "revision"):
        if not local.get(key):
            raise BackendError(f"translation.local.{key}: missing; the local translator needs it")
    options = {"beams": int(local.get("beams", BEAMS)), "batch": int(local.get("batch", BATCH))}
    return ModelSpec(
        name="local",
        label=str(local["source"]),
        backend="seq2seq",
        source=str(local["source"]),
        revision=str(local["revision"]),
        precision=str(local.get("precision", "float32")),
        modes=("non_thinking",),
        thinking={"switch": "none"},
        path=path,
        options=options,
    )


class LocalTranslator(Backend):
    """One translation model towards one language, from English; beam search, no sampling."""

    name = "seq2seq"

    def __init__(self, spec: ModelSpec, language: str, mode: str = "non_thinking") -> None:
        super().__init__(spec, mode)
        if language not in NLLB_CODES:
            known = ", ".join(NLLB_CODES)
            raise BackendError(f"no code of a translation model for {language!r}; known: {known}")
        self.language = language
        self._tokenizer: Any = None
        self._model: Any = None

    @property
    def version(self) -> str:
        """Version of transformers."""
        return str(transformers.__version__)

    def identity(self) -> dict[str, Any]:
        """Target language and beams: what, beyond the model, decides a translation."""
        return {"language": self.language, "beams": self.spec.options["beams"]}

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Yield one Response per Request, batch by batch."""
        for batch in self.generate_batches(requests):
            yield from batch

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        """Batches of texts of similar length; the batch's texts come back together."""
        self._load()
        size = int(self.spec.options["batch"])
        ordered = sorted(requests, key=lambda request: len(request.messages[-1]["content"]))
        for start in range(0, len(ordered), size):
            yield self._translate(ordered[start : start + size])

    def close(self) -> None:
        """Let the model go."""
        self._model = self._tokenizer = None

    def _load(self) -> None:
        if self._model is not None:
            return
        where, options = models.location(self.spec)
        self._tokenizer = models.load_tokenizer(self.spec)
        self._tokenizer.padding_side = "right"
        try:
            self._model = AutoModelForSeq2SeqLM.from_pretrained(
                where, dtype=models.dtype(self.spec), **options
            )
        except (OSError, ValueError) as error:
            raise BackendError(
                f"translation.local: cannot load {where} as a translation model ({error})"
            ) from error
        self._model.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def _target(self) -> tuple[str, dict[str, Any]]:
        """Prefix of the text, and options of `generate`, by which the model knows its language."""
        vocabulary = self._tokenizer.get_vocab()
        code, mark = NLLB_CODES[self.language], MADLAD_MARKS[self.language]
        if code in vocabulary:
            self._tokenizer.src_lang = NLLB_CODES["en"]
            return "", {"forced_bos_token_id": vocabulary[code]}
        if mark in vocabulary:
            return f"{mark} ", {}
        raise BackendError(
            f"translation.local: {self.spec.source} knows neither {code} (NLLB) nor {mark} "
            "(MADLAD); choose a model that translates into this language"
        )

    @torch.no_grad()
    def _translate(self, batch: Sequence[Request]) -> list[Response]:
        prefix, options = self._target()
        limit = int(batch[0].decoding["max_new_tokens"])
        texts = [prefix + request.messages[-1]["content"] for request in batch]
        encoded = self._tokenizer(texts, return_tensors="pt", padding=True).to(self._model.device)
        made = self._model.generate(
            input_ids=encoded["input_ids"],
            attention_mask=encoded["attention_mask"],
            max_new_tokens=limit,
            num_beams=int(self.spec.options["beams"]),
            do_sample=False,
            **options,
        )
        read = self._tokenizer.batch_decode(made, skip_special_tokens=True)
        return [
            self._response(request, text, ids, encoded["attention_mask"][row], limit)
            for row, (request, text, ids) in enumerate(zip(batch, read, made, strict=True))
        ]

    def _response(self, request: Request, text: str, ids: Any, mask: Any, limit: int) -> Response:
        end = self._model.config.eos_token_id
        tokens = [int(token) for token in ids[1:]]
        ended = end in tokens or len(tokens) < limit
        length = tokens.index(end) + 1 if end in tokens else len(tokens)
        return Response(
            request_id=request.request_id,
            item_id=request.item_id,
            model=self.spec.name,
            mode=self.mode,
            text=text.strip(),
            finish_reason="stop" if ended else "length",
            usage={"prompt": int(mask.sum()), "completion": length, "reasoning": None},
            backend=self.name,
            backend_version=self.version,
            attempts=1,
        )
