"""Computes with pandas what the tool has to answer, from what is known of the table, and compares."""

import datetime as dt
import json
import math
import re
from collections import Counter
from decimal import Decimal, InvalidOperation

import pandas as pd

from columns import MAY, MUST, NEVER

INTEGERS = re.compile(r"^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$")
SPECIAL = {"nan", "-nan", "inf", "-inf", "infinity", "-infinity"}


class Unreadable(Exception):
    """The type that the tool reports can't hold the value as the file has it."""


def is_number(kind: str) -> bool:
    return bool(INTEGERS.match(kind)) or kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL")


def key(value, kind: str):
    """The value as it has to come out of a column of this type, in a form in which equal answers are equal."""
    if value is None or (value == "" and kind != "VARCHAR"):
        return None
    if isinstance(value, str) and kind != "VARCHAR":
        value = value.strip()
    try:
        if INTEGERS.match(kind):
            number = plain_number(value)
            if number != int(number):
                raise Unreadable(f"{value!r} is no integer")
            return int(number)
        if kind in ("FLOAT", "DOUBLE"):
            if isinstance(value, (int, str, Decimal)) and str(value).lower() not in SPECIAL:
                exact = plain_number(value)
                if len(exact.as_tuple().digits) > 17 and Decimal(repr(float(exact))) != exact:
                    raise Unreadable(f"{value!r} has more digits than a float")
                if isinstance(value, int) and int(float(value)) != value:
                    raise Unreadable(f"{value!r} has more digits than a float")
            number = float(value)
            return None if math.isnan(number) else number
        if kind.startswith("DECIMAL"):
            return plain_number(value)
        if kind == "BOOLEAN":
            if isinstance(value, bool):
                return value
            return {"true": True, "false": False}[str(value).lower()]
        if kind == "DATE":
            if isinstance(value, dt.datetime):
                value = value.date()
            return value.isoformat() if isinstance(value, dt.date) else dt.date.fromisoformat(value).isoformat()
        if kind.startswith("TIMESTAMP"):
            return moment(value, kind == "TIMESTAMP WITH TIME ZONE")
        return value if isinstance(value, str) else str(value)
    except (ValueError, KeyError, InvalidOperation, OverflowError, TypeError) as error:
        raise Unreadable(f"{value!r} is no {kind}: {error!r}") from error


def plain_number(value) -> Decimal:
    if isinstance(value, bool) or (isinstance(value, str) and not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", value)):
        raise Unreadable(f"{value!r} is no number")
    # A Decimal made from a text is exact; arithmetic with one, such as normalize(), is not.
    return Decimal(str(value)) if isinstance(value, float) else Decimal(value)


def moment(value, zoned: bool) -> str:
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    if isinstance(value, str):
        text = re.sub(r"(\.\d{6})0+", r"\1", value)
        value = dt.datetime.fromisoformat(text)
    if (value.tzinfo is not None) != zoned:
        raise Unreadable(f"{value} with a time zone: {value.tzinfo is not None}")
    if zoned:
        value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)
    text = value.isoformat()
    return (text.rstrip("0").rstrip(".") if "." in text else text) + ("Z" if zoned else "")


def answer_key(value, kind: str):
    """The same form for a value of an answer."""
    if value is None:
        return None
    if kind.startswith("TIMESTAMP"):
        text = str(value)
        zone = "Z" if text.endswith("Z") else ""
        text = text.removesuffix("Z")
        return (text.rstrip("0").rstrip(".") if "." in text else text) + zone
    if kind == "BOOLEAN" or kind == "DATE":
        return value
    if INTEGERS.match(kind):
        return int(value)
    if kind in ("FLOAT", "DOUBLE"):
        return float(value)
    if kind.startswith("DECIMAL"):
        return Decimal(str(value))
    return value


EXPECTED_TYPES = {
    "bool": {"BOOLEAN"},
    "date": {"DATE"},
    "timestamp": {"TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_S", "TIMESTAMP_MS"},
    "zoned": {"TIMESTAMP WITH TIME ZONE"},
}


def expected_values(column, file, index: int) -> list:
    """What the file holds of a column: values with types, or texts."""
    if file["format"] == "parquet":
        return column.values
    fields = file["fields"][index]
    # An empty field is missing, quoted or not.
    return [None if field == "" else field for field in fields] if file["format"] == "csv" else fields


