"""Answers one line of JSON with another: makes the table of a seed, queries for its files, and the verdict on their answers."""

import json
import random
import sys
import warnings

from columns import any_column, column_names
from files import write_csv, write_json, write_parquet
from oracle import Check

warnings.simplefilter("ignore")
state: dict = {}


def make(request):
    rng = random.Random(request["seed"])
    rows = rng.choice([0, 1, 2, 5, 20, 20, 60, 200, 200, 1000, 3000])
    if rng.random() < 0.02:
        rows = 25_000
    count = rng.randint(1, 3 if rows > 5000 else 6)
    columns = [any_column(rng, name, rows) for name in column_names(rng, count)]
    files = []
    for index, write in enumerate([write_parquet, write_json, write_csv]):
        files.append(write(random.Random(request["seed"] * 3 + index), request["folder"], columns))
    state.update(columns=columns, files=files, seed=request["seed"])
    shown = [{"path": file["path"], "format": file["format"], "style": file["style"], "given": file.get("given", {})} for file in files]
    return {"files": shown}


def queries(request):
    check = Check(random.Random(state["seed"]), state["columns"], state["files"][request["file"]], request["inspection"])
    state["check"] = check
    return {"queries": check.queries, "failures": check.failures}


def verdict(request):
    return {"failures": state["check"].compare(request["answers"])}


STEPS = {"make": make, "queries": queries, "verdict": verdict}

for line in sys.stdin:
    request = json.loads(line)
    answer = STEPS[request["step"]](request)
    print(json.dumps(answer, default=str), flush=True)
