"""The example's fixture worker with a defect. Usage: wrong_worker.py ADDRESS TASK_QUEUE DEFECT"""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/runtime-contract/python"))

from longhaul_temporal import _memo  # noqa: E402
from longhaul_temporal._operation import Operation  # noqa: E402

import contract_worker  # noqa: E402


def reuse_keys() -> None:
    open_question = Operation.open_question

    def reusing(self, *args):
        self.state["inputRequestCount"] = 0
        return open_question(self, *args)

    Operation.open_question = reusing


def accept_every_answer() -> None:
    take_answer = Operation.take_answer

    def taking(self, given):
        if given["key"] in self._questions:
            take_answer(self, given)

    Operation.check_answer = lambda self, given: None
    Operation.take_answer = taking


def write_large_memos() -> None:
    _memo.VALUE_LIMIT_BYTES = 1_000_000


def write_long_texts() -> None:
    _memo._SHOWN_TEXT_BYTES = 1_000_000


def write_every_field() -> None:
    publish = Operation.publish

    def publishing(self):
        self._unwritten.update(_memo.FIELD_OF.values())
        publish(self)

    Operation.publish = publishing


def keep_status() -> None:
    publish_status = Operation._publish_status
    Operation._publish_status = lambda self, status: publish_status(self, status or "working")


ALL = (reuse_keys, accept_every_answer, write_large_memos, write_long_texts, write_every_field, keep_status)
DEFECTS = {each.__name__: each for each in ALL}

if __name__ == "__main__":
    DEFECTS[sys.argv[3]]()
    asyncio.run(contract_worker.main(*sys.argv[1:3]))
