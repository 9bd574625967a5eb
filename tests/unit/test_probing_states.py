"""Reading hidden states: which token, all layers, and the file."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from safetensors import safe_open
from tokenizers import Tokenizer, processors

from scripts.files import DataError, iterate_jsonl
from scripts.inference import models
from scripts.inference.interface import BackendError
from scripts.inference.registry import model_spec
from scripts.probing import states, texts
from scripts.probing.state_files import Cell, StateError, layer_name, open_states
from scripts.probing.texts import DateSentence

ROOT = Path(__file__).parents[2]
TEMPLATES = texts.load_templates(["ar", "en"])
LANGUAGES, FORMATS = ("ar", "en"), ("iso", "long")
DAYS = [date(2000 + i, 1 + i, 28 - i) for i in range(4)]
SENTENCES = texts.date_sentences(TEMPLATES, DAYS, LANGUAGES, FORMATS)
ENTRY = {
    "backend": "vllm", "source": "org/tiny", "revision": "1", "precision": "float32",
    "modes": ["non_thinking"],
}  # fmt: skip


@pytest.fixture(scope="module", params=["llama", "gemma"])
def model(request: pytest.FixtureRequest) -> Any:
    torch.set_num_threads(1)
    return {"llama": tiny_models.llama, "gemma": tiny_models.gemma}[request.param]().eval()


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tiny_models.tokenizer()


def with_specials() -> Any:
    """The byte tokenizer with a token before and one after every text."""
    made = tiny_models.tokenizer()
    core: Tokenizer = made.backend_tokenizer
    special = [("<|im_start|>", 256), ("<|im_end|>", 257)]
    core.post_processor = processors.TemplateProcessing(
        single="<|im_start|> $A <|im_end|>", special_tokens=special
    )
    return made


# --- which tokens ---------------------------------------------------------------------------------


def test_date_tokens_are_the_bytes_of_the_visible_date(tokenizer: Any) -> None:
    for sentence in SENTENCES:
        found = states.locate(tokenizer, sentence)
        size = len(sentence.text.encode())
        before = len(sentence.text[: sentence.start].encode())
        inside = len(sentence.text[sentence.start : sentence.end].encode())
        assert found.date == tuple(range(before, before + inside))
        assert found.last == size - 1 and len(found.ids) == size and found.leading_special == 0
        # The mark behind the Arabic ISO date (three bytes) is no part of the date.
        arabic_iso = (sentence.language, sentence.format) == ("ar", "iso")
        assert found.last - found.date[-1] == (3 if arabic_iso else 0)


def test_special_tokens_are_kept_and_never_read() -> None:
    sentence = SENTENCES[-1]
    plain = states.locate(tiny_models.tokenizer(), sentence)
    found = states.locate(with_specials(), sentence)
    assert found.ids == (256, *plain.ids, 257)
    assert found.leading_special == 1
    assert found.date == tuple(index + 1 for index in plain.date)
    assert found.last == plain.last + 1  # not the token after the text


def test_a_token_that_also_covers_the_space_before_belongs_to_the_date() -> None:
    sentence = DateSentence("en", "iso", date(2000, 1, 1), "On 2000", 3, 7)
    encoding = {"input_ids": [5, 6, 7], "offset_mapping": [(0, 2), (2, 5), (5, 7)]}
    cuts = _Fixed(encoding)
    assert states.locate(cuts, sentence).date == (1, 2)
    nowhere = _Fixed({"input_ids": [5], "offset_mapping": [(0, 2)]})
    with pytest.raises(StateError, match="no token covers"):
        states.locate(nowhere, sentence)
    with pytest.raises(StateError, match="no character offsets"):
        states.locate(SimpleNamespace(is_fast=False), sentence)


class _Fixed:
    """A tokenizer that gives one encoding."""

    is_fast = True

    def __init__(self, encoding: dict[str, Any]) -> None:
        self.encoding = encoding

    def __call__(self, text: str, **options: Any) -> dict[str, Any]:
        return self.encoding


# --- extraction -----------------------------------------------------------------------------------


def expected(model: Any, position: states.Position) -> dict[str, torch.Tensor]:
    """The states of one text from an ordinary forward pass of the whole model."""
    with torch.no_grad():
        out = model(torch.tensor([position.ids]), output_hidden_states=True)
    layers = torch.stack([state[0] for state in out.hidden_states])
    return {
        "last_date_token": layers[:, position.date[-1]],
        "last_token": layers[:, position.last],
        "mean_date": layers[:, list(position.date)].mean(dim=1),
    }


def test_extraction_reads_what_a_forward_pass_of_each_text_gives(
    model: Any, tokenizer: Any
) -> None:
    positions = [states.locate(tokenizer, sentence) for sentence in SENTENCES]
    read = states.extract(model, SENTENCES, positions)
    layers = model.config.num_hidden_layers + 1
    assert set(read) == set(states.TOKENS)
    for index, position in enumerate(positions):
        for token, value in expected(model, position).items():
            assert read[token].shape == (len(SENTENCES), layers, 32)
            torch.testing.assert_close(read[token][index], value, rtol=1e-5, atol=1e-5)


def test_batches_change_nothing(model: Any, tokenizer: Any) -> None:
    positions = [states.locate(tokenizer, sentence) for sentence in SENTENCES]
    alone = states.extract(model, SENTENCES, positions, batch_size=1)
    for size in (3, 64):
        together = states.extract(model, SENTENCES, positions, batch_size=size)
        for token in states.TOKENS:
            torch.testing.assert_close(together[token], alone[token], rtol=1e-5, atol=1e-6)


def test_batches_hold_one_length_and_every_text_once(model: Any) -> None:
    sequences = [[1, 2, 3], [4, 5], [6, 7, 8], [9, 9, 9], [3, 4]]
    seen: list[int] = []
    for indices, layers in models.state_batches(model, sequences, size=2):
        assert len(indices) <= 2 and len(layers) == model.config.num_hidden_layers + 1
        assert {len(sequences[i]) for i in indices} == {layers[0].shape[1]}
        seen += indices
    assert sorted(seen) == list(range(5))


def test_only_the_positions_asked_for(model: Any, tokenizer: Any) -> None:
    positions = [states.locate(tokenizer, sentence) for sentence in SENTENCES[:2]]
    assert list(states.extract(model, SENTENCES[:2], positions, ["mean_date"])) == ["mean_date"]
    with pytest.raises(DataError, match="first_token"):
        states.extract(model, SENTENCES[:2], positions, ["first_token"])


def test_bfloat16_states_stay_bfloat16(tokenizer: Any, tmp_path: Path) -> None:
    model = tiny_models.llama().eval().to(torch.bfloat16)
    positions = [states.locate(tokenizer, sentence) for sentence in SENTENCES]
    read = states.extract(model, SENTENCES, positions)
    assert {tensor.dtype for tensor in read.values()} == {torch.bfloat16}
    states.write_states(tmp_path / "s.safetensors", read)
    states.write_index(tmp_path / "s.jsonl", SENTENCES, positions)
    with open_states(tmp_path / "s.safetensors", tmp_path / "s.jsonl") as file:
        cell = file.cell("en", "long", "last_token")
        assert cell.states.dtype == np.float32
        wanted = read["last_token"][12:].float().numpy()
        np.testing.assert_array_equal(cell.states, wanted)


def test_a_state_that_is_no_number_names_text_and_layer(tokenizer: Any) -> None:
    model = tiny_models.llama().eval()
    positions = [states.locate(tokenizer, sentence) for sentence in SENTENCES[:1]]
    with torch.no_grad():
        model.model.layers[1].mlp.down_proj.weight.fill_(float("inf"))
    with pytest.raises(StateError) as error:
        states.extract(model, SENTENCES[:1], positions)
    assert repr(SENTENCES[0].text) in str(error.value)
    assert "layer 2 (block 2)" in str(error.value) and "bfloat16" in str(error.value)


def test_a_model_that_does_not_give_all_layers_is_refused() -> None:
    model = tiny_models.llama()
    model.config.num_hidden_layers = 9
    with pytest.raises(BackendError, match="4 hidden states, expected 10"):
        next(models.state_batches(model, [[1, 2]]))


def test_layers_have_names() -> None:
    names = [layer_name(layer, 3) for layer in range(4)]
    assert names == ["embeddings", "block 1", "block 2", "block 3, final norm"]


# --- the file -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("states")
    model, tokenizer = tiny_models.llama().eval(), tiny_models.tokenizer()
    positions = [states.locate(tokenizer, sentence) for sentence in SENTENCES]
    path, index = folder / "m.safetensors", folder / "m.jsonl"
    states.write_states(path, states.extract(model, SENTENCES, positions))
    states.write_index(index, SENTENCES, positions)
    return path, index


def test_the_file_gives_back_the_cells(written: tuple[Path, Path]) -> None:
    with safe_open(written[0], framework="pt") as tensors:
        whole = tensors.get_tensor("mean_date").numpy()
    with open_states(*written) as file:
        assert file.shape == (16, 4, 32) and file.last_layer == 3
        assert file.tokens == states.TOKENS
        assert file.groups() == [(lang, form) for lang in LANGUAGES for form in FORMATS]
        cell = file.cell("ar", "long", "mean_date")
    np.testing.assert_array_equal(cell.states, whole[4:8])
    assert cell.years.tolist() == [2000, 2001, 2002, 2003]
    assert cell.months.tolist() == [1, 2, 3, 4] and cell.days.tolist() == [28, 27, 26, 25]
    assert cell.year_states(2).shape == (4, 32)


def test_year_states_are_means_over_the_dates_of_a_year() -> None:
    values = np.arange(12, dtype=np.float32).reshape(4, 1, 3)
    years = np.array([1991, 1990, 1991, 1990])
    cell = Cell(values, years, years, years)
    assert cell.year_values.tolist() == [1990, 1991]
    assert cell.year_states(0).tolist() == [[6.0, 7.0, 8.0], [3.0, 4.0, 5.0]]


def test_same_states_same_bytes(written: tuple[Path, Path], tmp_path: Path) -> None:
    with safe_open(written[0], framework="pt") as tensors:
        read = {name: tensors.get_tensor(name) for name in reversed(list(tensors.keys()))}
    states.write_states(tmp_path / "again.safetensors", read)
    assert (tmp_path / "again.safetensors").read_bytes() == written[0].read_bytes()
    assert list(tmp_path.iterdir()) == [tmp_path / "again.safetensors"]


def test_the_index_says_what_was_read(written: tuple[Path, Path]) -> None:
    rows = [row for _, row in iterate_jsonl(written[1])]
    assert [row["text"] for row in rows] == [sentence.text for sentence in SENTENCES]
    first = rows[0]
    assert first["date"] == "2000-01-28" and first["language"] == "ar"
    assert (first["year"], first["month"], first["day"]) == (2000, 1, 28)
    assert len(first["date_tokens"]) == 10 and first["tokens"] == first["last_token"] + 1


def test_damaged_and_foreign_files_are_refused(written: tuple[Path, Path], tmp_path: Path) -> None:
    path, index = written
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(path.read_bytes()[:200])
    with (
        pytest.raises(StateError, match="not a file of states"),
        open_states(damaged, index),
    ):
        pass
    short = tmp_path / "short.jsonl"
    lines = index.read_bytes().splitlines(keepends=True)
    short.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(StateError, match="16 states for 15 rows"), open_states(path, short):
        pass
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_bytes(b"".join(lines[::2] + lines[1::2]))
    with (
        open_states(path, mixed) as file,
        pytest.raises(StateError, match="do not stand together"),
    ):
        file.cell("ar", "iso", "mean_date")
    other = tmp_path / "other.safetensors"
    states.write_states(other, {"weights": torch.ones(2, 2)})
    with pytest.raises(StateError, match="no states of"), open_states(other, index):
        pass


# --- models larger than one GPU -------------------------------------------------------------------


def test_a_model_is_spread_only_where_it_needs_several_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tiny_models.save(tmp_path, tiny_models.llama()))
    asked: list[dict[str, Any]] = []
    real = models.AutoModelForCausalLM.from_pretrained

    def from_pretrained(where: str, **options: Any) -> Any:
        asked.append(dict(options))
        options.pop("device_map", None)
        loaded, report = real(where, **options)
        loaded.to = lambda device: asked[-1].update(moved=device)
        return loaded, report

    monkeypatch.setattr(models.AutoModelForCausalLM, "from_pretrained", from_pretrained)
    two = model_spec("m", {**ENTRY, "tensor_parallel": 2}, folder)
    models.load(two)  # no GPU here: the CPU serves
    assert asked[-1]["moved"] == "cpu" and "device_map" not in asked[-1]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    models.load(two)
    assert asked[-1]["device_map"] == "auto" and "moved" not in asked[-1]
    models.load(model_spec("m", ENTRY, folder))
    assert asked[-1]["moved"] == "cuda" and "device_map" not in asked[-1]
    models.load(two, device="cpu")
    assert asked[-1]["moved"] == "cpu"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(BackendError, match="needs 2 GPUs"):
        models.load(two)


# --- the embedded models' tokenizers --------------------------------------------------------------


@pytest.mark.model
@pytest.mark.parametrize(("name", "special"), [("smollm2-135m", 0), ("gemma3-270m", 1)])
def test_real_tokenizers_end_the_date_where_it_ends(name: str, special: int) -> None:
    folder = ROOT / "results/models" / name
    if not (folder / "tokenizer.json").is_file():
        pytest.skip(f"{name} is not converted")
    spec = model_spec(name, {**ENTRY, "source": f"embedded:{name}"}, str(folder))
    tokenizer = models.load_tokenizer(spec)
    days = [date(1999, 12, 31), date(2024, 2, 3)]
    sentences = texts.date_sentences(TEMPLATES, days, list(TEMPLATES), ["iso", "slash", "long"])
    for sentence in sentences:
        found = states.locate(tokenizer, sentence)
        assert found.leading_special == special
        offsets = tokenizer(sentence.text, return_offsets_mapping=True)["offset_mapping"]
        assert offsets[found.date[-1]][1] == sentence.end
        assert offsets[found.last][1] == len(sentence.text)
        assert list(found.date) == list(range(found.date[0], found.date[-1] + 1))
