# The replay of a release (make replay-release): what no archive of answers can make again is taken
# from it, in place of the rules that made it. docs/release.md.
from scripts.workflow.release.given import given_rules

if "release" in RUN:

    # A copy each: on a cluster they run where Snakemake runs, instead of queueing.
    localrules:
        fetch_given,

    rule fetch_given:
        """A file that the release gives, verified by its checksum."""
        input:
            file=f"{RUN['release']}/files/{{given}}",
        output:
            file=f"{RESULTS}/{{given}}",
        log:
            f"{RESULTS}/logs/fetch_given/{{given}}.log",
        wildcard_constraints:
            given="|".join(map(re.escape, sorted(GIVEN))) or "none",
        conda:
            "../envs/core.yaml"
        resources:
            mem_mb=growing(500),
            runtime=growing(10),
        params:
            sha256=lambda wildcards: GIVEN[wildcards.given],
            code=code_digest("scripts/workflow/release/fetch_given.py"),
        script:
            "../scripts/workflow/release/fetch_given.py"

    # What `ruleorder: fetch_given > …` becomes; the names depend on the configuration.
    for given_rule in given_rules(config):
        workflow.ruleorder("fetch_given", given_rule)
