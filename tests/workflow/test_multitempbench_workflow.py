"""MultiTempBench under Snakemake: what a change asks again, what it computes again, and what not.

Four questions in three languages and two formats. `first` and the judge are answered by the
counting server; two random models on the disk answer and are probed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from scripts.files import read_csv
from scripts.multitempbench.scoring import read_scores
from tests.unit import tiny_models
from tests.workflow.conftest import ROOT, CountingServer, Project, as_prompt, environment
from tests.workflow.model_tables import assert_in_every_table

pytestmark = pytest.mark.workflow

LANGUAGES, FORMATS = ("ar", "en", "zh"), ("iso", "calendar")
QUOTA = {"date_arithmetic": 2, "relation": 1, "time_zone": 1}
ITEMS = sum(QUOTA.values()) * len(LANGUAGES) * len(FORMATS)
# The folders of the local models and their names.
GEMMA, LLAMA = "tiny-gemma", "tiny-llama"
RUNS = {"first", GEMMA, LLAMA, "majority", "solver"}
RESULTS = "results/multitempbench"


class TimeProject(Project):
    """The project with a MultiTempBench of 24 items."""

    benchmark = "multitempbench"
    # One table and the numbers of the text stand for what hangs on the statistics.
    targets = ("statistics", f"{RESULTS}/tables/regression.tex", "results/paper/numbers.tex")

    #: The rules of the jobs of a first run, where a test needs them.
    ran: list[str]

    def _shrink(self, config: dict[str, Any]) -> None:
        tiny_models.save(self.root / GEMMA, tiny_models.gemma())
        tiny_models.save(self.root / LLAMA, tiny_models.llama())
        config["run"] |= {"kind": "embedded", "benchmarks": ["multitempbench"]}
        roster = config["models"]
        config["models"] = {
            "first": self.model("first"),
            **{name: self.local_model(name) for name in (GEMMA, LLAMA)},
            "judge": self.model("judge"),
            "majority": roster["majority"],
            "solver": roster["solver"],
        }
        section = config["multitempbench"]
        languages = section["languages"]
        section |= {
            "models": ["first", GEMMA, LLAMA],
            "baselines": ["majority", "solver"],
            "analyses": {"probing": [GEMMA, LLAMA], "pca": GEMMA, "examples": LLAMA},
            "languages": {code: languages[code] for code in LANGUAGES},
            "formats": list(FORMATS),
            "quota": {task: {"own_questions": count} for task, count in QUOTA.items()},
        }
        section["translation"] |= {"method": "shipped", "model": None}
        section["decoding"]["max_new_tokens"]["non_thinking"] = 8
        section["judging"] |= {"primary": "date_judge", "judges": ["date_judge", "judge"]}
        section["tokenisation"]["published_rows"] = {}
        section["tokenisation"]["released_design"] |= {"dates": 16, "repetitions": 1}
        section["probing"] |= {
            **{"years": [2000, 2009], "dates_per_year": 2, "formats": ["iso", "slash"]},
            **{"tokens": ["last_date_token"], "folds": 3, "repetitions": 2, "permutations": 3},
            **{"penalties": [1.0, 100.0], "precision": "float32"},
        }
        section["statistics"] |= {"resamples": 50, "permutations": 20}

    @staticmethod
    def local_model(folder: str) -> dict[str, Any]:
        """A roster entry of the model in a folder of the project."""
        return {
            **{"label": folder, "backend": "transformers", "source": folder, "revision": "1"},
            **{"precision": "float32", "context_length": 2048, "modes": ["non_thinking"]},
            **{"thinking": {"switch": "none"}, "tokenizer": "same", "threads": 1},
        }

    def answer(self) -> list[str]:
        """Run what all answers and the judge's verdicts on them need, and nothing else."""
        self.targets = (f"{RESULTS}/judgements/judge/first.non_thinking.jsonl",)
        ran = self.run()
        self.targets = type(self).targets
        return ran

    def rows(self, pattern: str) -> list[dict[str, Any]]:
        """Rows of the JSONL files below the results of the benchmark."""
        files = sorted((self.root / RESULTS).glob(pattern))
        assert files, pattern
        return [json.loads(line) for path in files for line in path.read_text().splitlines()]

    def items(self) -> dict[str, dict[str, Any]]:
        return {row["item_id"]: row for row in self.rows("items/*.jsonl")}

    def requests(self, items: Iterable[str]) -> Counter[str]:
        """The prompts of these items as the server counts them."""
        wanted = set(items)
        rows = [row for row in self.rows("requests/*.jsonl") if row["item_id"] in wanted]
        return Counter(as_prompt(row["messages"]) for row in rows)

    def judged(self) -> set[tuple[str, str, str]]:
        """(item, question, text) of all that the judge reads; equal answers of two runs once."""
        items = self.items()
        return {
            (row["item_id"], items[row["item_id"]]["inputs"]["question"], row["text"])
            for row in self.rows("responses/*/*/*.jsonl")
            if row["text"].strip()
        }

    def prompts_of(self, model: str) -> Counter[str]:
        """What `asked` counted last, of one model."""
        return Counter({text: n for (name, text), n in self.prompts.items() if name == model})

    def items_of(self, **wanted: str) -> set[str]:
        """Ids of the items with these factors or this source."""
        return {
            name
            for name, row in self.items().items()
            if wanted.items() <= {**row["factors"], **row["source"]}.items()
        }

    def statistics(self, name: str) -> pd.DataFrame:
        return read_csv(self.root / RESULTS / "statistics" / f"{name}.csv")

    def stored_answers(self, model: str) -> int:
        """Answers in the store of a model."""
        store = self.root / "results" / "store" / "multitempbench" / model / "non_thinking.jsonl"
        return store.read_bytes().count(b"\n")

    def stored_verdicts(self) -> int:
        """Verdicts in the store of the judge."""
        store = self.root / "results" / "store" / "multitempbench_judges" / "judge.jsonl"
        return store.read_bytes().count(b"\n") if store.exists() else 0

    def make_model_primary_judge(self) -> None:
        self.edit_config(lambda c: c["multitempbench"]["judging"].update(primary="judge"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, server: CountingServer) -> TimeProject:
    """Everything up to the statistics, built once; tests change copies of it."""
    server.replies["judge"] = lambda digest, _: "ABC"[int(digest[:4], 16) % 3]
    server.replies["first"] = lambda digest, _: f"17 May 2024, reference {digest[:12]}"
    server.asked.clear()
    server.prompts.clear()
    project = TimeProject.create(tmp_path_factory.mktemp("times") / "project", server)
    project.run()
    project.first_asked = project.asked()
    return project


@pytest.fixture(scope="module")
def rejudged(built: TimeProject, tmp_path_factory: pytest.TempPathFactory) -> TimeProject:
    """A clone with the results in which the judging model has become the primary judge."""
    clone = built.copy(tmp_path_factory.mktemp("rejudged") / "project")
    clone.asked()
    clone.make_model_primary_judge()
    clone.ran = clone.run()
    clone.first_asked = clone.asked()
    return clone


def with_prefix(rules: set[str]) -> set[str]:
    """Names of rules of MultiTempBench."""
    return {f"multitempbench_{rule}" for rule in rules}


def assert_only_asked_for(
    project: TimeProject, changed: set[str], before: set[tuple[str, str, str]]
) -> None:
    """Exactly these items were asked, each once, and exactly what is new in the answers was judged.

    `before` is what was judged already. A baseline may answer other items anew too.
    """
    new = project.judged() - before
    assert changed <= {name for name, *_ in new}
    assert project.asked() == {"first": len(changed), "judge": len(new)}
    assert project.prompts_of("first") == project.requests(changed)
    asked = Counter(json.loads(text)[-1]["content"] for text in project.prompts_of("judge"))
    assert set(asked.values()) == {1}
    for _, question, _ in new:
        told = sum(f"Question:\n{question}\n" in prompt for prompt in asked)
        assert told == sum(question == other for _, other, _ in new)


def test_first_run_asks_every_request_once(built: TimeProject) -> None:
    assert len(built.items()) == ITEMS
    answers = [row for row in built.rows("responses/*/*/*.jsonl") if row["text"].strip()]
    assert {row["model"] for row in answers} == RUNS
    # Equal answers of two runs are judged once.
    judged = built.judged()
    assert len(judged) < len(answers)
    assert built.first_asked == {"first": ITEMS, "judge": len(judged)}
    assert built.prompts_of("first") == built.requests(built.items())
    assert built.stored_answers(GEMMA) == built.stored_answers(LLAMA) == ITEMS
    assert built.stored_verdicts() == len(judged)


def test_first_run_measures_what_it_should(built: TimeProject) -> None:
    """Nothing that the other tests compare is empty."""
    table = built.statistics("mdfr")
    assert set(table["model"]) == {GEMMA, LLAMA} and table["mdfr"].notna().all()
    assert set(built.statistics("linearity")["language"]) == set(LANGUAGES)
    assert built.statistics("linearity")["r2_cv"].notna().all()
    assert set(built.statistics("accuracy")["model"]) == RUNS
    assert (built.statistics("judge_agreement")["n"] > ITEMS).all()


def test_touched_and_reordered_project_runs_no_job(project: TimeProject) -> None:
    def reverse(value: object) -> object:
        if isinstance(value, dict):
            return {key: reverse(value[key]) for key in reversed(list(value))}
        return value

    for folder in ("scripts", "data", "config", "rules", GEMMA, LLAMA):
        for path in (project.root / folder).rglob("*"):
            os.utime(path)
    path = project.root / "config.yaml"
    path.write_text(yaml.safe_dump(reverse(yaml.safe_load(path.read_text())), sort_keys=False))
    assert project.plan() == []


def test_clone_with_results_runs_no_job(project: TimeProject, tmp_path: Path) -> None:
    assert project.copy(tmp_path / "clone").plan() == []


def test_adding_a_model_generates_only_its_answers(project: TimeProject) -> None:
    before, judged = project.contents(), project.judged()
    overlay = project.add_model("second")
    ran = Counter(project.run("--configfile", overlay))
    # The judge reads all runs in one job, and is asked about the new answers alone. The scores of
    # the other runs, which are the rules judge's, are not made again.
    assert project.asked() == {"second": ITEMS, "judge": len(project.judged() - judged)}
    of_model = {"run_model", "judge_by_model", "judge_by_rule", "score_responses"}
    of_model |= {"measure_fragmentation", "gather_fragmentation"}
    of_scores = {"gather_scores", "compute_accuracy", "compute_correlations", "compare_judges"}
    of_scores |= {"fit_mixed_effects", "compute_readings", "make_table"}
    assert ran == dict.fromkeys(with_prefix(of_model | of_scores) | {"collect_numbers"}, 1)
    after = project.contents()
    unchanged = ("items/", "requests/", "responses/", "judgements/", "scores/", "states/")
    assert all(before[name] == after[name] for name in before if name.startswith(unchanged))
    assert_in_every_table(project, overlay, "second", at_least=6)


def test_editing_a_language_s_prompt_asks_only_its_items(project: TimeProject) -> None:
    file = project.root / "data" / "languages" / "zh.yaml"
    text = file.read_text()
    file.write_text(text.replace("不要任何解释", "不要解释"))
    judged = project.judged()
    ran = project.answer()
    assert not with_prefix({"build_items", "extract_states"}) & set(ran)
    changed = project.items_of(language="zh")
    assert len(changed) == sum(QUOTA.values()) * len(FORMATS)
    assert project.stored_answers("first") == project.stored_answers(GEMMA) == ITEMS + len(changed)
    assert_only_asked_for(project, changed, judged)


def test_a_new_language_is_one_file_and_asks_only_its_questions(project: TimeProject) -> None:
    before, judged = project.items(), project.judged()
    file = project.root / "data" / "languages" / "fr.yaml"
    shutil.copy(ROOT / "docs" / "examples" / "languages" / "fr.yaml", file)
    # As long as no run uses it, only what reads free text of any language looks at it.
    planned = set(project.plan())
    assert with_prefix({"judge_by_rule", "measure_fragmentation"}) <= planned
    untouched = {"translate_questions", "build_items", "build_requests", "run_model"}
    assert not planned & with_prefix(untouched | {"judge_by_model", "extract_states"})
    project.edit_config(lambda c: c["multitempbench"]["languages"].update(fr={}))
    project.targets = (
        f"{RESULTS}/judgements/judge/first.non_thinking.jsonl",
        f"{RESULTS}/statistics/accuracy.csv",
    )
    project.run()
    after = project.items()
    assert {name: after[name] for name in before} == before
    added = project.items_of(language="fr")
    assert set(after) - set(before) == added and len(added) == sum(QUOTA.values()) * len(FORMATS)
    assert_only_asked_for(project, added, judged)
    accuracy = project.statistics("accuracy")
    of_french = accuracy[(accuracy["language"] == "fr") & (accuracy["model"] == "solver")]
    assert (of_french["accuracy"] == 1.0).all() and len(of_french) > 1


def test_a_broken_language_file_stops_the_plan_with_one_message(project: TimeProject) -> None:
    project.edit("data/languages/ar.yaml", "    - [شعبان]\n", "")
    project.run("--dry-run", fails=True)
    told = [line for line in project.output.splitlines() if "data/languages/ar.yaml" in line]
    assert len(told) == 1 and "Traceback" not in project.output
    assert "months.hijri: holds 11 entries where at least 12 belong; correct the list" in told[0]


def test_a_reviewer_s_correction_asks_only_its_variants(project: TimeProject) -> None:
    before, judged = project.items(), project.judged()
    row = next(r for r in project.rows("translations/ar.jsonl") if r["question_id"].startswith("r"))
    correction = {
        **{"question_id": row["question_id"], "language": "ar", "reviewer": "reviewer"},
        "text": row["text"] + " أجب بعناية.",
    }
    overrides = project.root / "data" / "embedded" / "multitempbench_overrides.jsonl"
    overrides.write_text(json.dumps(correction) + "\n")
    project.answer()
    changed = project.items_of(language="ar", question_id=row["question_id"])
    assert len(changed) == len(FORMATS)
    after = project.items()
    assert {name for name in after if after[name] != before.get(name)} == changed
    assert_only_asked_for(project, changed, judged)


def test_one_more_question_asks_only_its_variants(project: TimeProject) -> None:
    before, judged = project.items(), project.judged()
    project.edit_config(
        lambda c: c["multitempbench"]["quota"]["date_arithmetic"].update(own_questions=3)
    )
    project.answer()
    after = project.items()
    assert {name: after[name] for name in before} == before
    added = set(after) - set(before)
    assert len(added) == len(LANGUAGES) * len(FORMATS)
    assert_only_asked_for(project, added, judged)


def test_editing_the_regression_reruns_what_hangs_on_it(project: TimeProject) -> None:
    project.edit("scripts/statistics/mixed.py", "NEAR_ZERO = 1e-3", "NEAR_ZERO = 2e-3")
    regression = with_prefix({"fit_mixed_effects", "compute_readings", "make_table"})
    assert sorted(project.plan()) == sorted(regression | {"collect_numbers"})


def test_editing_the_probes_extracts_no_states(project: TimeProject) -> None:
    path, tolerance = "scripts/probing/probes.py", "RANK_TOLERANCE = 1e-1"
    project.edit(path, f"{tolerance}2", f"{tolerance}1")
    planned = Counter(project.plan())
    assert planned.pop("multitempbench_fit_probes") == 2
    after_probes = {"gather_probes", "compute_correlations", "fit_mixed_effects", "make_table"}
    after_probes |= {"compute_readings"}
    assert planned == dict.fromkeys(with_prefix(after_probes) | {"collect_numbers"}, 1)


def test_editing_date_formats_asks_nothing_where_no_text_changed(project: TimeProject) -> None:
    file = project.root / "scripts" / "dates" / "formats.py"
    file.write_text(file.read_text() + "\n\nADDED = 1\n")
    before = project.contents()
    ran = Counter(project.answer())
    assert ran["multitempbench_build_items"] == ran["multitempbench_build_requests"] == len(QUOTA)
    assert ran["multitempbench_run_model"] == len(RUNS)
    assert ran["multitempbench_judge_by_model"] == 1
    assert project.asked() == {}
    assert project.contents() == before


def test_another_primary_judge_scores_again_and_asks_nobody(
    rejudged: TimeProject, built: TimeProject
) -> None:
    assert rejudged.first_asked == {}
    ran = Counter(rejudged.ran)
    assert ran["multitempbench_score_responses"] == len(RUNS)
    asking = {"run_model", "judge_by_model", "judge_by_rule", "extract_states", "fit_probes"}
    assert not with_prefix(asking) & set(ran)
    grades = {
        row["request_id"]: row["answers"]["verdict"]
        for row in built.rows(f"judgements/judge/{GEMMA}.*")
    }
    scores = read_scores(rejudged.root / RESULTS / "scores" / f"{GEMMA}.non_thinking.parquet")
    assert dict(zip(scores["request_id"], scores["verdict"], strict=True)) == grades
    assert set(scores["judge"]) == {"judge"}
    # The judge's grades vary, so there is something to explain.
    assert rejudged.statistics("regression")["estimate"].notna().any()


def kill_during_inference(project: TimeProject, server: CountingServer) -> None:
    """Start the run, and kill all of its processes in the middle of a model's answers."""
    process = subprocess.Popen(
        project.command(),
        cwd=project.root,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.time() + 180
        while server.asked["first"] < 8 and time.time() < deadline:
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    time.sleep(0.5)


def test_killed_inference_resumes_and_a_second_build_is_the_same(
    built: TimeProject, rejudged: TimeProject, tmp_path: Path, server: CountingServer
) -> None:
    """From scratch, with an interruption, the same bytes as from a first build that was changed."""
    project = rejudged.fresh(tmp_path / "killed")
    project.asked()
    server.delays["first"] = 0.2
    kill_during_inference(project, server)
    server.delays.clear()
    asked, stored = project.asked(), project.stored_answers("first")
    verdicts = project.stored_verdicts()
    assert 0 < stored < ITEMS
    # At most the request in flight of each kind is asked twice.
    assert asked["first"] - stored <= 1 and asked["judge"] - verdicts <= 1
    project.run("--nolock")
    expected = {"first": ITEMS - stored, "judge": built.first_asked["judge"] - verdicts}
    assert project.asked() == expected
    mine, theirs = project.contents(), rejudged.contents()
    assert sorted(mine) == sorted(theirs)
    assert [name for name in mine if mine[name] != theirs[name]] == []
