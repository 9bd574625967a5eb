"""The limit of GPUs of a plan: given, or what is present; looked for only when a job asks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scripts.workflow import packing
from scripts.workflow.packing import Packing, PackingError


class Asked:
    """Stands for this machine's devices and counts who looks for them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.times = 0

    def __call__(self) -> list[str]:
        self.times += 1
        return [str(index) for index in range(self.count)]


class Value:
    """A resource as Snakemake keeps it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def evaluate(self, wildcards: Any, **named: Any) -> Value:
        return Value(self.value(wildcards)) if callable(self.value) else self


def workflow(limit: int | None = None, jobs: tuple[Any, ...] = (), **changes: Any) -> Any:
    resources: dict[str, Any] = {} if limit is None else {"gpu": Value(limit)}
    base = {
        "global_resources": resources,
        "is_main_process": True,
        "executor_plugin": object(),
        "local_exec": True,
        "touch": False,
        "dryrun": False,
        "dag": SimpleNamespace(needrun_jobs=lambda: iter(jobs)),
        "scheduler": SimpleNamespace(global_resources={}),
        "register_resource": resources.__setitem__,
    }
    return SimpleNamespace(**{**base, **changes})


def job(gpu: Any) -> Any:
    resources = {} if gpu is None else {"gpu": Value(gpu)}
    rule = SimpleNamespace(
        name="run_model", resources=resources, workflow=SimpleNamespace(async_run=None)
    )
    return SimpleNamespace(rule=rule, wildcards="w", input=[])


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """A machine with two GPUs."""
    asked = Asked(2)
    monkeypatch.setattr(packing, "present", asked)
    monkeypatch.setattr(packing, "found", lambda: f"{asked.count} GPUs are present")
    return asked


def made(flow: Any) -> tuple[Packing, list[str]]:
    said: list[str] = []
    return Packing(flow, said.append), said


def test_a_job_that_fits_is_admitted(two: Asked) -> None:
    assert made(workflow())[0].admit("model m", 2) == 2


def test_nobody_looks_for_devices_without_need(two: Asked) -> None:
    flow = workflow(jobs=(job(0), job(None), job(lambda wildcards: 0)))
    packed, said = made(flow)
    assert packed.admit("model m", 0) == 0
    packed.begin()
    assert (two.times, said, flow.global_resources) == (0, [], {})


def test_what_is_present_is_the_limit_where_none_is_given(two: Asked) -> None:
    flow = workflow(jobs=(job(0), job(lambda wildcards: 2)))
    packed, said = made(flow)
    packed.begin()
    assert flow.global_resources == {"gpu": 2} and flow.scheduler.global_resources == {"gpu": 2}
    assert said == ["2 GPUs are present; so many are used at once (fewer: --resources gpu=N)"]
    with pytest.raises(PackingError, match="needs 3 GPUs but 2 GPUs are present"):
        packed.admit("model m", 3)


def test_a_given_limit_stays(two: Asked) -> None:
    flow = workflow(limit=1, jobs=(job(1),))
    packed, said = made(flow)
    packed.begin()
    assert flow.scheduler.global_resources == {} and said == []
    with pytest.raises(PackingError, match="model m needs 2 GPUs but --resources gpu=1: give it"):
        packed.admit("model m", 2)


def test_a_limit_above_what_is_present_admits_no_more(two: Asked) -> None:
    with pytest.raises(PackingError, match="needs 3 GPUs but 2 GPUs are present"):
        made(workflow(limit=4))[0].admit("model m", 3)


def test_a_job_that_does_not_fit_is_refused_before_anything_runs(two: Asked) -> None:
    flow = workflow()
    packed, _ = made(flow)
    asking = job(lambda wildcards: packed.admit("model m", 3))
    flow.dag.needrun_jobs = lambda: iter((asking,))
    with pytest.raises(PackingError):
        packed.begin()
    assert flow.global_resources == {}


def test_a_dry_run_says_once_that_it_could_not_run_here(two: Asked) -> None:
    two.count = 0
    packed, said = made(workflow(dryrun=True))
    assert [packed.admit("model m", 1) for _ in range(3)] == [1, 1, 1]
    assert said == ["model m needs 1 GPU but 0 GPUs are present: this plan could not run here"]
    packed.begin()


@pytest.mark.parametrize(
    "changes", [{"local_exec": False}, {"executor_plugin": None}, {"touch": True}]
)
def test_other_machines_devices_are_not_looked_for(two: Asked, changes: dict[str, Any]) -> None:
    flow = workflow(jobs=(job(3),), **changes)
    packed, _ = made(flow)
    packed.begin()
    assert (packed.admit("model m", 3), two.times, flow.global_resources) == (3, 0, {})
    limited, _ = made(workflow(limit=2, **changes))
    with pytest.raises(PackingError, match="--resources gpu=2"):
        limited.admit("model m", 3)


def test_a_job_of_a_run_elsewhere_is_that_runs_business(two: Asked) -> None:
    """What a scheduler starts reads the Snakefile again, with its own job's GPUs as the limit."""
    packed, _ = made(workflow(limit=1, is_main_process=False))
    assert (packed.admit("model m", 3), two.times) == (3, 0)


@pytest.mark.parametrize(("present", "asks"), [(0, 0), (2, 1)])
def test_a_served_model_asks_for_none_where_there_are_none(
    two: Asked, present: int, asks: int
) -> None:
    two.count = present
    assert made(workflow())[0].admit("model m", 1, served=True) == asks
