import asyncio
import os
import unittest
from unittest import mock

from temporalio.testing import ActivityEnvironment

import analysis
from activities import analyze
from model import AnalysisInput, Document, Finding

LONG = " ".join(["word"] + [f"and{'x' * n}" for n in range(30)]) + "."


class AnalysisTest(unittest.TestCase):
    def test_words_and_sentences_are_counted(self) -> None:
        self.assertEqual(analysis.measure("One two. Three, four! 5"), Finding("length", "4 words in 2 sentences"))

    def test_long_sentences_are_found(self) -> None:
        found = analysis.long_sentences(f"Short. {LONG} Short again.")
        self.assertEqual([each.message[:16] for each in found], ["31 words: word a"])

    def test_repeated_words_are_found(self) -> None:
        self.assertEqual(analysis.repeated_words("In the the end"), [Finding("repeated-word", "the the")])

    def test_terms_of_a_comment_are_counted(self) -> None:
        found = analysis.commented_terms("Utilize it, then utilize that", 'less "utilize", please')
        self.assertEqual(found, [Finding("term", '"utilize" is used 2 times')])

    @mock.patch.dict(os.environ, {"STEP_SECONDS": "0"})
    def test_activity_heartbeats_each_part(self) -> None:
        environment = ActivityEnvironment()
        heartbeats: list[tuple[int, int]] = []
        environment.on_heartbeat = lambda *details: heartbeats.append(details)
        given = AnalysisInput(Document("T", "A the the b."), "")
        findings = asyncio.run(environment.run(analyze, given))
        self.assertEqual([each.kind for each in findings], ["length", "repeated-word"])
        self.assertEqual(heartbeats, [(1, 4), (2, 4), (3, 4), (4, 4)])
