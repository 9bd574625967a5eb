"""How many GPUs the jobs of a plan hold at once, and whether each of them fits.

Snakemake counts a resource only when it is told a limit, and clips a job that asks for more than
the limit. Here the devices that are present are the limit unless `--resources gpu=N` says another,
and a job that cannot have what it needs is refused before anything runs. Jobs that go to other
machines are their scheduler's business. Devices are looked for only when a job asks for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.machine.gpus import counted, found, present

REMEDY = "give it more, lower tensor_parallel or gpus in the configuration, or leave it out"


class PackingError(ValueError):
    """A job of the plan needs more GPUs than it can ever get."""


class Packing:
    """The GPUs of one Snakemake process; `workflow` is Snakemake's, `log` takes a sentence."""

    def __init__(self, workflow: Any, log: Callable[[str], None]) -> None:
        self._workflow = workflow
        self._log = log
        self._said: set[str] = set()
        self._limit_is_ours = False

    def admit(self, who: str, needed: int, *, served: bool = False) -> int:
        """The GPUs of a job that needs `needed`, or PackingError if it can never have them.

        Where the devices are short and no limit was given, a dry run says so and goes on. A model
        that is `served` by a process of its own asks for none on a machine that shows none.
        """
        if not needed or not self._workflow.is_main_process:
            return needed
        limit = self._given_limit()
        if limit is not None and needed > limit:
            raise PackingError(
                f"{who} needs {counted(needed)} but --resources gpu={limit}: {REMEDY}"
            )
        if not self._runs_here():
            return needed
        there = len(present())
        if served and not there:
            return 0
        if needed > there:
            problem = f"{who} needs {counted(needed)} but {found()}"
            if not self._workflow.dryrun:
                raise PackingError(f"{problem}: {REMEDY}")
            self._say(f"{problem}: this plan could not run here")
        return needed

    def begin(self) -> None:
        """Before the first job: refuse what does not fit, and set the limit where none was given.

        To be called when the plan is made and nothing runs yet.
        """
        if not self._runs_here() or self._workflow.dryrun:
            return
        asking = [_gpus_of(job) for job in self._workflow.dag.needrun_jobs()]
        if any(asking) and self._given_limit() is None:
            there = len(present())
            self._workflow.register_resource("gpu", there)
            # The scheduler has copied the limits already, and subtracts only from those it knows.
            self._workflow.scheduler.global_resources["gpu"] = there
            self._limit_is_ours = True
            self._say(f"{found()}; so many are used at once (fewer: --resources gpu=N)")

    def _given_limit(self) -> int | None:
        limit = self._workflow.global_resources.get("gpu")
        limit = getattr(limit, "value", limit)
        return None if limit is None or self._limit_is_ours else int(limit)

    def _runs_here(self) -> bool:
        """True where this process starts jobs on this machine, or plans to."""
        workflow = self._workflow
        return bool(
            workflow.is_main_process
            and workflow.executor_plugin is not None
            and workflow.local_exec
            and not workflow.touch
        )

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._log(sentence)


def _gpus_of(job: Any) -> int:
    """What a job's rule asks for; the job's other resources may depend on files not yet there."""
    resource = job.rule.resources.get("gpu")
    if resource is None:
        return 0
    known = resource.evaluate(
        job.wildcards,
        input=job.input,
        attempt=1,
        threads=1,
        rulename=job.rule.name,
        async_run=job.rule.workflow.async_run,
    )
    return int(getattr(known, "value", known) or 0)
