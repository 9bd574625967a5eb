"""What captions, notes and labels are made of: the facts of the run, never typed numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.files import DataError

THINKING = "thinking"
NON_THINKING = "non_thinking"
MODE_LABELS = {THINKING: "thinking", NON_THINKING: "non-thinking"}
RUN_KINDS = ("full", "embedded", "replay")
STAR_LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))

# The words for a value that the statistics could not compute (their `flag` column).
FLAGS = {
    "no_discordant_pairs": "not estimated: no discordant pair",
    "one_class": "not estimated: only one class occurs",
    "constant": "not estimated: the values do not vary",
    "zero_margin": "not estimated: a margin of the table is zero",
    "no_valid_answer": "not estimated: no valid answer",
    "missing": "not evaluated",
    "incomplete": "not estimated: the cell is incomplete",
    "too_few": "not estimated: too few points",
    "collinear": "not estimated: the predictors are collinear",
    "singular": "a variance was estimated as zero",
    "few_levels": "not tested: fewer than five models",
    "few_clusters": "not estimated: too few clusters",
    "few_permutations": "not estimated: too few permutations",
    "not_converged": "not estimated: the fit did not converge",
}
NOT_EVALUATED = "not evaluated"
NOT_ESTIMATED = "not estimated"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One row of the roster: what a table must know about a model."""

    key: str
    label: str
    modes: tuple[str, ...]
    switch: str = "none"
    baseline: bool = False

    def missing_mode(self, mode: str) -> str:
        """Why there is no result of this model in a mode; empty when the mode is configured."""
        if mode in self.modes:
            return ""
        if self.switch not in ("none", ""):
            return "not run: the configuration leaves this mode out"
        if mode == THINKING:
            return "not available: the model has no thinking switch"
        return "not available: the model cannot answer without thinking"


@dataclass(frozen=True, slots=True)
class Context:
    """The facts of one run that tables, figures and captions speak of.

    `tasks` maps a task to its items per condition (its seed questions where `options` has a number
    of `variants` of each), in display order; `models` and `baselines` are in display order too.
    Built from the parameters of a rule by `from_params`.
    """

    kind: str
    seed: int
    models: tuple[ModelInfo, ...]
    baselines: tuple[ModelInfo, ...]
    tasks: Mapping[str, int]
    shots: tuple[int, ...]
    headline_shots: int
    resamples: int
    level: float
    alpha: float
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_params(cls, params: Mapping[str, Any], benchmark: str | None = None) -> Context:
        """Read the part of the configuration that `publication_params` cuts out.

        Without a benchmark it is the one that the parameters hold. Raises DataError naming the key
        that is missing or wrong.
        """
        if benchmark is None:
            found = sorted(set(params) - {"run", "models"})
            if len(found) != 1:
                raise DataError(f"publication parameters: expected one benchmark, found {found}")
            benchmark = found[0]
        try:
            part = params[benchmark]
            statistics = part["statistics"]
            roster = params["models"]
            kind = params["run"]["kind"]
            if kind not in RUN_KINDS:
                raise DataError(f"run.kind is {kind!r}; expected one of {', '.join(RUN_KINDS)}")
            return cls(
                kind=kind,
                seed=int(params["run"]["seed"]),
                models=tuple(_model(key, roster[key], False) for key in part["models"]),
                baselines=tuple(_model(key, roster[key], True) for key in part["baselines"]),
                tasks={name: int(task["items"]) for name, task in part["tasks"].items()},
                shots=tuple(sorted(int(s) for s in part["shots"])),
                headline_shots=int(part["headline_shots"]),
                resamples=int(statistics["resamples"]),
                level=float(statistics["level"]),
                alpha=float(statistics["alpha"]),
                options={
                    "effect_sizes_shown": statistics.get("effect_sizes_shown", 12),
                    **part.get("publishing", {}),
                },
            )
        except KeyError as error:
            raise DataError(
                f"publication parameters of {benchmark}: {error} is missing; add it to config.yaml"
            ) from error

    @property
    def configurations(self) -> list[tuple[ModelInfo, str]]:
        """Every (model, mode) that the run is configured for, without baselines."""
        return [
            (m, mode) for mode in (THINKING, NON_THINKING) for m in self.models if mode in m.modes
        ]

    @property
    def main_mode(self) -> str:
        """The mode of the tables that show one mode: thinking where any model has it."""
        return THINKING if self.has_mode(THINKING) else NON_THINKING

    def has_mode(self, mode: str) -> bool:
        """Whether any model of the run is configured for a mode."""
        return any(mode in m.modes for m in self.models)

    def label(self, key: str) -> str:
        """The display name of a model or baseline; its key when it is unknown."""
        return next((m.label for m in (*self.models, *self.baselines) if m.key == key), key)

    def model_keys(self) -> list[str]:
        """Keys of the models, baselines left out."""
        return [m.key for m in self.models]


def _model(key: str, entry: Mapping[str, Any], baseline: bool) -> ModelInfo:
    return ModelInfo(
        key=key,
        label=str(entry.get("label", key)),
        modes=tuple(entry["modes"]),
        switch=str(entry.get("thinking", {}).get("switch", "none")),
        baseline=baseline,
    )


