# What the rules of MultiTempBench share: its files, its models, its languages.
from scripts.dates.language_files import codes, content_digest, load_language
from scripts.dates.language_files import language_file
from scripts.multitempbench.configuration import sized

MTB = config["multitempbench"]
# What the configuration does not say of a language stands in the language's file.
MTB["languages"] = sized(MTB["languages"])
MTB_FOLDER = f"{RESULTS}/multitempbench"
MTB_LANGUAGES = sorted(MTB["languages"])
MTB_TASKS = sorted(MTB["quota"])
MTB_SOURCES = sorted(
    {
        name
        for sources in MTB["quota"].values()
        for name, count in sources.items()
        if count
    }
)
MTB_MODELS = MTB["models"]
MTB_BASELINES = MTB["baselines"]
MTB_RUNS = runs_of(MTB_MODELS + MTB_BASELINES)
MTB_TRANSLATOR = (
    MTB["translation"].get("model") if MTB["translation"]["method"] == "model" else None
)
# The judges that are models of the roster.
MTB_MODEL_JUDGES = [name for name in MTB["judging"]["judges"] if name in MODELS]
MTB_PROBED = MTB["analyses"]["probing"]
MTB_TOKENISED = tokenised_models(MTB_MODELS)

ALLOWED["task"] += MTB_TASKS
ALLOWED["judge"] += MTB["judging"]["judges"]


wildcard_constraints:
    language=one_of(MTB_LANGUAGES),


def language_parts(*parts):
    """A digest of what a rule reads of the files of the run's languages, by code."""
    return content_digest(parts, MTB_LANGUAGES)


def all_language_parts(*parts):
    """The same of every file: free text, such as a reply, may be in any language that has one."""
    return content_digest(parts, codes())


def translated_questions():
    """Ids of the questions that the run's languages have a translation of: corrections may name these."""
    files = [load_language(language_file(code)) for code in MTB_LANGUAGES]
    return sorted({name for language in files for name in language.translations})


def translator_inputs(wildcards):
    """What the configured translator reads besides the questions."""
    if MTB_TRANSLATOR is None:
        return {}
    return backend_inputs(MTB_TRANSLATOR, MODELS[MTB_TRANSLATOR]["modes"][0])


def translator_gpus(wildcards):
    """GPUs of the translator's job."""
    if MTB["translation"]["method"] == "local":
        needed = int(MTB["translation"]["local"].get("gpus", 0))
        return admitted("multitempbench.translation.local", needed)
    return gpus_of(MTB_TRANSLATOR) if MTB_TRANSLATOR else 0


def weights_of(wildcards):
    """The converted weights of a model that is probed; none when they come from the hub."""
    return backend_inputs(wildcards.model, None).get("weights", [])


def mtb_statistics(names):
    """Statistics files of MultiTempBench."""
    return [f"{MTB_FOLDER}/statistics/{name}.csv" for name in names]


def mtb_files(pattern, runs):
    """A file per (model, mode) of MultiTempBench."""
    return [f"{MTB_FOLDER}/{pattern}".format(model=m, mode=k) for m, k in runs]


def mtb_manifests():
    """Manifests of all inference of MultiTempBench: answers, hidden states, judging models."""
    answers = [f"{model}.{mode}" for model, mode in MTB_RUNS]
    states = [f"states/{name}" for name in MTB_PROBED]
    verdicts = [f"judges/{judge}" for judge in MTB_MODEL_JUDGES]
    folder = f"{RESULTS}/manifests/multitempbench"
    return [f"{folder}/{name}.json" for name in answers + states + verdicts]
