"""Writes one table as Parquet, JSON lines and CSV, in many styles, and says what each file holds."""

import datetime as dt
import gzip
import io
import json
import math
import os

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

# A field as the file has it: None for an empty one without quotes.
Raw = str | None


def arrow_table(columns) -> pa.Table:
    return pa.table([pa.array(column.values, column.type) for column in columns], names=[column.name for column in columns])


def write_parquet(rng, folder, columns):
    path = os.path.join(folder, "table.parquet")
    table = arrow_table(columns)
    compression = rng.choice(["snappy", "zstd", "gzip", "none"])
    size = rng.choice([None, 7, 1000])
    pq.write_table(table, path, compression=compression, row_group_size=size, use_dictionary=rng.random() < 0.5)
    return {"format": "parquet", "path": path, "style": f"{compression}, row groups of {size}", "fields": None}


def json_value(rng, column, value, style):
    if value is None:
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if column.kind == "decimal":
        return float(value) if style["decimals"] == "floats" else str(value)
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            shown = value.astimezone(dt.timezone(dt.timedelta(minutes=style["offset"])))
            text = shown.isoformat(sep=style["separator"])
            return text.replace("+00:00", "Z") if style["z"] else text
        return value.isoformat(sep=style["separator"])
    if isinstance(value, dt.date):
        return value.isoformat()
    return value


def write_json(rng, folder, columns):
    style = {"decimals": rng.choice(["floats", "strings"]), "separator": rng.choice(["T", " "]), "z": rng.random() < 0.5,
             "offset": rng.choice([0, 120, -210]), "array": rng.random() < 0.3, "ascii": rng.random() < 0.5, "omits": rng.random() < 0.5}
    rows = range(len(columns[0].values))
    fields = [[json_value(rng, column, column.values[row], style) for row in rows] for column in columns]
    lines = []
    for row in rows:
        pairs = [(column.name, field[row]) for column, field in zip(columns, fields)]
        # A table without rows or a column without values would leave no keys.
        kept = [(name, value) for name, value in pairs if value is not None or not style["omits"] or row == 0]
        lines.append(json.dumps(dict(kept), ensure_ascii=style["ascii"]))
    text = "[" + ",\n".join(lines) + "]" if style["array"] or not lines else "".join(line + "\n" for line in lines)
    name = "table.json" if style["array"] else rng.choice(["table.jsonl", "table.ndjson", "table.json"])
    return {"format": "json", **saved(rng, folder, name, text.encode()), "style": str(style), "fields": fields}


def saved(rng, folder, name, data):
    zipped = rng.random() < 0.2
    path = os.path.join(folder, name + (".gz" if zipped else ""))
    with open(path, "wb") as file:
        file.write(gzip.compress(data) if zipped else data)
    return {"path": path}


def write_csv(rng, folder, columns):
    delimiter = rng.choice([",", ",", ",", ";", "\t", "|"])
    newline = rng.choice(["\n", "\n", "\r\n"])
    writer = rng.choice(["pandas", "pyarrow", "pandas"])
    table = arrow_table(columns)
    style = f"{writer}, delimiter {delimiter!r}, line end {newline!r}"
    if writer == "pyarrow":
        quoting = rng.choice(["needed", "all_valid"])
        style += f", quoting {quoting}"
        buffer = io.BytesIO()
        pa_csv.write_csv(table, buffer, pa_csv.WriteOptions(delimiter=delimiter, quoting_style=quoting, quoting_header=quoting, eol=newline))
        data = buffer.getvalue()
    else:
        quoting = rng.choice([0, 0, 1, 2])
        style += f", quoting {quoting}"
        frame = pd.DataFrame({column.name: pd.Series(column.values, dtype=object) for column in columns})
        text = frame.to_csv(index=False, sep=delimiter, quoting=quoting, lineterminator=newline)
        data = text.encode()
    fields = parse_csv(data.decode(), delimiter)[1:]
    mark = rng.random() < 0.15
    if mark:
        data = b"\xef\xbb\xbf" + data
    name = "table.tsv" if delimiter == "\t" else "table.csv"
    transposed = [[row[index] for row in fields] for index in range(len(columns))]
    # Which separator a file has is tested elsewhere: the texts here are full of others.
    given = {"delimiter": delimiter, "header": 1}
    return {"format": "csv", "given": given, **saved(rng, folder, name, data), "style": style + (", byte order mark" if mark else ""), "fields": transposed}


def parse_csv(text: str, delimiter: str) -> list[list[Raw]]:
    """RFC 4180. Unlike the csv module it knows an empty field in quotes from one without."""
    rows, row, at, end = [], [], 0, len(text)
    while at < end:
        if text[at] == '"':
            value, at = [], at + 1
            while True:
                close = text.index('"', at)
                value.append(text[at:close])
                at = close + 1
                if at < end and text[at] == '"':
                    value.append('"')
                    at += 1
                else:
                    break
            row.append("".join(value))
        else:
            start = at
            while at < end and text[at] not in (delimiter, "\n", "\r"):
                at += 1
            row.append(text[start:at] or None)
        if at < end and text[at] == delimiter:
            at += 1
            if at < end and text[at] not in ("\r", "\n"):
                continue
            row.append(None)
        at += 2 if text[at : at + 2] == "\r\n" else 1
        rows.append(row)
        row = []
    return rows