def publication_params(
    config: Mapping[str, Any],
    benchmark: str,
    items: Mapping[str, int] | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The part of the configuration that tables and figures read, and nothing else.

    `items` are the planned items by task and `options` what else the benchmark's layouts read;
    without them they are the `tasks` and `publishing` of the benchmark's section. Meant for
    `params:` of the rules: an edit elsewhere in the configuration changes nothing here.
    """
    part = config[benchmark]
    if items is None:
        items = {name: task["items"] for name, task in part["tasks"].items()}
    names = [*part["models"], *part["baselines"]]
    # A benchmark that gives no demonstrations need not say so.
    shots = sorted(part.get("shots", [0]))
    return {
        "run": {"kind": config["run"]["kind"], "seed": config["run"]["seed"]},
        "models": {
            name: {
                "label": config["models"][name].get("label", name),
                "modes": list(config["models"][name]["modes"]),
                "thinking": {
                    "switch": config["models"][name].get("thinking", {}).get("switch", "none")
                },
            }
            for name in sorted(names)
        },
        benchmark: {
            "models": list(part["models"]),
            "baselines": list(part["baselines"]),
            "tasks": {name: {"items": count} for name, count in items.items()},
            "shots": shots,
            "headline_shots": part.get("headline_shots", shots[0]),
            "statistics": {
                key: part["statistics"][key]
                for key in ("alpha", "effect_sizes_shown", "level", "resamples")
                if key in part["statistics"]
            },
            "publishing": part.get("publishing", {}) if options is None else dict(options),
        },
    }


def reason_for(flag: object) -> str:
    """The words for a `flag` of the statistics (several are joined by `;` or `|`)."""
    words = [w.strip() for w in str(flag).replace("|", ";").split(";") if w.strip()]
    known = [text for word, text in FLAGS.items() if word in words]
    return known[0] if known else NOT_ESTIMATED


def run_sentence(context: Context) -> str:
    """One sentence that says which kind of run the numbers come from."""
    return {
        "full": "Full run of the configured models.",
        "embedded": "Embedded run: small models, few items; not the published result.",
        "replay": "Replay: items simulated from published margins; no new measurement.",
    }[context.kind]


def level_words(context: Context) -> str:
    """The confidence level in words, for example `95%`."""
    return f"{100 * context.level:g}%"


def bootstrap_sentence(context: Context) -> str:
    """How the intervals over items were made."""
    return (
        f"Intervals: {level_words(context)} percentile bootstrap over items, "
        f"{count(context.resamples)} resamples, seed {context.seed}."
    )


def stars_sentence(test: str, family: str) -> str:
    """The meaning of the significance marks, with the test and the family of the correction."""
    marks = ", ".join(f"{mark} p < {limit:g}" for limit, mark in reversed(STAR_LEVELS))
    return f"{marks}: {test}, Bonferroni-corrected over {family}."


def count(value: int) -> str:
    """A whole number with commas between thousands."""
    return f"{value:,}"


NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def number_word(value: int) -> str:
    """A small number as a word, others in digits: `no`, `one`, `11`."""
    return NUMBER_WORDS[value] if value < len(NUMBER_WORDS) else count(value)


def counted(value: int, singular: str) -> str:
    """A number of things in words: `no models`, `one model`, `11 models`."""
    number = number_word(value)
    return f"{number} {singular}" if value == 1 else f"{number} {singular}s"


def between(values: Iterable[int]) -> str:
    """A range of whole numbers in words: `12`, or `12 to 24`."""
    numbers = sorted(set(values))
    if not numbers:
        return "no"
    if len(numbers) == 1:
        return count(numbers[0])
    return f"{count(numbers[0])} to {count(numbers[-1])}"


def shots_words(shots: int) -> str:
    """The name of a shot setting: `0-shot`."""
    return f"{shots}-shot"


def join_words(words: Iterable[str]) -> str:
    """A list in words: `a`, `a and b`, `a, b and c`."""
    items = list(words)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def stars(p: float | None) -> str:
    """The significance mark of a corrected p-value; empty for none or NaN."""
    if p is None or math.isnan(p):
        return ""
    return next((mark for limit, mark in STAR_LEVELS if p < limit), "")


def facts(context: Context) -> dict[str, Any]:
    """What the running text may say about the set-up, by name (see numbers.py)."""
    items = list(context.tasks.values())
    # Every item of a task stands in this many forms: two conditions, or languages x formats.
    variants = int(context.options.get("variants", 2))
    both = [m for m in context.models if {THINKING, NON_THINKING} <= set(m.modes)]
    return {
        "alpha": context.alpha,
        "baseline_count": len(context.baselines),
        "baselines": [m.key for m in context.baselines],
        "baselines_words": counted(len(context.baselines), "baseline"),
        "both_modes_count": len(both),
        "both_modes_words": counted(len(both), "model"),
        "configurations_words": counted(len(context.configurations), "configuration"),
        "configuration_count": len(context.configurations),
        "headline_shots": context.headline_shots,
        "items_range": between(items),
        "items_total": variants * sum(items),
        "level": level_words(context),
        "main_mode": context.main_mode,
        "main_mode_words": MODE_LABELS[context.main_mode],
        "model_count": len(context.models),
        "has_non_thinking": context.has_mode(NON_THINKING),
        "has_thinking": context.has_mode(THINKING),
        "model_list": join_words(m.label for m in context.models),
        "models": context.model_keys(),
        "models_words": counted(len(context.models), "model"),
        "resamples": context.resamples,
        "responses_total": variants * sum(items) * len(context.shots) * len(context.configurations),
        "seed": context.seed,
        "shots_list": join_words(str(s) for s in context.shots),
        "task_count": len(context.tasks),
        "tasks_words": counted(len(context.tasks), "task"),
        **context.options.get("facts", {}),
    }
