"""What the explorer measures of an analysis in the background: mentions first, then surprisal, then log P."""

from __future__ import annotations

import time

from entitynlm.coref.annotation import annotate_document
from entitynlm.inference.scoring import score_document
from entitynlm.interfaces.explorer.jobs import Job
from entitynlm.interfaces.explorer.models import ModelShelf
from entitynlm.interfaces.explorer.texts import Analysis, Measured, Text
from entitynlm.interfaces.report.contents import make_report
from entitynlm.lm.surprisal import measure_surprisal
from entitynlm.prediction.expectation import Walk

AHEAD = 4  # words that are read ahead before others get their turn

PAGE_SAMPLES, PAGE_REPEATS = 40, 2
"""Fewer than ``surprisal`` takes: a page is looked at, and its figures are rounded."""


def measure_analysis(models: ModelShelf, text: Text, analysis: Analysis, job: Job) -> None:
    """Find the mentions where there are none yet, then measure the version that is shown; nobody asks for an older one."""
    job.enter("loading the model")
    pretrained = models.get(analysis.model)
    job.check()
    stamp, version = analysis.stamp, analysis.version
    with models.use(analysis.model, wait=3600.0):
        document = version.document
        if not version.found and not document.mentions and version.what == "":
            job.enter("finding entities")
            if not pretrained.untrained:
                document = annotate_document(pretrained, document, progress=job)
            with analysis.lock:
                if analysis.stamp == stamp:
                    analysis.annotated(document)
                    version = analysis.version
        job.enter("measuring surprisal", len(document))
        if version.found:  # words are measured without the mentions, which are summed over
            bare = document.with_mentions(())
            tables = measure_surprisal(
                pretrained,
                bare,
                mentions="sampled",
                annotated=document,
                progress=job,
                samples=PAGE_SAMPLES,
                repeats=PAGE_REPEATS,
            )
        else:
            tables = measure_surprisal(pretrained, document, mentions="given", progress=job)
        job.enter("telling entities apart")
        report = make_report(pretrained, tables)
        job.enter("log P")
        score = None
        if len(tables.encoded) and not pretrained.untrained:
            words = pretrained.encoder.show_words(document)
            score = score_document(pretrained.get("generative"), tables.encoded, words)
    with analysis.lock:
        if analysis.stamp == stamp:
            analysis.store(Measured(stamp, report, score))


def read_ahead(models: ModelShelf, text: Text, analysis: Analysis, job: Job) -> None:
    """Read the text word by word before anybody steps through it, a few words at a time: questions come between."""
    pretrained = models.get(analysis.model)
    if pretrained.untrained or "causal" not in pretrained.networks:
        return
    job.enter("reading word by word", len(text.document))
    with analysis.lock:
        if analysis.along_words is None:
            analysis.along_words = Walk(pretrained, text.document, along_mentions=False)
        walk = analysis.along_words
    for t in range(AHEAD, len(walk) + AHEAD, AHEAD):
        job.check()
        with models.use(analysis.model, wait=3600.0), analysis.lock:
            if analysis.along_words is not walk:  # it had to make room
                return
            walk.prepare(t)
        time.sleep(0.002)  # whoever waits for the lock gets it
