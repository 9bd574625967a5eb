import json
import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
import tiny_models
import torch
from hypothesis import given
from hypothesis import strategies as st
from multitempbench_material import (
    OVERRIDES,
    QUESTIONS,
    Named,
    own_questions,
    own_translations,
    question,
)

from scripts.dates.languages import LANGUAGES as LANGUAGE_FILES
from scripts.files import DataError, dump_line, read_records, write_records
from scripts.inference import models
from scripts.inference.interface import Backend, BackendError
from scripts.inference.registry import model_spec
from scripts.inference.store import ResponseStore
from scripts.multitempbench import local_translation, translate_questions, translation
from scripts.multitempbench.local_translation import LocalTranslator, local_spec
from scripts.multitempbench.questions import PLACEHOLDER
from scripts.multitempbench.tasks import LANGUAGES
from scripts.multitempbench.translation import (
    LOCAL_MARK_STYLES,
    MARK_STYLES,
    Override,
    Translation,
    TranslationError,
    Untranslated,
    assemble,
    clean,
    machine_rows,
    override_rows,
    placeholder_problem,
    protect,
    restore,
    shipped_rows,
    source_rows,
    translation_problem,
)
from scripts.records import RecordError, Request, Response

OTHERS = [language for language in LANGUAGES if language != "en"]
ENTRY = {
    "backend": "transformers",
    "source": "org/fake",
    "revision": "1",
    "precision": "float32",
    "modes": ["thinking", "non_thinking"],
    "thinking": {"switch": "chat_template", "argument": "thinking"},
}


# The shipped translations


@pytest.mark.parametrize("language", OTHERS)
def test_every_question_ships_translated(language):
    rows, failures = shipped_rows(own_questions(), language)
    assert failures == [] and len(rows) == len(own_questions())
    for each, row in zip(own_questions(), rows, strict=True):
        assert translation_problem(each.text, row.text, language) == ""
        assert row.text[-1] in "?.؟。？"
        numbers = Counter(re.findall(r"\d+", PLACEHOLDER.sub("", each.text)))
        assert numbers == Counter(re.findall(r"\d+", PLACEHOLDER.sub("", row.text)))


def test_shipped_rows_are_unreviewed_and_belong_to_questions():
    rows = [row for language in OTHERS for row in own_translations()[language]]
    known = {each.question_id for each in own_questions()}
    assert {row.question_id for row in rows} == known
    assert not any(row.reviewed for row in rows)
    assert len({(row.question_id, row.language) for row in rows}) == len(rows) == 4 * len(known)
    assert all(set(LANGUAGE_FILES[language].translations) == known for language in OTHERS)


def test_hausa_is_written_with_its_hooked_letters():
    text = " ".join(row.text for row in own_translations()["ha"])
    for plain in ("daki", "daya", "karshe", "kirga", "'yar"):
        assert not re.search(rf"\b{plain}\b", text)
    assert all(text.count(letter) >= 5 for letter in "ɗƙ") and "ɓ" in text


# Marks

NAMES = st.sampled_from(["{d1}", "{d2}", "{d10}", "{t1}", "{t2}"])
PROSE = st.text(
    st.characters(codec="utf-8", exclude_characters="{}[]⟦⟧_xX", exclude_categories=["C"])
)


@given(st.lists(st.one_of(NAMES, PROSE)), st.sampled_from(MARK_STYLES))
def test_what_is_protected_is_restored(parts, style):
    text = "".join(parts)
    hidden = protect(text, style)
    assert not PLACEHOLDER.search(hidden) and restore(hidden, style) == text
    assert restore(text, style) == text


@pytest.mark.parametrize(
    ("text", "style", "expected"),
    [
        ("am ⟦D1⟧ um ⟦T1⟧", "⟦{}⟧", "am {d1} um {t1}"),
        ("⟦ d 1 ⟧", "⟦{}⟧", "{d1}"),
        ("في [D٢]", "[{}]", "في {d2}"),
        ("在［D1］", "[{}]", "在［D1］"),
        ("__D12__", "__{}__", "{d12}"),
        ("XD1X", "X{}X", "{d1}"),
        ("⟦D⟧ ⟦E1⟧ ⟦D1", "⟦{}⟧", "⟦D⟧ ⟦E1⟧ ⟦D1"),
    ],
)
def test_restoring_forgives_spelling_but_no_damage(text, style, expected):
    assert restore(text, style) == expected


