"""Activities of the review."""

import asyncio
import os

from temporalio import activity

import analysis
from model import AnalysisInput, Finding


@activity.defn
async def analyze(given: AnalysisInput) -> list[Finding]:
    text = given.document.text
    findings: list[Finding] = []
    parts = [
        lambda: [analysis.measure(text)],
        lambda: analysis.long_sentences(text),
        lambda: analysis.repeated_words(text),
        lambda: analysis.commented_terms(text, given.comment),
    ]
    pause = float(os.environ.get("STEP_SECONDS", "2")) / len(parts)
    for done, part in enumerate(parts, start=1):
        await asyncio.sleep(pause)
        findings += part()
        activity.heartbeat(done, len(parts))
    return findings


@activity.defn
async def decision_seconds() -> float:
    """How long a question stays open. An activity reads it, so that it stays the same in a replay."""
    return float(os.environ.get("DECISION_SECONDS", str(3 * 24 * 3600)))
