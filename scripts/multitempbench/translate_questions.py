"""Rule script: the seed questions in one language.

input.questions; input.overrides; by params.method also input.shipped (the file of translations),
input.weights (files of a prepared model folder) or input.answers. output.translations. params:
language, method (shipped, model, local), name and entry (the roster's model), local (the
translation model), max_new_tokens, store (the store file, no output of the rule).
"""

from typing import TYPE_CHECKING, Any

from scripts.dates.language_files import SOURCE_LANGUAGE
from scripts.execution import execute, exit_on_sigterm
from scripts.files import DataError, read_records, write_records
from scripts.inference.backends import create_backend
from scripts.inference.interface import Backend
from scripts.inference.registry import model_spec, prepared_path
from scripts.multitempbench import translation
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.translation import (
    TranslationError,
    Untranslated,
)
from scripts.multitempbench.translation_rows import Override, Translation

if TYPE_CHECKING:
    snakemake: Any


def translator(snakemake: Any) -> tuple[Backend, str, tuple[str, ...]]:
    """The backend that translates, what to call it, and the mark styles to try."""
    params, path = snakemake.params, prepared_path(snakemake.input)
    if params.method == "local":
        from scripts.multitempbench.local_translation import (  # noqa: PLC0415 - loads torch
            LocalTranslator,
            local_spec,
        )

        backend = LocalTranslator(local_spec(params.local, path), params.language)
        return backend, f"local:{params.local['source']}", translation.LOCAL_MARK_STYLES
    spec = model_spec(params.name, params.entry, path)
    mode = "non_thinking" if "non_thinking" in spec.modes else spec.modes[0]
    return create_backend(spec, mode), f"model:{params.name}", translation.MARK_STYLES


def translate(
    snakemake: Any, questions: list[SeedQuestion]
) -> tuple[list[Translation], list[Untranslated]]:
    """What the configured source gives for questions that no reviewer has written himself."""
    params = snakemake.params
    if params.method not in translation.METHODS:
        raise DataError(
            f"translation.method {params.method!r}; known: {', '.join(translation.METHODS)}"
        )
    if params.method == "shipped":
        return translation.shipped_rows(questions, params.language)
    if not questions:
        return [], []
    backend, name, styles = translator(snakemake)
    try:
        return translation.machine_rows(
            questions,
            params.language,
            backend,
            params.store,
            translator=name,
            max_new_tokens=int(params.max_new_tokens),
            styles=styles,
        )
    finally:
        backend.close()


def main(snakemake: Any) -> None:
    """Reviewers' rows first, the configured source for the rest; nothing unchecked is written.

    Where a question stays without a translation the job fails, and its log has the rows that the
    overrides file needs.
    """
    exit_on_sigterm()
    language = snakemake.params.language
    questions = read_records(snakemake.input.questions, SeedQuestion)
    overrides = translation.override_rows(
        questions,
        language,
        read_records(snakemake.input.overrides, Override),
        snakemake.params.known_questions,
    )
    if language == SOURCE_LANGUAGE:
        rows, failures = translation.source_rows(questions), list[Untranslated]()
    else:
        done = {row.question_id for row in overrides}
        rest = [question for question in questions if question.question_id not in done]
        rows, failures = translate(snakemake, rest)
    # The later rows win: an override also replaces the source's own wording.
    try:
        finished = translation.assemble(questions, [*rows, *overrides], failures)
    except TranslationError as error:
        print(error.template)
        raise
    write_records(snakemake.output.translations, finished)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