SOURCE = "On {d1} at {t1}, or on {d1}: what is 1000 days later?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Am {d1} um {t1}, oder am {d1}: was ist 1000 Tage danach?", ""),
        ("Am {d1} um {t1}: was ist 1000 Tage danach?", "lost {d1}"),
        ("Am {d1} um {t1}, oder {d1}, {d1}?", "{d1} more"),
        ("Am {d1} um {t1}, oder am {d1} und {d2}?", "{d2} more"),
        ("Am {d1} um {t1}, oder am {d1} {x}?", "brace"),
        ("Am {d1}{t1}, oder am {d1}?", "touches"),
        ("Am 3{d1} um {t1}, oder am {d1}?", "touches"),
        ("Am {d1}te um {t1}, oder am {d1}?", "touches"),
    ],
)
def test_placeholders_survive_exactly(text, message):
    problem = placeholder_problem(SOURCE, text)
    assert (problem == "") if not message else message in problem


@pytest.mark.parametrize(
    ("text", "language", "message"),
    [
        ("{d1}之后21天是哪一天？", "zh", ""),
        ("", "zh", "empty"),
        ("Which date is 21 days after {d1}?", "de", "English"),
        ("Das Datum 21 Tage nach {d1}?\nGerne!", "de", "several lines"),
        ("Wann ist " + "es " * 80 + "{d1}?", "de", "longer"),
        ("{d1}", "de", "shorter"),
        ("Welches Datum ist 21 Tage nach {d1} [D2]?", "de", "mark"),
        ("Welches Datum ist 21 Tage nach {d1} ⟦?", "de", "mark"),
        ("Welches Datum ist 21 Tage nach {d1} D1X?", "de", "mark"),
        ("Which day is 21 days past {d1}?", "zh", "script"),
        ("Which day is 21 days past {d1}?", "ar", "script"),
        ("Welches Datum ist 2024 21 Tage nach {d1}?", "de", "2024"),
        ("ما هو التاريخ بعد ٢٠٢٤ يومًا من {d1}؟", "ar", "2024"),
        ("ما هو التاريخ بعد ٢١ يومًا من {d1}؟", "ar", ""),
        ("ما هو التاريخ بعد ٢١ يومًا من \u200f{d1}؟", "ar", ""),
        ("ما هو التاريخ \u202eبعد ٢١ يومًا من {d1}؟", "ar", "override of direction"),
        ("Welches Datum ist 21 Tage nach {d1}\x00?", "de", "control character"),
        ("Welches Datum ist 21 Tage nach {d1}\ud800?", "de", "control character"),
    ],
)
def test_what_is_no_translation(text, language, message):
    source = "Which date is 21 days after {d1}?"
    problem = translation_problem(source, text, language, "⟦{}⟧" if "⟦" in text else "[{}]")
    assert (problem == "") if not message else message in problem


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("  „Wann?“\n", "Wann?"),
        ('"Wann?"', "Wann?"),
        ('"A" oder "B"', '"A" oder "B"'),
        ('"', '"'),
        ("„A“ und „B“", "„A“ und „B“"),
    ],
)
def test_quotation_marks_around_the_whole_go(reply, expected):
    assert clean(reply) == expected


# Machine translators


