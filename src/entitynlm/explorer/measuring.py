"""Measure an analysis in the background: mentions first, then surprisal, then log P."""

from __future__ import annotations

import time
from typing import Any

from entitynlm.explorer.jobs import Job
from entitynlm.explorer.models import ModelShelf
from entitynlm.explorer.texts import Measured, Text, TextAnalysis
from entitynlm.report.contents import make_report

WORDS_AHEAD = 4  # words that are read ahead before others get their turn

SAMPLES, REPEATS = 40, 2
"""Fewer than ``surprisal`` takes: a page is looked at, and its figures are rounded."""


def measure_analysis(models: ModelShelf, text: Text, analysis: TextAnalysis, job: Job) -> None:
    """Find the mentions where there are none yet, then measure the version that is shown; older versions are not measured."""
    job.enter("loading the model")
    model = models.get(analysis.model)
    job.check()
    stamp, version = analysis.stamp, analysis.version
    with models.use(analysis.model, wait=3600.0):
        document = version.document
        if not version.found and not document.mentions and version.what == "":
            job.enter("finding entities")
            if not model.untrained:
                document = model.annotate(document, progress=job)
            with analysis.lock:
                if analysis.stamp == stamp:
                    analysis.annotated(document)
                    version = analysis.version
        job.enter("measuring surprisal", len(document))
        if version.found:  # words are measured without the mentions, which are summed over
            bare = document.with_mentions(())
            sampling: dict[str, Any] = {"samples": SAMPLES, "repeats": REPEATS, "mentions": "sampled"}
            tables = model.surprisal(bare, annotated=document, progress=job, **sampling)
        else:
            tables = model.surprisal(document, mentions="given", progress=job)
        job.enter("telling entities apart")
        report = make_report(model.pretrained, tables)
        job.enter("log P")
        score = None
        if len(tables.encoded) and not model.untrained:
            score = model.log_prob(document)
    with analysis.lock:
        if analysis.stamp == stamp:
            analysis.store(Measured(stamp, report, score))


def read_ahead(models: ModelShelf, text: Text, analysis: TextAnalysis, job: Job) -> None:
    """Read the text word by word before anybody steps through it, a few words at a time: questions come between."""
    model = models.get(analysis.model)
    if not model.follows_words:
        return
    job.enter("reading word by word", len(text.document))
    with analysis.lock:
        walk = analysis.along_words = analysis.along_words or model.follow(text.document)
    for t in range(WORDS_AHEAD, len(walk) + WORDS_AHEAD, WORDS_AHEAD):
        job.check()
        with models.use(analysis.model, wait=3600.0), analysis.lock:
            if analysis.along_words is not walk:  # it had to make room
                return
            walk.prepare(t)
        time.sleep(0.002)  # whoever waits for the lock gets it