class Check:
    """One file of one table: makes queries for it and compares their answers."""

    def __init__(self, rng, columns, file, inspection):
        self.failures: list[str] = []
        self.file, self.columns, self.notes = file, columns, inspection["notes"]
        self.types = {column["name"]: column["type"] for column in inspection["columns"]}
        self.rows = len(columns[0].values)
        self.keys: dict[str, list] = {}
        if inspection["rowCount"] != self.rows:
            self.failures.append(f"rows: expected {self.rows}; got {inspection['rowCount']}")
        if file["format"] == "json" and self.rows == 0:
            self.columns = []
        for index, column in enumerate(self.columns):
            self.expect(column, index)
        self.queries = self.make_queries(rng) if not self.failures else []

    def is_noted(self, name: str) -> bool:
        return any(json.dumps(name, ensure_ascii=False) in note for note in self.notes)

    def expect(self, column, index: int):
        name, kind = column.name, self.types.get(column.name)
        if kind is None:
            self.failures.append(f"{name!r} is missing from {list(self.types)}")
            return
        doubt, noted = column.doubt(self.file["format"]), self.is_noted(name)
        values = expected_values(column, self.file, index)
        if any(isinstance(value, float) and math.isnan(value) for value in values) and self.file["format"] == "parquet":
            doubt = MUST
        if doubt == NEVER and noted:
            self.failures.append(f"{name!r} ({column.kind}) is plain, but noted: {self.notes}")
        if doubt == MUST and not noted and self.rows > 0:
            self.failures.append(f"{name!r} ({column.kind}) is not noted, as {kind}")
        wanted = EXPECTED_TYPES.get(column.kind)
        if wanted and kind not in wanted and any(value is not None for value in values):
            self.failures.append(f"{name!r} ({column.kind}) is {kind}")
        try:
            self.keys[name] = [key(value, kind) for value in values]
        except Unreadable as error:
            if not noted:
                self.failures.append(f"{name!r} ({column.kind}) is {kind} without a note: {error}")

    def make_queries(self, rng):
        names = list(self.keys)
        queries = [{"limit": 1000}]
        if not names:
            return queries
        aggregates = []
        for index, name in enumerate(names):
            functions = ["count", "count_distinct", "min", "max"]
            if is_number(self.types[name]):
                functions += ["sum", "avg", "median", "stddev"]
            aggregates += [{"fn": fn, "column": name, "as": f"{fn} {index}"} for fn in functions]
        queries.append({"aggregates": aggregates[:50], "limit": 1})
        numbers = [name for name in names if is_number(self.types[name])]
        grouped = rng.sample(names, min(len(names), rng.randint(1, 2)))
        sums = [{"fn": "sum", "column": rng.choice(numbers), "as": "the sum"}] if numbers else []
        queries.append({"group_by": grouped, "aggregates": [*sums, {"fn": "count", "as": "the count"}], "limit": 1000})
        return [*queries, self.make_filter(rng, rng.choice(names))]

    def make_filter(self, rng, name):
        present = [value for value in self.keys[name] if value is not None and not (isinstance(value, float) and math.isinf(value))]
        if not present or rng.random() < 0.15:
            return {"filters": [{"column": name, "op": rng.choice(["is_null", "not_null"])}], "limit": 1}
        value = rng.choice(present)
        ops = ["eq", "ne", "in"] + ([] if isinstance(value, bool) else ["lt", "le", "gt", "ge"]) + (["contains"] if self.types[name] == "VARCHAR" else [])
        op = rng.choice(ops)
        sent = value
        if isinstance(value, Decimal) or (isinstance(value, int) and abs(value) > 2**53):
            sent = str(value)
        return {"filters": [{"column": name, "op": op, "value": [sent] if op == "in" else sent}], "limit": 1}

    def compare(self, answers):
        for query, answer in zip(self.queries, answers):
            if "error" in answer:
                self.failures.append(f"{json.dumps(query)}: {answer['error']}")
                continue
            try:
                self.compare_one(query, answer)
            except Exception as error:  # a malformed answer is a failure of the tool, not of the test
                self.failures.append(f"{json.dumps(query)}: {error!r}")
        return self.failures

    def differ(self, name, what, expected, got):
        # A NaN has one reading only: missing. So a note on it excuses no other answer.
        excused = self.is_noted(name) and not any(" NaN " in note and json.dumps(name, ensure_ascii=False) in note for note in self.notes)
        if not excused:
            column = next(column for column in self.columns if column.name == name)
            self.failures.append(f"{name!r} ({column.kind}, {self.types[name]}) {what}: expected {expected!r}; got {got!r}")

    def compare_one(self, query, answer):
        if "filters" in query:
            self.compare_filter(query["filters"][0], answer)
        elif "group_by" in query:
            self.compare_groups(query, answer)
        elif "aggregates" in query:
            self.compare_aggregates(query["aggregates"], answer)
        else:
            self.compare_rows(answer)

    def compare_rows(self, answer):
        positions = {column["name"]: index for index, column in enumerate(answer["columns"])}
        for name, keys in self.keys.items():
            kind = self.types[name]
            for row, (expected, cells) in enumerate(zip(keys, answer["rows"])):
                got = answer_key(cells[positions[name]], kind)
                if got != expected:
                    self.differ(name, f"row {row}", expected, got)
                    break

    def compare_groups(self, query, answer):
        names = query["group_by"]
        # A note on one of the columns excuses the groups.
        blamed = next((name for name in names if self.is_noted(name)), names[0])
        groups: dict = {}
        summed = query["aggregates"][0].get("column")
        for row in range(self.rows):
            groups.setdefault(tuple(self.keys[name][row] for name in names), []).append(self.keys[summed][row] if summed else None)
        if answer["rowCount"] != len(groups):
            self.differ(blamed, f"groups by {names}", len(groups), answer["rowCount"])
            return
        got_rows = answer["rows"]
        for cells in got_rows:
            group = tuple(answer_key(cell, self.types[name]) for cell, name in zip(cells, names))
            if group not in groups:
                self.differ(blamed, f"group by {names}", "one of the table", group)
                return
            if cells[-1] != len(groups[group]):
                self.differ(blamed, f"count of {group}", len(groups[group]), cells[-1])
            if summed:
                self.compare_number(summed, f"sum in {group}", aggregate("sum", groups[group], self.types[summed]), cells[-2], groups[group])

    def compare_aggregates(self, aggregates, answer):
        for wanted, got in zip(aggregates, answer["rows"][0]):
            name, fn = wanted["column"], wanted["fn"]
            kind, values = self.types[name], self.keys[name]
            expected = aggregate(fn, values, kind)
            if fn in ("sum", "avg", "median", "stddev"):
                self.compare_number(name, fn, expected, got, values)
            elif fn in ("min", "max"):
                got = answer_key(got, kind)
                if got != expected:
                    self.differ(name, fn, expected, got)
            elif got != expected:
                self.differ(name, fn, expected, got)

    def compare_number(self, name, what, expected, got, values):
        got = None if got is None else float(got) if str(got).lower() in SPECIAL else Decimal(str(got))
        if expected is None or got is None:
            if expected is not got:
                self.differ(name, what, expected, got)
            return
        if isinstance(expected, (int, Decimal)):
            if Decimal(str(got)) != Decimal(expected):
                self.differ(name, what, expected, got)
            return
        got, expected = float(got), float(expected)
        scale = max([abs(float(value)) for value in values if value is not None and not math.isinf(float(value))], default=1.0)
        if got != expected and not abs(got - expected) <= 1e-9 * scale * max(1, len(values)) ** 0.5:
            self.differ(name, what, expected, got)

    def compare_filter(self, wanted, answer):
        name, op = wanted["column"], wanted["op"]
        kind = self.types[name]
        value = wanted.get("value")
        value = value[0] if isinstance(value, list) else value
        compared = answer_key(value, kind)
        tests = {
            "is_null": lambda one: one is None, "not_null": lambda one: one is not None,
            "eq": lambda one: one == compared, "in": lambda one: one == compared, "ne": lambda one: one != compared,
            "lt": lambda one: one < compared, "le": lambda one: one <= compared, "gt": lambda one: one > compared, "ge": lambda one: one >= compared,
            "contains": lambda one: compared in one,
        }
        present = self.keys[name] if op in ("is_null", "not_null") else [one for one in self.keys[name] if one is not None]
        expected = sum(1 for one in present if tests[op](one))
        if answer["rowCount"] != expected:
            self.differ(name, f"{op} {value!r}", expected, answer["rowCount"])


def aggregate(fn, values, kind):
    present = [value for value in values if value is not None]
    if fn == "count":
        return len(present)
    if fn == "count_distinct":
        return len(Counter(present))
    if not present:
        return None
    if fn in ("min", "max"):
        ordered = sorted(present, key=lambda value: value.encode()) if isinstance(present[0], str) else sorted(present)
        return ordered[0 if fn == "min" else -1]
    if fn == "sum" and not isinstance(present[0], float):
        total = 0 if isinstance(present[0], int) else Decimal(0)
        if isinstance(present[0], int):
            return sum(present)
        exponent = max(-value.as_tuple().exponent for value in present)
        total = sum(int(value.scaleb(exponent)) if len(value.as_tuple().digits) <= 20 else int(str(value).replace(".", "")) * 10 ** (exponent + value.as_tuple().exponent) for value in present)
        return Decimal(f"{total}E-{exponent}")
    series = pd.Series([float(value) for value in present], dtype="float64")
    if fn == "stddev" and series.map(math.isinf).any():
        return None
    number = {"sum": series.sum, "avg": series.mean, "median": series.median, "stddev": series.std}[fn]()
    return None if math.isnan(number) else float(number)