class Fake(Backend):
    """Answers with `answer(marked text)`; counts what it was asked."""

    name = "fake"

    def __init__(self, answer, spec=None, mode="non_thinking"):
        super().__init__(spec or model_spec("fake", ENTRY), mode)
        self.answer, self.asked, self.closed = answer, [], False

    @property
    def version(self):
        return "0"

    def identity(self):
        return {}

    def generate(self, requests):
        for request in requests:
            content = request.messages[-1]["content"]
            self.asked.append(content)
            text = self.answer(content.rsplit("Text: ", 1)[-1])
            usage = {"prompt": 1, "completion": 1, "reasoning": None}
            failed = text is None
            yield Response(
                request.request_id,
                request.item_id,
                self.spec.name,
                self.mode,
                text or "",
                "error" if failed else ("length" if text.endswith("…") else "stop"),
                usage,
                self.name,
                self.version,
                1,
                error="HTTP 500" if failed else None,
            )

    def close(self):
        self.closed = True


def german(text):
    return "Übersetzt: " + text.lower().capitalize()


def ask(backend, questions, store, styles=MARK_STYLES, language="de"):
    return machine_rows(
        questions,
        language,
        backend,
        str(store),
        translator="model:fake",
        max_new_tokens=99,
        styles=styles,
    )


def test_a_model_translates_and_no_translation_is_paid_twice(tmp_path):
    backend = Fake(german)
    rows, failures = ask(backend, own_questions(), tmp_path / "de.jsonl")
    assert failures == [] and len(rows) == len(own_questions()) == len(backend.asked)
    assert {(r.language, r.translator, r.reviewed) for r in rows} == {("de", "model:fake", False)}
    for each, row, asked in zip(own_questions(), rows, backend.asked, strict=True):
        assert row.question_id == each.question_id
        assert Counter(PLACEHOLDER.findall(row.text)) == Counter(PLACEHOLDER.findall(each.text))
        assert not PLACEHOLDER.search(asked) and "⟦D1⟧" in asked and "German" in asked
    again = Fake(german)
    assert ask(again, own_questions(), tmp_path / "de.jsonl") == (rows, [])
    assert again.asked == []
    more = [*own_questions(), question()]
    ask(again, more, tmp_path / "de.jsonl")
    assert len(again.asked) == 1


def test_the_next_marks_are_tried_for_what_failed_alone(tmp_path):
    def loses_rare_brackets(text):
        lost = "library" in text.lower()
        return german(text.replace("⟦", "").replace("⟧", "") if lost else text)

    backend = Fake(loses_rare_brackets)
    rows, failures = ask(backend, own_questions(), tmp_path / "de.jsonl")
    assert failures == [] and len(rows) == len(own_questions())
    assert len(backend.asked) == len(own_questions()) + 1
    assert "[D1]" in backend.asked[-1] and "library" in backend.asked[-1]


def test_what_fails_with_every_style_is_never_passed_on(tmp_path):
    def forgets(text):
        return german(text) if "library" not in text else "Wann muss das Buch zurück?"

    backend = Fake(forgets)
    rows, failures = ask(backend, own_questions(), tmp_path / "de.jsonl")
    assert len(rows) == len(own_questions()) - 1
    assert len(backend.asked) == len(own_questions()) + len(MARK_STYLES) - 1
    [failure] = failures
    assert failure.question_id == own_questions()[0].question_id and failure.language == "de"
    assert "lost {d1}" in failure.reason and "XD1X" in failure.reason
    with pytest.raises(TranslationError) as caught:
        assemble(own_questions(), rows, failures)
    message = str(caught.value)
    assert failure.question_id in message and "(de)" in message and "overrides" in message
    row = json.loads(message.splitlines()[-1])
    with pytest.raises(RecordError, match="name the reviewer"):
        Override.from_json(row)  # nobody has filled it in
    assert Override.from_json(row | {"reviewer": "r"}).text == own_questions()[0].text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(lambda _: None, "HTTP 500"), (lambda text: german(text) + "…", "max_new_tokens")],
)
def test_errors_and_cut_translations_are_failures(tmp_path, answer, reason):
    rows, [failure] = ask(Fake(answer), [question()], tmp_path / "de.jsonl")
    assert rows == [] and reason in failure.reason


