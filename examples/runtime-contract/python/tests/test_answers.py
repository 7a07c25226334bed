"""Answers that fit and that don't: the cases of docs/runtime-contract/answers.json."""

import json
import unittest
from pathlib import Path

from longhaul_temporal._schema import problems_of, with_defaults

CASES = Path(__file__).resolve().parents[4] / "docs/runtime-contract/answers.json"


class Answers(unittest.TestCase):
    def test_cases(self) -> None:
        cases = json.loads(CASES.read_text())
        self.assertGreater(len(cases), 10)
        for case in cases:
            schema = {"type": "object", "properties": {"x": case["property"]}, "required": ["x"]}
            for kind, values in (("fit", case["fit"]), ("misfit", case["misfit"])):
                for value in values:
                    with self.subTest(case=case["name"], value=value):
                        self.assertEqual(problems_of(schema, {"x": value}) == [], kind == "fit")

    def test_fields(self) -> None:
        schema = {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer", "default": 3}},
            "required": ["a"],
            "additionalProperties": False,
        }
        self.assertEqual(problems_of(schema, {"a": "x"}), [])
        self.assertEqual(with_defaults(schema, {"a": "x"}), {"a": "x", "b": 3})
        self.assertEqual(problems_of(schema, {}), ["content.a: missing"])
        self.assertEqual(problems_of(schema, {"a": "x", "c": 1}), ["content.c: unknown field"])
        self.assertEqual(problems_of(schema, None), ["content: expected an object"])


if __name__ == "__main__":
    unittest.main()
