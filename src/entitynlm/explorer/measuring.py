"""Measure a text in the background: mentions first, then surprisal, then log P."""

from typing import Any

from entitynlm.explorer.jobs import Job
from entitynlm.explorer.models import ModelShelf
from entitynlm.explorer.texts import Measured, Text

SAMPLES, REPEATS = 40, 2
"""Fewer than ``surprisal`` takes: a page is looked at, and its figures are rounded."""


def measure_text(models: ModelShelf, text: Text, job: Job) -> None:
    """Find the mentions where there are none yet, then measure the version that is shown; older versions are not measured."""
    from entitynlm.report.contents import make_report  # with torch, while the page is looked at

    job.begin("loading the model")
    model = models.get(text.model)
    job.check()
    version = text.version
    with models.use(text.model, wait=3600.0):
        if not version.found and not version.document.mentions and version.what == "":
            job.begin("finding entities")
            found = version.document
            if not model.untrained:
                found = model.annotate(found, progress=job)
            version = text.put_found(version, found)
        document = version.document
        job.begin("measuring surprisal")
        if version.found:  # words are measured without the mentions, which are summed over
            sampling: dict[str, Any] = {"samples": SAMPLES, "repeats": REPEATS, "mentions": "sampled"}
            tables = model.surprisal(document, progress=job, **sampling)
        else:
            tables = model.surprisal(document, mentions="given", progress=job)
        job.begin("telling entities apart")
        report = make_report(tables)
        job.begin("scoring the analysis")
        score = None
        if len(tables.encoded) and not model.untrained:
            score = model.log_prob(document)
    text.store(Measured(version, report, score))