def test_a_text_that_looks_like_marks_gets_other_marks(tmp_path):
    backend = Fake(german)
    odd = question(text="In the list [D1] and ⟦D1⟧, which date is 21 days after {d1}?")
    rows, failures = ask(backend, [odd], tmp_path / "de.jsonl")
    assert failures == [] and "__D1__" in backend.asked[0] and len(backend.asked) == 1
    worse = question(text="[D1] ⟦D1⟧ __D1__ XD1X: which date is 21 days after {d1}?")
    rows, [failure] = ask(backend, [worse], tmp_path / "de.jsonl")
    assert rows == [] and "style" in failure.reason


@pytest.mark.parametrize("language", ["en", "fr"])
def test_only_the_other_languages_are_translated_into(tmp_path, language):
    with pytest.raises(DataError, match="cannot translate"):
        ask(Fake(german), [question()], tmp_path / "x.jsonl", language=language)


# Overrides


def override(each, language="de", text=None, reviewer="B. Leser"):
    return Override(each.question_id, language, text or f"Anders: {each.text}", reviewer)


def test_a_reviewer_wins():
    first, second = own_questions()[:2]
    rows = override_rows(own_questions(), "de", [override(first), override(second, "zh")])
    assert [(row.question_id, row.reviewed) for row in rows] == [(first.question_id, True)]
    assert rows[0].translator == "override:B. Leser"
    shipped = own_translations()["de"]
    finished = assemble(own_questions(), [*shipped, *rows], [])
    assert finished[0] == rows[0] and finished[1:] == shipped[1:]


def test_stale_or_mistyped_overrides_are_errors():
    first = own_questions()[0]
    changed = question(text=first.text + " Say so.", dates=tuple(first.dates))
    with pytest.raises(DataError, match=r"no question has this id.*changed"):
        override_rows([changed], "de", [override(first)])
    with pytest.raises(DataError, match="no question has this id"):
        override_rows([changed], "zh", [override(first, "de")])
    known = [first.question_id]
    assert override_rows([changed], "de", [override(first)], known) == []


def test_damaged_and_doubled_overrides_are_errors():
    first = own_questions()[0]
    with pytest.raises(DataError, match="lost"):
        override_rows(own_questions(), "de", [override(first, text="Wann?")])
    with pytest.raises(DataError, match="twice"):
        override_rows(own_questions(), "de", [override(first), override(first)])


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (Translation, {"language": "fr"}),
        (Translation, {"reviewed": "no"}),
        (Translation, {"text": 3}),
        (Translation, {"question_id": ["q"]}),
        (Translation, {"translator": 5}),
        (Translation, {"text": "\x00Wann?"}),
        (Override, {"language": "xx"}),
        (Override, {"reviewer": None}),
        (Override, {"reviewer": " "}),
        (Override, {"question_id": ["q"]}),
        (Override, {"text": "\u202eWann?"}),
        (Override, {"text": "\ud800Wann?"}),
    ],
)
def test_rows_that_are_none_are_refused(kind, change):
    row = {"question_id": "q", "language": "de", "text": "Wann?"}
    row |= {"translator": "t", "reviewed": False} if kind is Translation else {"reviewer": "r"}
    assert kind.from_json(row).to_json() == row
    with pytest.raises(RecordError):
        kind.from_json(row | change)


def test_shipped_translations_may_be_incomplete_or_damaged(monkeypatch):
    first, second = own_questions()[:2]
    damaged = replace(LANGUAGE_FILES["de"], translations={first.question_id: "Wann?"})
    monkeypatch.setattr(translation, "LANGUAGES", {"de": damaged})
    rows, failures = shipped_rows([first, second], "de")
    assert rows == [] and [f.question_id for f in failures] == [
        first.question_id,
        second.question_id,
    ]
    place = "data/languages/de.yaml: translations.texts."
    assert failures[0].reason.startswith(f"{place}{first.question_id}: lost")
    assert failures[1].reason.startswith(f"{place}{second.question_id}: missing; add it")
    assert translation.as_row(failures[0])["language"] == "de"


def test_a_question_that_nobody_translated_is_noticed():
    with pytest.raises(DataError, match="not translated at all"):
        assemble(own_questions(), source_rows(own_questions()[1:]), [])


# The rule


