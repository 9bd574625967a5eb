# What the rules of SyntaxBench share: its files, its models.
SB = config["syntaxbench"]
SB_FOLDER = f"{RESULTS}/syntaxbench"
SB_SETTINGS = [f"{shots}shot" for shots in SB["shots"]]
SB_TASKS = sorted(SB["tasks"])
SB_MODELS = SB["models"]
SB_BASELINES = SB["baselines"]
# One pair a run: a model's mode. The paper's 11 configurations are the pairs of its models.
SB_RUNS = runs_of(SB_MODELS + SB_BASELINES)

ALLOWED["task"] += SB_TASKS


def corpus_file(role):
    """The file of the corpus that plays a role (vocabulary, palindromes, documents)."""
    return config["corpora"][SB["corpora"][role]]["path"]


def sb_statistics(names):
    """Statistics files of SyntaxBench."""
    return [f"{SB_FOLDER}/statistics/{name}.csv" for name in names]
