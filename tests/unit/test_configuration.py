"""A mistake in the configuration is named with its key, its value and what is allowed."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.utils import update_config

from scripts.records import canonical_digest
from scripts.workflow.benchmarks import whole_schema
from scripts.workflow.configuration import (
    ConfigurationError,
    check_configuration,
    leave_out,
    read_yaml,
)
from scripts.workflow.consistency import gpus_needed


def load(repository: Path, *overlays: str) -> dict[str, Any]:
    config = read_yaml(repository / "config.yaml")
    for name in overlays:
        update_config(config, read_yaml(repository / "config" / name))
    return config


@pytest.fixture
def config(repository: Path) -> dict[str, Any]:
    return copy.deepcopy(load(repository))


ARCHIVED = {"label": "A", "backend": "archive", "source": "s", "modes": ["non_thinking"]}


@pytest.mark.parametrize("overlays", [(), ("embedded.yaml",), ("replay.yaml",)])
def test_shipped_configurations_are_valid(repository: Path, overlays: tuple[str, ...]) -> None:
    check_configuration(load(repository, *overlays))


def set_key(config: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split("/")
    for part in parents:
        config = config[part]
    config[last] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("run/seeds", 1, ["run.seeds: unknown key", "did you mean 'seed'?", "allowed here:"]),
        ("syntaxbenhc", {}, ["syntaxbenhc: unknown key", "did you mean 'syntaxbench'?"]),
        ("run/kind", "fast", ["run.kind: 'fast' is not allowed", "'embedded'"]),
        ("run/seed", "42", ["run.seed: '42' is a string, expected integer"]),
        ("run/seed", True, ["run.seed: True is a boolean, expected integer"]),
        ("run/results", "../elsewhere", ["run.results", "does not match"]),
        ("run/results", "results/../data", ["run.results", "does not match"]),
        ("models/qwen3.5-2b/backend", "llama", ["models.qwen3.5-2b.backend", "'vllm'"]),
        ("models/qwen3.5-2b/tokenizer", 7, ["models.qwen3.5-2b.tokenizer: 7 fits none", "hub"]),
        ("models/qwen3.5-2b/modes", [], ["models.qwen3.5-2b.modes: []"]),
        ("models/bad name", {}, ["bad name"]),
        ("syntaxbench/models", ["qwen3.5-2"], ["'qwen3.5-2' is not in models", "qwen3.5-2b"]),
        ("syntaxbench/models", ["majority"], ["'majority' has backend 'baseline'"]),
        ("syntaxbench/models", ["qwen3.5-2b"] * 2, ["listed twice: qwen3.5-2b"]),
        ("syntaxbench/shots", [4, 1], ["syntaxbench.shots: [4, 1] must be increasing"]),
        ("syntaxbench/headline_shots", 2, ["headline_shots: 2 is not one of shots"]),
        ("syntaxbench/demonstration_pool", 2, ["demonstration_pool: 2 is fewer than the 4"]),
        ("syntaxbench/demonstration_pool", 5, ["demonstration_pool", "not a multiple of 2"]),
        ("syntaxbench/document_words", [500, 200], ["document_words: 500 is above 200"]),
        ("syntaxbench/corpora/documents", "nowhere", ["'nowhere' is not in corpora"]),
        ("models/gpt-oss-20b/api_key_environment", "sk-SECRET", ["must be the NAME of an env"]),
        ("models/gpt-oss-20b/precision", None, ["models.gpt-oss-20b.precision: missing"]),
        ("models/qwen3.5-2b/source", "embedded:foo", ["'foo' is not in embedded_models"]),
        ("models/qwen3.5-2b/label", " ", ["models.qwen3.5-2b.label: only blanks"]),
        *(
            (
                "models/qwen3.5-2b",
                {**ARCHIVED, "archive": path},
                [f"models.qwen3.5-2b.archive: {path!r} cannot be read", "{model} and {mode}"],
            )
            for path in ("x/{foo}.jsonl", "x/{}.jsonl", "x/{model", "x/{model.x}.jsonl")
        ),
        ("models/qwen3.5-2b/backend", "archive", ["models.qwen3.5-2b.archive: missing"]),
        ("models/qwen3.6-27b/thinking/switch", "none", ["cannot tell two modes apart"]),
        ("syntaxbench/tasks/palindrome_test/items", 3, ["palindrome_test.items", "multiple of 2"]),
        ("syntaxbench/decoding/temperature", float("nan"), ["temperature: nan is not a finite"]),
        ("corpora/wikipedia/path", "data/raw/wiki/a.jsonl", ["must lie in data/raw/wikipedia/"]),
        ("multitempbench/models", ["gpt-4"], ["'gpt-4' is not in models", "did you mean 'gpt-4o'"]),
        (
            "multitempbench/analyses/probing",
            ["gpt-4o"],
            ["backend 'openai', which gives no hidden"],
        ),
        ("multitempbench/analyses/pca", "gpt-4o", ["analyses.pca: 'gpt-4o' is not in"]),
        ("multitempbench/analyses/examples", "gemma", ["analyses.examples", "'gemma3-4b'"]),
        ("multitempbench/quota/relation", {"wikipedia": 5}, ["relation.wikipedia: its reader"]),
        ("multitempbench/quota/relation", {"tram": 5}, ["'tram' is not in corpora"]),
        ("multitempbench/quota/relation", {"wikipedia": 0}, ["no source has any question"]),
        ("multitempbench/quota/relation", {"wikipedia": -1}, ["wikipedia: -1 is less than the"]),
        ("multitempbench/shots", [1], ["multitempbench.shots"]),
        (
            "multitempbench/languages/fr",
            {},
            ["there is no data/languages/fr.yaml", "ha"],
        ),
        ("multitempbench/translation/model", None, ["translation.model: missing"]),
        ("multitempbench/translation/model", "gpt-5", ["translation.model: 'gpt-5' is not in"]),
        ("multitempbench/judging/judges", ["gemini"], ["'gemini' is not in models"]),
        ("multitempbench/judging/judges", ["gpt-4o", "solver"], ["judges: 'solver' has backend"]),
        ("multitempbench/translation/model", "majority", ["model: 'majority' has backend"]),
        ("multitempbench/probing/years", [1990, 12000], ["years: [1990, 12000] must lie in 1 to"]),
        ("multitempbench/judging/primary", "gpt-4o-mini", ["primary: 'gpt-4o-mini' is not one"]),
        ("multitempbench/tokenisation/weights", [0.2, 0.2, 0.2, 0.5], ["must sum to 1"]),
        ("multitempbench/tokenisation/released_design/dates", 81, ["81 is not a multiple of 16"]),
        ("multitempbench/probing/years", [2024, 1990], ["probing.years: 2024 is above 1990"]),
        ("multitempbench/probing/years", [2020, 2024], ["5 folds need at least 10 years"]),
        ("multitempbench/probing/tokens", ["last_token"], ["headline_token: 'last_date_token'"]),
        ("run/gpu_limit", 1, ["models.qwen3.5-27b: needs 2 GPUs but run.gpu_limit is 1"]),
        ("tide/models", ["gpt-5"], ["tide.models: 'gpt-5' is not in models"]),
        ("tide/baselines", ["gpt-5.2"], ["tide.baselines: 'gpt-5.2' has backend 'openai'"]),
        ("tide/modes", ["non_thinking"], ["tide.modes: 'gpt-5.2' has none of ['non_thinking']"]),
        ("tide/corpus", "nbr", ["tide.corpus: 'nbr' is not in corpora", "known:"]),
        ("tide/corpus", "wikipedia", ["tide.corpus: 'wikipedia' is no manifest of instruments"]),
        ("tide/parsing/engines", ["acrobat"], ["tide.parsing.engines.0: 'acrobat'", "'pdfium'"]),
        ("tide/parsing/vision", "gpt-4", ["tide.parsing.vision: 'gpt-4' is not in models"]),
        ("tide/parsing/vision", "qwen3.5-2b", ["tide.parsing.vision: only a model behind"]),
        ("tide/parsing/ocr", "accept", ["tide.parsing.ocr: unknown key", "allowed here:"]),
        ("tide/construction/method", "own", ["construction.method: 'own' is not allowed"]),
        ("tide/construction/generator", None, ["generator: missing; method model needs it"]),
        ("tide/construction/generator", "majority", ["generator: 'majority' has backend 'bas"]),
        ("tide/construction/generator", "gemini", ["construction.generator: 'gemini' is not in"]),
        ("tide/construction/embedder", "minilm2", ["not in embedders; did you mean 'minilm'?"]),
        ("tide/construction/threshold", 1.1, ["construction.threshold: 1.1 is greater"]),
        ("tide/construction/pairs_per_task", 0, ["pairs_per_task: 0 is less than the minimum"]),
        ("tide/construction/shipped/entities", None, ["shipped.entities: None is empty"]),
        ("tide/retrieval/embedder", "e5", ["tide.retrieval.embedder: 'e5' is not in embedders"]),
        ("tide/retrieval/depth", 0, ["tide.retrieval.depth: 0 is less than the minimum"]),
        ("tide/retrieval/ablation/embedders", ["bm"], ["ablation.embedders: 'bm' is not in"]),
        ("tide/retrieval/ablation/depths", [5, 5], ["ablation.depths: [5, 5] has non-unique"]),
        ("tide/retrieval/ablation/models", ["gpt-4o"], ["'gpt-4o' is not in tide.models"]),
        ("tide/retrieval/chunks/overlap", 1200, ["chunks.overlap: must be smaller than char"]),
        ("tide/retrieval/date_aware/years", 0, ["date_aware.years: 0 is less than or equal"]),
        ("tide/judging/council", ["rule_judge", "judge"], ["judging.council: 'judge' is not in"]),
        ("tide/judging/council", ["majority"], ["judging.council: 'majority' has backend 'bas"]),
        ("tide/judging/council", [], ["tide.judging.council: []"]),
        ("tide/judging/date_weight", 1.5, ["judging.date_weight: 1.5 is greater than the max"]),
        ("embedders/minilm/backend", "onnx", ["embedders.minilm.backend: 'onnx' is not allowed"]),
        ("embedders/minilm/dimension", 384, ["unknown key; did you mean 'dimensions'?"]),
        ("embedders/minilm/dimensions", 0, ["embedders.minilm.dimensions: 0 is less than"]),
        ("embedders/gemini-embedding-2/base_url", "ftp://x", ["base_url: 'ftp://x' does not mat"]),
        ("embedders/bad name", {}, ["bad name"]),
    ],
)
def test_mistakes_are_explained(
    config: dict[str, Any], path: str, value: Any, words: list[str]
) -> None:
    set_key(config, path, value)
    with pytest.raises(ConfigurationError) as caught:
        check_configuration(config)
    for word in words:
        assert word in str(caught.value)


def test_an_overlay_may_leave_languages_and_tasks_out(config: dict[str, Any]) -> None:
    left = {"languages": {"ar": None, "ha": None}, "quota": {"relation": None}}
    update_config(config, {"multitempbench": left})
    leave_out(config)
    check_configuration(config)
    assert list(config["multitempbench"]["languages"]) == ["zh", "en", "de"]
    assert list(config["multitempbench"]["quota"]) == ["date_arithmetic", "time_zone"]


def test_english_cannot_be_left_out(config: dict[str, Any]) -> None:
    update_config(config, {"multitempbench": {"languages": {"en": None}}})
    leave_out(config)
    with pytest.raises(ConfigurationError, match="languages: en is missing"):
        check_configuration(config)


def test_every_mistake_is_listed_at_once(config: dict[str, Any]) -> None:
    config["run"]["kind"] = "fast"
    config["syntaxbench"]["alpha"] = 0.1
    del config["models"]["qwen3.5-2b"]["label"]
    with pytest.raises(ConfigurationError) as caught:
        check_configuration(config)
    assert len(caught.value.problems) == 3
    assert "models.qwen3.5-2b: missing key(s) label" in caught.value.problems


def test_missing_keys_are_one_problem(config: dict[str, Any]) -> None:
    config["models"]["mine"] = {"label": "Mine"}
    with pytest.raises(ConfigurationError) as caught:
        check_configuration(config)
    assert caught.value.problems == ["models.mine: missing key(s) backend, modes, source"]


def test_a_key_is_a_word(config: dict[str, Any]) -> None:
    odd: Any = {"unknown": 1, False: 2}
    config.update(odd)
    config["models"][7] = {}
    with pytest.raises(ConfigurationError) as caught:
        check_configuration(config)
    assert sorted(caught.value.problems) == [
        "False: YAML reads this key as False; put what stands there in quotation marks",
        "models.7: YAML reads this key as 7; put what stands there in quotation marks",
    ]


def test_duplicate_keys_in_yaml_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("models:\n  a: 1\n  b: 2\n  a: 3\n")
    with pytest.raises(ConfigurationError, match=r"config\.yaml, line 4: 'a' stands twice"):
        read_yaml(path)
    path.write_text("a: [1\n")
    with pytest.raises(ConfigurationError, match="not valid YAML"):
        read_yaml(path)


def test_digest_ignores_key_order(config: dict[str, Any]) -> None:
    turned = yaml.safe_load(yaml.safe_dump(config, sort_keys=True))
    assert canonical_digest(turned) == canonical_digest(config)
    turned["run"]["seed"] += 1
    assert canonical_digest(turned) != canonical_digest(config)


def test_gpus_follow_tensor_parallelism(config: dict[str, Any]) -> None:
    needed = {name: gpus_needed(entry) for name, entry in config["models"].items()}
    assert needed["qwen3.5-27b"] == 2 and needed["qwen3.6-27b"] == 1 and needed["gpt-oss-20b"] == 1
    assert needed["smollm2-135m"] == 0 and needed["majority"] == 0


def test_a_local_model_is_spread_over_its_gpus(config: dict[str, Any]) -> None:
    entry = config["models"]["smollm2-135m"]
    needed = [
        gpus_needed({**entry, **more})
        for more in (
            {"tensor_parallel": 2},
            {"tensor_parallel": 2, "gpus": 1},
            {"tensor_parallel": 1},
            {"tensor_parallel": 1, "gpus": 1},
            {"gpus": 3},
        )
    ]
    assert needed == [2, 2, 0, 1, 3]
    engine = config["models"]["qwen3.5-27b"]
    assert gpus_needed({**engine, "gpus": 0}) == 0 and gpus_needed({**engine, "gpus": 1}) == 2


def test_the_limit_of_gpus_holds_for_embedders_and_translators(config: dict[str, Any]) -> None:
    config["run"]["gpu_limit"] = 2
    name = config["tide"]["retrieval"]["embedder"]
    config["embedders"][name]["gpus"] = 3
    translation = config["multitempbench"]["translation"]
    translation["method"] = "local"
    translation["local"] = {"source": "m", "revision": None, "gpus": 4}
    with pytest.raises(ConfigurationError) as refused:
        check_configuration(config)
    assert f"embedders.{name}: needs 3 GPUs but run.gpu_limit is 2" in str(refused.value)
    assert "multitempbench.translation.local: needs 4 GPUs but" in str(refused.value)


def test_paper_matrix_has_eleven_configurations(config: dict[str, Any]) -> None:
    runs = [m for m in config["syntaxbench"]["models"] for _ in config["models"][m]["modes"]]
    assert len(runs) == 11
    assert sum(2 * task["items"] for task in config["syntaxbench"]["tasks"].values()) == 3200


def test_tide_has_nine_models_in_one_mode_and_a_tie_cannot_happen(config: dict[str, Any]) -> None:
    section = config["tide"]
    modes = [m for n in section["models"] for m in config["models"][n]["modes"]]
    assert [m for m in modes if m in section["modes"]] == ["thinking"] * 9
    assert len(section["judging"]["council"]) % 2 == 1


@pytest.mark.parametrize("overlays", [("embedded.yaml",), ("replay.yaml",)])
def test_an_overlay_asks_no_model_that_it_cannot_reach(
    repository: Path, overlays: tuple[str, ...]
) -> None:
    """Whatever an overlay's runs name answers here, or has its answers in an archive."""
    config = load(repository, *overlays)
    names = set()
    for benchmark in config["run"]["benchmarks"]:
        section = config[benchmark]
        names |= {*section["models"], *section["baselines"]}
        names |= set(section.get("judging", {}).get("council", []))
        names |= {section.get("parsing", {}).get("vision")} - {None}
    used = {name: config["models"][name] for name in names if name in config["models"]}
    assert used
    backends = {name: entry["backend"] for name, entry in used.items()}
    assert set(backends.values()) <= {"transformers", "baseline", "archive"}, backends


def test_documentation_follows_the_schema(repository: Path) -> None:
    from scripts.workflow.document_configuration import document

    page = (repository / "docs" / "configuration.md").read_text()
    assert page == document(whole_schema()), (
        "run: python -m scripts.workflow.document_configuration"
    )


def test_every_key_of_the_schema_is_explained() -> None:
    from scripts.workflow.document_configuration import _rows

    schema = whole_schema()
    rows = list(_rows(schema, schema))
    assert len(rows) > 80
    unexplained = [key for key, _, meaning in rows if not meaning]
    assert all(key.startswith("models.*.max_new_tokens.") for key in unexplained), unexplained


@pytest.mark.parametrize("entry", ["models/gpt-oss-20b", "embedders/gemini-embedding-2"])
def test_a_key_pasted_by_mistake_is_not_repeated(config: dict[str, Any], entry: str) -> None:
    set_key(config, f"{entry}/api_key_environment", "sk-SECRET")
    with pytest.raises(ConfigurationError) as caught:
        check_configuration(config)
    assert "SECRET" not in str(caught.value)