def job(tmp_path, language, method="shipped", **changes):
    inputs = {"questions": QUESTIONS, "overrides": OVERRIDES} | changes.pop("inputs", {})
    params = {
        "language": language,
        "method": method,
        "name": "fake",
        "entry": ENTRY,
        "local": {},
        "max_new_tokens": 64,
        "known_questions": sorted(LANGUAGE_FILES["de"].translations),
        "store": str(tmp_path / f"store.{language}.jsonl"),
    }
    return SimpleNamespace(
        input=Named(**inputs),
        output=SimpleNamespace(translations=tmp_path / f"{language}.jsonl"),
        params=SimpleNamespace(**(params | changes)),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_rule_with_shipped_translations(tmp_path, language):
    translate_questions.main(job(tmp_path, language))
    rows = read_records(tmp_path / f"{language}.jsonl", Translation)
    assert rows == own_translations()[language]
    assert {row.translator for row in rows} == {"source" if language == "en" else "project"}


def test_rule_with_an_override(tmp_path):
    overrides = tmp_path / "overrides.jsonl"
    write_records(overrides, [override(own_questions()[3])])
    translate_questions.main(job(tmp_path, "de", inputs={"overrides": overrides}))
    rows = read_records(tmp_path / "de.jsonl", Translation)
    assert [row.reviewed for row in rows].index(True) == 3 and sum(r.reviewed for r in rows) == 1


def test_rule_refuses_an_override_for_no_question(tmp_path):
    overrides = tmp_path / "overrides.jsonl"
    overrides.write_bytes(dump_line(override(question()).to_json()))
    with pytest.raises(DataError, match="no question has this id"):
        translate_questions.main(job(tmp_path, "de", inputs={"overrides": overrides}))
    assert not (tmp_path / "de.jsonl").exists()


def test_rule_with_a_model_of_the_roster(tmp_path, monkeypatch):
    made = []

    def create(spec, mode):
        made.append(Fake(german, spec, mode))
        return made[-1]

    monkeypatch.setattr(translate_questions, "create_backend", create)
    overrides = tmp_path / "overrides.jsonl"
    write_records(overrides, [override(own_questions()[0])])
    work = job(tmp_path, "de", "model", inputs={"overrides": overrides})
    translate_questions.main(work)
    first = (tmp_path / "de.jsonl").read_bytes()
    assert len(made[0].asked) == len(own_questions()) - 1, "a reviewer's question is not paid for"
    assert made[0].mode == "non_thinking" and made[0].closed
    translate_questions.main(work)
    assert made[1].asked == [] and (tmp_path / "de.jsonl").read_bytes() == first
    rows = read_records(tmp_path / "de.jsonl", Translation)
    assert Counter(row.translator for row in rows) == {
        "model:fake": len(own_questions()) - 1,
        "override:B. Leser": 1,
    }


def test_rule_with_a_real_model_that_cannot_translate(tmp_path, capsys):
    folder = tiny_models.save(tmp_path / "model", tiny_models.llama())
    entry = ENTRY | {"source": str(folder), "modes": ["non_thinking"], "thinking": None}
    questions = tmp_path / "questions.jsonl"
    write_records(questions, own_questions()[:2])
    work = job(
        tmp_path, "zh", "model", entry=entry, max_new_tokens=8, inputs={"questions": questions}
    )
    with pytest.raises(TranslationError, match="2 question"):
        translate_questions.main(work)
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line]
    assert [Override.from_json(row | {"reviewer": "r"}).text for row in printed] == [
        each.text for each in own_questions()[:2]
    ]
    assert not (tmp_path / "zh.jsonl").exists()
    stored = ResponseStore(work.params.store).load().answers
    assert len(stored) == 2 * len(MARK_STYLES), "what was paid for is kept"


def test_rule_needs_a_known_method(tmp_path):
    with pytest.raises(DataError, match="known: shipped, model, local"):
        translate_questions.main(job(tmp_path, "de", "guess"))


