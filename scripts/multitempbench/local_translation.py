"""A translation model on this machine (NLLB, MADLAD and their kind), as an inference backend.

It answers requests whose one message is the text to be translated, so that translations go through
the same store as every other answer. Loaded by `transformers`, on the GPU where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

from scripts.dates.languages import LANGUAGES
from scripts.inference import models
from scripts.inference.interface import Backend, BackendError, ModelSpec
from scripts.records import Request, Response


def _codes(name: str) -> dict[str, str]:
    """What a family of models calls each language, by the languages' files."""
    known = {code: language.translators.get(name) for code, language in LANGUAGES.items()}
    return {code: called for code, called in known.items() if called}


#: Codes of FLORES-200, which NLLB uses, and MADLAD-400's target marks.
NLLB_CODES = _codes("nllb")
MADLAD_MARKS = _codes("madlad")
BEAMS = 4
BATCH = 16
# A sentence ends behind a word of two or more small letters, a digit pair or a mark ("St." does
# not end one), before a capital or a mark.
_SENTENCE_END = re.compile(r"(?:(?<=[a-z0-9]{2}[.?!])|(?<=[\]⟧X_][.?!]))\s+(?=[A-Z\[⟦_])")


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


@dataclass(frozen=True)
class _Sentence:
    """A translated sentence: tokens read and written, and whether it came to its end."""

    text: str
    read: int
    written: int
    ended: bool


def sentences(text: str) -> list[str]:
    """The sentences of a marked English text, in order."""
    return _SENTENCE_END.split(text)


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
        """What, beyond the model, decides a translation: language, beams, and the unit of text."""
        return {
            "language": self.language,
            "beams": self.spec.options["beams"],
            "unit": "sentence",
        }

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
        code, mark = NLLB_CODES.get(self.language), MADLAD_MARKS.get(self.language)
        if code in vocabulary:
            self._tokenizer.src_lang = NLLB_CODES["en"]
            return "", {"forced_bos_token_id": vocabulary[code]}
        if mark in vocabulary:
            return f"{mark} ", {}
        raise BackendError(
            f"translation.local: {self.spec.source} knows neither {code} (NLLB) nor {mark} "
            "(MADLAD); choose a model that translates into this language"
        )

    def _translate(self, batch: Sequence[Request]) -> list[Response]:
        """Translate sentence by sentence: such models drop what follows the first sentence."""
        limit = int(batch[0].decoding["max_new_tokens"])
        parts = [sentences(request.messages[-1]["content"]) for request in batch]
        made = iter(self._sentences([part for each in parts for part in each], limit))
        separator = " " if LANGUAGES[self.language].spaced else ""
        responses = []
        for request, each in zip(batch, parts, strict=True):
            done = [next(made) for _ in each]
            responses.append(
                Response(
                    request_id=request.request_id,
                    item_id=request.item_id,
                    model=self.spec.name,
                    mode=self.mode,
                    text=separator.join(sentence.text for sentence in done),
                    finish_reason="stop" if all(sentence.ended for sentence in done) else "length",
                    usage={
                        "prompt": sum(sentence.read for sentence in done),
                        "completion": sum(sentence.written for sentence in done),
                        "reasoning": None,
                    },
                    backend=self.name,
                    backend_version=self.version,
                    attempts=1,
                )
            )
        return responses

    @torch.no_grad()
    def _sentences(self, texts: Sequence[str], limit: int) -> list[_Sentence]:
        """Translations of single sentences, each of at most `limit` tokens."""
        prefix, options = self._target()
        encoded = self._tokenizer(
            [prefix + text for text in texts], return_tensors="pt", padding=True
        ).to(self._model.device)
        made = self._model.generate(
            input_ids=encoded["input_ids"],
            attention_mask=encoded["attention_mask"],
            max_new_tokens=limit,
            num_beams=int(self.spec.options["beams"]),
            do_sample=False,
            **options,
        )
        read = encoded["attention_mask"].sum(dim=1).tolist()
        plain = self._tokenizer.batch_decode(made, skip_special_tokens=True)
        end = self._model.config.eos_token_id
        out = []
        for text, ids, count in zip(plain, made.tolist(), read, strict=True):
            tokens = ids[1:]  # the first one starts the decoder
            ended = end in tokens
            written = tokens.index(end) + 1 if ended else len(tokens)
            out.append(_Sentence(text.strip(), int(count), written, ended or written < limit))
        return out
