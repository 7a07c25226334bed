"""Limits of the memo fields, and what a continued run gets."""

import unittest

from longhaul_temporal._memo import continued_fields, continued_state, cut_text, json_bytes, state_fields

TIME = "2026-01-01T00:00:00.000Z"
STATE = {
    "stage": 'a "long" ü 😀 ' * 400,
    "progress": {"progress": 1, "total": 2, "message": "m" * 7_000},
    "answers": [{"key": f"input-{number}", "id": "i" * 3_000, "action": "accept", "at": TIME} for number in range(20)],
    "inputRequests": {f"input-{number}": {"message": "?", "schema": {"type": "object"}} for number in range(20, 90)},
    "questionsSince": TIME,
    "updatedAt": TIME,
}


class Memo(unittest.TestCase):
    def test_fields_keep_their_limits(self) -> None:
        fields = state_fields({**STATE, "partial": "x" * 30_000})
        shown = fields["operation"]
        self.assertLessEqual(json_bytes(shown), 2 * 1024)
        self.assertEqual((shown["cut"], shown["stage"][-1]), (["stage", "message"], "…"))
        self.assertEqual((shown["questions"]["count"], shown["questions"]["keys"][0]), (70, "input-20"))
        details = fields["operation_details"]
        self.assertLessEqual(json_bytes(details), 32 * 1024)
        # The oldest are dropped.
        self.assertEqual(details["answers"][-1], STATE["answers"][-1])
        self.assertEqual(details["texts"]["message"], "m" * 7_000)
        self.assertEqual(fields["operation_partial"], {"value": "x" * 30_000})
        self.assertEqual(state_fields({"partial": "x" * 33_000})["operation_partial"], {"isTooLarge": True})

    def test_short_texts_stay(self) -> None:
        self.assertEqual(cut_text("x" * 398, 400), "x" * 398)
        self.assertEqual(json_bytes(cut_text("😀" * 398, 400)), 2 + 6 + 12 * 32)

    def test_a_continued_run_gets_the_state(self) -> None:
        state = {**STATE, "stage": "s" * 500, "answers": STATE["answers"][-2:], "partial": [1]}
        fields = continued_fields(state)
        self.assertEqual(fields["operation_input"], {})
        for name in ("inputRequests", "questionsSince"):
            del state[name]
        self.assertEqual(continued_state(fields), state)
        self.assertNotIn("operation_partial", continued_fields({"partial": "x" * 33_000}))


if __name__ == "__main__":
    unittest.main()