def test_rule_with_every_question_overridden_asks_nobody(tmp_path):
    questions, overrides = tmp_path / "questions.jsonl", tmp_path / "overrides.jsonl"
    write_records(questions, own_questions()[:1])
    write_records(overrides, [override(own_questions()[0])])
    inputs = {"questions": questions, "overrides": overrides}
    translate_questions.main(job(tmp_path, "de", "local", inputs=inputs))
    assert read_records(tmp_path / "de.jsonl", Translation)[0].reviewed


# A local translation model


def nllb_tokenizer():
    """NLLB's own class over single characters."""
    from transformers import NllbTokenizer

    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *map(chr, range(33, 127))]
    return NllbTokenizer(vocab={piece: n for n, piece in enumerate(pieces)}, merges=[])


def madlad_tokenizer():
    tokenizer = tiny_models.tokenizer(None)
    marks = [local_translation.MADLAD_MARKS[language] for language in LANGUAGES]
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    return tokenizer


def save_translator(folder, kind):
    """A tiny random NLLB or MADLAD: the real architecture, few characters as vocabulary."""
    from transformers import (
        M2M100Config,
        M2M100ForConditionalGeneration,
        T5Config,
        T5ForConditionalGeneration,
    )

    tokenizer = nllb_tokenizer() if kind == "nllb" else madlad_tokenizer()
    torch.manual_seed(0)
    shared = {
        "vocab_size": len(tokenizer),
        "d_model": 16,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    if kind == "nllb":
        config = M2M100Config(
            **shared,
            decoder_start_token_id=tokenizer.eos_token_id,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_position_embeddings=512,
            init_std=0.5,
        )
        model = M2M100ForConditionalGeneration(config)
    else:
        start = tokenizer.pad_token_id
        config = T5Config(
            **shared, decoder_start_token_id=start, d_kv=8, d_ff=16, num_layers=1, num_heads=2
        )
        model = T5ForConditionalGeneration(config)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def translators(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translators")
    return {kind: save_translator(folder / kind, kind) for kind in ("nllb", "madlad")}


def local(folder, **more):
    return {"source": str(folder), "revision": "main", "beams": 2, "batch": 3} | more


def marked(count=4, limit=6):
    decoding = translation.GREEDY | {"max_new_tokens": limit}
    return [
        Request.create(
            each.question_id,
            {},
            translation.plain_messages(protect(each.text, "[{}]"), "de", "[{}]"),
            decoding,
        )
        for each in own_questions()[:count]
    ]


@pytest.mark.parametrize("kind", ["nllb", "madlad"])
def test_a_local_model_answers_every_request(translators, kind):
    backend = LocalTranslator(local_spec(local(translators[kind])), "de")
    requests = marked()
    batches = list(backend.generate_batches(requests))
    assert [len(batch) for batch in batches] == [3, 1]
    responses = [response for batch in batches for response in batch]
    asked = {request.request_id: request.messages[-1]["content"] for request in requests}
    assert {r.request_id for r in responses} == {r.request_id for r in requests}
    for response in responses:
        assert response.backend == "seq2seq" and response.finish_reason in ("stop", "length")
        count = len(local_translation.sentences(asked[response.request_id]))
        assert response.usage["prompt"] > 20 and 0 < response.usage["completion"] <= 6 * count
        assert "<2" not in response.text and "_Latn" not in response.text
    alone = {
        response.request_id: response.text
        for request in requests
        for response in backend.generate([request])
    }
    assert alone == {response.request_id: response.text for response in responses}
    backend.close()


def test_sentences_are_translated_one_by_one():
    split = local_translation.sentences
    assert split("A fire on [D1]. [D2] was calm. Why?") == [
        "A fire on [D1].",
        "[D2] was calm.",
        "Why?",
    ]
    assert split("In St. John's at XT1X. What now?") == ["In St. John's at XT1X.", "What now?"]
    assert split("It is 3 p.m. In Rome?") == ["It is 3 p.m. In Rome?"]
    for each in own_questions():
        for style in LOCAL_MARK_STYLES:
            parts = split(protect(each.text, style))
            assert " ".join(parts) == protect(each.text, style)
            assert len(parts) == len(re.findall(r"[a-z}][.?](?= [A-Z]|$)", each.text)) - (
                "St. John" in each.text
            )


def test_the_target_language_reaches_the_model(translators):
    texts = {}
    for kind in ("nllb", "madlad"):
        for language in ("de", "ha"):
            backend = LocalTranslator(local_spec(local(translators[kind])), language)
            texts[kind, language] = [r.text for r in backend.generate(marked(limit=12))]
    assert texts["nllb", "de"] != texts["nllb", "ha"]
    backend._load()
    prefix, options = backend._target()
    assert (prefix, options) == ("<2ha> ", {})
    backend = LocalTranslator(local_spec(local(translators["nllb"])), "zh")
    backend._load()
    vocabulary = models.load_tokenizer(backend.spec).get_vocab()
    assert backend._target() == ("", {"forced_bos_token_id": vocabulary["zho_Hans"]})
    source = backend._tokenizer("When?").input_ids
    assert source[0] == vocabulary["eng_Latn"] and source[-1] == vocabulary["</s>"]


def test_languages_do_not_share_stored_translations(translators):
    spec = local_spec(local(translators["nllb"]))
    identities = [LocalTranslator(spec, language).identity() for language in OTHERS]
    assert len({json.dumps(identity) for identity in identities}) == len(OTHERS)


def test_rule_with_a_local_model(tmp_path, translators, monkeypatch):
    questions = tmp_path / "questions.jsonl"
    write_records(questions, own_questions()[:3])
    folder = local(translators["nllb"])
    work = job(
        tmp_path, "de", "local", local=folder, max_new_tokens=6, inputs={"questions": questions}
    )
    with pytest.raises(TranslationError, match="3 question"):
        translate_questions.main(work)
    stored = ResponseStore(work.params.store).load().answers
    assert len(stored) == 3 * len(LOCAL_MARK_STYLES)

    def echo(self, batch):
        rows = Fake(german, self.spec).generate(batch)
        return list(rows)

    monkeypatch.setattr(LocalTranslator, "_translate", echo)
    work.params.max_new_tokens = 7
    translate_questions.main(work)
    rows = read_records(tmp_path / "de.jsonl", Translation)
    assert {row.translator for row in rows} == {f"local:{translators['nllb']}"}
    assert rows[0].text.startswith("Übersetzt: ") and "{d1}" in rows[0].text


@pytest.mark.parametrize(
    ("change", "language", "message"),
    [
        ({"source": ""}, "de", "translation.local.source"),
        ({"revision": None}, "de", "translation.local.revision"),
        ({"source": "no/such:model"}, "de", "prepared folder"),
        ({}, "fr", "no code"),
    ],
)
def test_local_models_that_cannot_be(translators, change, language, message):
    with pytest.raises(BackendError, match=message):
        spec = local_spec(local(translators["nllb"]) | change)
        list(LocalTranslator(spec, language).generate(marked(1)))


def test_a_causal_model_is_no_translator(tmp_path):
    folder = tiny_models.save(tmp_path, tiny_models.llama())
    with pytest.raises(BackendError, match="as a translation model"):
        list(LocalTranslator(local_spec(local(folder)), "de").generate(marked(1)))


def test_a_translator_without_the_language_is_refused(translators, monkeypatch):
    backend = LocalTranslator(local_spec(local(translators["nllb"])), "de")
    monkeypatch.setitem(local_translation.NLLB_CODES, "de", "xxx_Latn")
    with pytest.raises(BackendError, match="neither xxx_Latn"):
        list(backend.generate(marked(1)))


def test_many_failures_are_named_in_part_and_templated_in_full():
    failures = [Untranslated(each.question_id, "ha", "lost {d1}") for each in own_questions()]
    error = TranslationError(failures, own_questions())
    assert f"{failures[0].question_id} (ha): lost {{d1}}" in str(error)
    assert failures[-1].question_id not in str(error)
    assert f"and {len(failures) - translation.SHOWN} more" in str(error)
    assert len(error.template.splitlines()) == len(failures) == len(error.failures)
