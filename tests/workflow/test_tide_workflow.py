"""TIDE under Snakemake: what a change asks, reads, embeds and computes again, and what not.

Seventeen questions about the fourteen fictional instruments. `answerer` and the judge `councillor`
are answered by the counting server; the embedding model is the small one that runs here.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from snakemake.utils import update_config

from scripts.files import read_csv, sha256_file
from scripts.tide.tasks import SETTINGS, TASKS
from tests.unit import documents_pdfs
from tests.workflow.conftest import CountingServer, Project, as_prompt, copy_project, run_snakemake
from tests.workflow.model_tables import assert_in_every_table

pytestmark = pytest.mark.workflow

RESULTS = "results/tide"
DATA = Path("data") / "embedded" / "tide"
THREADS = ("aircrew-baggage-allowance", "warehouse-bond-period")
# Two threads: a pair of each task, and one more statement.
ITEMS = 2 * len(TASKS) + 1
# The three settings and the date-aware list of clauses.
WAYS = (*SETTINGS, "rag-dated")
JUDGED = {name for name, task in TASKS.items() if task.judged}
STATEMENTS = "perturbation_detection"


def from_schema(schema: dict[str, Any], draw: random.Random) -> Any:
    """A value that fits a schema of the kinds that TIDE sends."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        return {name: from_schema(part, draw) for name, part in schema["properties"].items()}
    if kind == "array":
        length = draw.randint(schema.get("minItems", 0), schema.get("maxItems", 3))
        return [from_schema(schema["items"], draw) for _ in range(length)]
    if kind == "boolean":
        return draw.random() < 0.5
    if kind == "integer":
        return draw.randint(schema.get("minimum", 0), schema.get("maximum", 3))
    return "words"


def reply(digest: str, body: dict[str, Any]) -> str:
    """What a model says: an object of the schema that it is held to, else two dates."""
    wanted = body.get("response_format")
    if wanted is None:
        return f"Since 4 June 2015, until {1 + int(digest[0], 16)} June 2025; see {digest[:12]}."
    return json.dumps(from_schema(wanted["json_schema"]["schema"], random.Random(digest)))


def of_model(prompts: Counter[tuple[str, str]], model: str) -> Counter[str]:
    """The requests to one model."""
    return Counter({text: count for (name, text), count in prompts.items() if name == model})


class TideProject(Project):
    """The project with a TIDE of seventeen items."""

    benchmark = "tide"
    # The numbers of the text and one table stand for what hangs on the statistics.
    targets = ("statistics", f"{RESULTS}/tables/main.tex", "results/paper/numbers.tex")

    #: The requests of the first run by (model, messages).
    first_prompts: Counter[tuple[str, str]]

    def _shrink(self, config: dict[str, Any]) -> None:
        update_config(config, yaml.safe_load((self.root / "config" / "embedded.yaml").read_text()))
        config["run"]["benchmarks"] = ["tide"]
        config["models"] = {
            "answerer": self.model("answerer"),
            "councillor": self.model("councillor"),
        }
        section = config["tide"]
        section |= {"models": ["answerer"], "baselines": []}
        section["construction"]["pairs_per_task"] = None
        section["retrieval"]["ablation"] = {
            **{"embedders": ["e5-small"], "depths": [2], "models": ["answerer"]}
        }
        section["retrieval"]["depth"] = 2
        section["judging"]["council"] = ["rule_judge", "overlap_judge", "councillor"]
        section["statistics"]["resamples"] = 50
        lines = self.questions()
        self.write_questions([line for line in lines if line["thread_id"] in THREADS])

    def questions(self) -> list[dict[str, Any]]:
        text = (self.root / DATA / "questions.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def write_questions(self, rows: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.root / DATA / "questions.jsonl").write_text(text)

    def until(self, *files: str) -> list[str]:
        """Run what these files of the results need, and nothing else."""
        self.targets = tuple(f"{RESULTS}/{file}" for file in files)
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

    def requests(self, model: str = "answerer", only: str = "") -> Counter[str]:
        """The prompts of a model as the server counts them, equal ones once: both steps.

        `only`: those of one item.
        """
        ways = WAYS if model == "answerer" else SETTINGS
        rows = [row for way in ways for row in self.rows(f"requests/{way}/*.jsonl")]
        rows += self.rows(f"explanations/{model}.*.jsonl")
        rows = [row for row in rows if row["item_id"].startswith(only)]
        return Counter(dict.fromkeys((as_prompt(row["messages"]) for row in rows), 1))

    def judged(self, model: str = "answerer", only: str = "") -> set[tuple[str, str]]:
        """(item, text) of every answer of a model that a judge reads; equal ones once.

        `only`: those of one item.
        """
        perturbed = {name for name, row in self.items().items() if row["gold"].get("is_perturbed")}
        rows = [
            row
            for row in self.rows(f"responses/{model}/*/*/*.jsonl")
            if row["item_id"].rsplit("-", 1)[0] in JUDGED
        ]
        explained = self.rows(f"explanation_answers/{model}/*.jsonl")
        rows += [row for row in explained if row["item_id"] in perturbed]
        return {(row["item_id"], row["text"]) for row in rows if row["item_id"].startswith(only)}

    def prompts_of(self, model: str) -> Counter[str]:
        """What `asked` counted last, of one model."""
        return of_model(self.prompts, model)

    def embedded(self) -> dict[str, int]:
        """How many texts the embedding of the corpus computed, and how many it found."""
        folder = self.root / "results" / "manifests" / "tide" / "embedders"
        texts: dict[str, int] = json.loads((folder / "e5-small.json").read_text())["texts"]
        return texts

    def statistics(self, name: str) -> pd.DataFrame:
        return read_csv(self.root / RESULTS / "statistics" / f"{name}.csv")

    def contents(self) -> dict[str, bytes]:
        """As always, but the folder of the index: its bytes differ from build to build."""
        index = re.compile(r"retrieval/[^/]+/")
        return {name: data for name, data in super().contents().items() if not index.match(name)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, server: CountingServer) -> TideProject:
    """Everything up to the statistics, built once; tests change copies of it."""
    for name in ("answerer", "second", "councillor", "other"):
        server.replies[name] = reply
    server.asked.clear()
    server.prompts.clear()
    project = TideProject.create(tmp_path_factory.mktemp("tide") / "project", server)
    project.run()
    project.first_asked, project.first_prompts = project.asked(), project.prompts
    return project


def with_prefix(**rules: int) -> dict[str, int]:
    """Names of rules of TIDE, and how many jobs of each."""
    return {f"tide_{rule}": jobs for rule, jobs in rules.items()}


# What is asked and judged, and how scores are made of it.
ANSWERS = {"run_model": 1, "run_ablation": 1, "build_explanations": 1, "run_explanations": 1}
SCORES = {"judge_by_program": 2, "judge_by_model": 1, "score_responses": 1, "gather_scores": 1}
# What hangs on the scores.
RESULT_RULES = {"compute_accuracy": 1, "compare_systems": 1, "make_table": 1}
RESULT_RULES |= {"compute_readings": 1, "compute_summary": 1}


def test_first_run_asks_every_request_once(built: TideProject) -> None:
    assert len(built.items()) == ITEMS
    rows = built.rows("requests/*/*.jsonl")
    assert {row["setting"]["knowledge"] for row in rows} == {*WAYS}
    # Equal prompts of two ways, such as the same clauses in both lists, are asked once.
    assert len({as_prompt(row["messages"]) for row in rows}) < len(rows) == ITEMS * len(WAYS)
    assert of_model(built.first_prompts, "answerer") == built.requests()
    # Only statements that the model called incorrect are asked about again.
    explained = built.rows("explanations/*.jsonl")
    assert explained and all(row["item_id"].startswith(STATEMENTS) for row in explained)
    assert built.first_asked["councillor"] == len(built.judged())
    assert built.first_asked.keys() == {"answerer", "councillor"}


def test_first_run_measures_what_it_should(built: TideProject) -> None:
    """Nothing that the other tests compare is empty."""
    accuracy = built.statistics("accuracy")
    assert set(accuracy["knowledge"]) == set(SETTINGS) and (accuracy["unscored"] == 0).all()
    assert set(TASKS) <= set(accuracy["task"]) and accuracy["partial"].nunique() > 2
    assert (built.statistics("council")["n"] > 0).all()
    assert len(built.statistics("ablation_by_task")) and len(built.statistics("retrieval"))
    assert set(built.statistics("parsing")["document"]) == {
        path.stem for path in (built.root / DATA).glob("*.pdf")
    }


def test_touched_and_reordered_project_runs_no_job(project: TideProject) -> None:
    def reverse(value: object) -> object:
        if isinstance(value, dict):
            return {key: reverse(value[key]) for key in reversed(list(value))}
        return value

    for folder in ("scripts", "data", "config", "rules"):
        for path in (project.root / folder).rglob("*"):
            os.utime(path)
    path = project.root / "config.yaml"
    path.write_text(yaml.safe_dump(reverse(yaml.safe_load(path.read_text())), sort_keys=False))
    assert project.plan() == []


def test_clone_with_results_runs_no_job(project: TideProject, tmp_path: Path) -> None:
    assert project.copy(tmp_path / "clone").plan() == []


def test_adding_a_model_asks_only_for_its_answers(project: TideProject) -> None:
    before, overlay = project.contents(), project.add_model("second")
    ran = Counter(project.run("--configfile", overlay))
    # A judge reads all runs in one job, so all of them are scored again.
    of_model = {**ANSWERS, **SCORES, "score_responses": 2, "compare_judges": 1}
    of_model |= {"measure_tokens": 1, "gather_tokens": 1}
    del of_model["run_ablation"]
    assert ran == with_prefix(**of_model, **RESULT_RULES) | {"collect_numbers": 1}
    asked = project.asked()
    assert asked.keys() == {"second", "councillor"}
    assert project.prompts_of("second") == project.requests("second")
    assert asked["councillor"] == len(project.judged("second") - project.judged())
    after = project.contents()
    unchanged = ("items/", "requests/", "responses/answerer/", "judgements/", "scores/")
    assert all(before[name] == after[name] for name in before if name.startswith(unchanged))
    assert_in_every_table(project, overlay, "second", at_least=7)


def test_editing_a_question_pair_asks_only_its_requests(project: TideProject) -> None:
    before = project.items()
    rows = project.questions()
    edited = next(row for row in rows if row["task"] == "open_ended")
    edited["fields"]["question"] += " Name the dates."
    del edited["question_id"]
    project.write_questions(rows)
    ran = project.until("scores.parquet")
    made = {"generate_questions": 1, "build_items": len(TASKS), "retrieve_clauses": 1}
    made |= {"build_requests": len(WAYS), **ANSWERS, **SCORES}
    # Nothing is parsed or embedded.
    assert Counter(ran) == with_prefix(**made)
    (name,) = project.items().keys() - before.keys()
    asked = project.asked()
    assert project.prompts_of("answerer") == project.requests(only=name)
    assert len(project.requests(only=name)) >= len(SETTINGS)
    assert asked["councillor"] == len(project.judged(only=name)) == asked["answerer"]


def test_editing_a_prompt_asks_everything_again_and_reads_nothing(project: TideProject) -> None:
    project.edit("scripts/tide/prompts.yaml", "This is a test about", "You are tested on")
    ran = project.until("scores.parquet")
    assert Counter(ran) == with_prefix(build_requests=len(WAYS), **ANSWERS, **SCORES)
    asked = project.asked()
    assert project.prompts_of("answerer") == project.requests()
    assert asked["councillor"] == len(project.judged())


def test_editing_the_second_step_asks_the_first_nothing(project: TideProject) -> None:
    project.edit("scripts/tide/prompts.yaml", "Something in this statement", "A detail of it")
    project.until("explanation_answers/answerer/non_thinking.jsonl")
    explained = {as_prompt(row["messages"]) for row in project.rows("explanations/*.jsonl")}
    assert project.asked() == {"answerer": len(explained)}
    assert set(project.prompts_of("answerer")) == explained


def test_another_revision_of_a_model_runs_all_its_steps(project: TideProject) -> None:
    project.edit_config(lambda c: c["models"]["answerer"].update(revision="2"))
    planned = Counter(project.plan())
    assert with_prefix(**ANSWERS).items() <= planned.items()


def test_shards_of_every_step_give_the_same_answers(project: TideProject) -> None:
    def split(config: dict[str, Any]) -> None:
        config["models"]["answerer"]["shards"] = 2
        # A judge answers in one job.
        config["models"]["councillor"]["shards"] = 3

    before = project.contents()
    store = project.root / "results" / "store" / "tide" / "answerer"
    shutil.rmtree(store)
    project.edit_config(split)
    ran = project.until("scores.parquet")
    steps = ("shard", "ablation_shard", "explanations_shard")
    sharded = with_prefix(**{f"run_{step}": 2 for step in steps})
    whole = with_prefix(**(ANSWERS | SCORES))
    assert Counter(ran) == {**whole, **sharded}
    assert project.asked() == {"answerer": project.requests().total()}
    assert project.prompts_of("answerer") == project.requests()
    after = project.contents()
    same = ("responses/", "explanation_answers/", "judgements/", "scores")
    assert all(before[name] == after[name] for name in before if name.startswith(same))
    names = {path.name for path in store.glob("*.jsonl")}
    assert {"non_thinking.1.jsonl", "non_thinking.2.jsonl"} <= names
    parts = [f"{step}.{n}" for step in ("ablation", "explanations") for n in (1, 2)]
    assert names <= {f"non_thinking.{part}.jsonl" for part in ("1", "2", *parts)}
    assert not list((project.root / "results" / "manifests" / "tide").rglob("*shard*"))


def add_to_manifest(project: TideProject, file: Path) -> None:
    """A row for a PDF beside the manifest."""
    manifest = project.root / DATA / "manifest.csv"
    row = f"{file.name},,,{sha256_file(file)},GO,2020-01-15,CC0-1.0\n"
    manifest.write_text(manifest.read_text() + row)


def test_new_and_broken_documents_are_read_and_nothing_else(project: TideProject) -> None:
    before, old = project.statistics("parsing"), project.rows("elements.jsonl")
    texts = project.embedded()
    folder = project.root / DATA
    text = "General Order No. 9/2020\nDate: 15 January 2020\n1. The fee for a copy is NDT 40."
    add_to_manifest(project, documents_pdfs.english(folder / "go-9-2020.pdf", [text]))
    broken = folder / "go-8-2020.pdf"
    broken.write_bytes(b"%PDF-1.4\nnothing that a reader could use\n")
    add_to_manifest(project, broken)
    wanted = ("statistics/parsing.csv", "statistics/fidelity.csv", "requests/rag/open_ended.jsonl")
    ran = Counter(project.until(*wanted))
    of_corpus = {"gather_elements": 1, "embed_corpus": 1, "parse_document": 2}
    assert with_prefix(**of_corpus).items() <= ran.items()
    assert project.asked() == {}
    parsing = project.statistics("parsing")
    new = parsing["document"].isin(["go-8-2020", "go-9-2020"])
    failed = parsing[parsing["document"] == "go-8-2020"].iloc[0]
    assert failed["status"] == "failed" and failed["reason"]
    old_rows = parsing[~new].reset_index(drop=True)
    # The broken file has no page.
    pd.testing.assert_frame_equal(old_rows, before, check_dtype=False)
    added = [row for row in project.rows("elements.jsonl") if row not in old]
    assert {row["document"] for row in added} == {"go-9-2020"}
    now = project.embedded()
    assert 0 < now["computed"] <= len(added) and now["cached"] == texts["computed"]


def test_a_corrected_row_of_the_manifest_reads_its_document(project: TideProject) -> None:
    project.edit(str(DATA / "manifest.csv"), "(industrial machinery)", "(machinery of industry)")
    planned = Counter(project.plan())
    assert planned["tide_parse_document"] == planned["tide_embed_corpus"] == 1


def test_other_chunks_embed_again_and_read_nothing(project: TideProject) -> None:
    project.edit_config(lambda c: c["tide"]["retrieval"]["chunks"].update(characters=1100))
    planned = Counter(project.plan())
    assert planned["tide_embed_corpus"] == planned["tide_retrieve_clauses"] == 1
    assert not planned.keys() & with_prefix(parse_document=1, gather_elements=1, build_items=1)


def test_another_date_weight_scores_again_and_asks_nobody(project: TideProject) -> None:
    before = project.contents()
    project.edit_config(lambda c: c["tide"]["judging"].update(date_weight=0.25))
    ran = Counter(project.run())
    scored = {"score_responses": 1, "gather_scores": 1, **RESULT_RULES}
    assert ran == {**with_prefix(**scored), "collect_numbers": 1}
    assert project.asked() == {}
    after = project.contents()
    changed = {name for name in before if before[name] != after[name]}
    assert {"scores.parquet", "statistics/accuracy.csv"} <= changed


def test_replacing_a_judge_asks_only_the_new_one(project: TideProject) -> None:
    def replace(config: dict[str, Any]) -> None:
        config["models"]["other"] = project.model("other")
        config["tide"]["judging"]["council"][-1] = "other"

    project.edit_config(replace)
    ran = project.until("scores.parquet")
    judged = with_prefix(judge_by_model=1, score_responses=1, gather_scores=1)
    assert Counter(ran) == judged
    assert project.asked() == {"other": len(project.judged())}


def test_editing_an_analysis_reruns_what_hangs_on_it(project: TideProject) -> None:
    file = project.root / "scripts" / "tide" / "statistics" / "analysis.py"
    file.write_text(file.read_text() + "\n\nADDED = 1\n")
    hanging = {"compute_accuracy": 1, "compute_summary": 1, "make_table": 1}
    assert Counter(project.plan()) == {**with_prefix(**hanging), "collect_numbers": 1}


def test_a_second_build_elsewhere_is_the_same(built: TideProject, tmp_path: Path) -> None:
    project = built.fresh(tmp_path / "second")
    project.asked()
    project.edit_config(lambda c: c["run"].update(results="results/second"))
    project.targets = tuple(t.replace("results/", "results/second/") for t in built.targets)
    project.run()
    assert project.asked() == built.first_asked
    assert project.prompts == built.first_prompts
    (project.root / RESULTS).symlink_to("second/tide")
    mine, theirs = project.contents(), built.contents()
    assert sorted(mine) == sorted(theirs)
    assert "retrieval/e5-small.retrieved.jsonl" in mine and "tables/main.html" in mine
    assert [name for name in mine if mine[name] != theirs[name]] == []


def test_without_the_documents_a_run_says_how_to_get_them(tmp_path: Path) -> None:
    root = copy_project(tmp_path / "project")
    wanted = f"{RESULTS}/elements.jsonl"
    finished = run_snakemake(root, wanted, "--cores", "1", "--config", "run={benchmarks: [tide]}")
    assert finished.returncode != 0
    assert "data/raw/nbr_customs/manifest.csv: is not fetched; put the PDFs" in finished.stdout
