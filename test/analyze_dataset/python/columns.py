"""Random columns: values of one kind, and the doubts that a reader of the file must or may raise about them."""

import datetime as dt
import string
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa

NEVER, MAY, MUST = "never", "may", "must"

WORDS = ["alpha", "beta", "gamma", "Delta", "epsilon zeta", "Zoë", "naïve", "北京", "x" * 300, "O'Neil", "ok"]
NASTY = ['say "hi"', "a,b", "a;b", "tab\there", "two\nlines", "semi;colon|pipe", "back\\slash", "🎉 party", "{}", "[1]", "#x", "%", '"', "''", "a\r\nb"]


@dataclass
class Column:
    name: str
    kind: str
    type: pa.DataType
    values: list
    # Per format: whether a note has to name the column.
    notes: dict = field(default_factory=dict)

    def doubt(self, file_format: str) -> str:
        return self.notes.get(file_format, NEVER)


def column_names(rng, count: int) -> list[str]:
    pool = ["id", "name", "Price", "total amount", "größe", "select", "a.b", "x-y", "count", "date", "1st", "q\"uote", "it's", "v_1", "[z]"]
    names = rng.sample(pool, min(count, len(pool)))
    return names + [f"extra {index}" for index in range(count - len(names))]


def with_nulls(rng, values: list) -> list:
    share = rng.choice([0, 0, 0.1, 0.5])
    return [None if rng.random() < share else value for value in values]


def draw(rng, rows: int, make):
    """Some columns repeat few values, so that groups have more than one row."""
    if rng.random() < 0.5:
        pool = [make() for _ in range(rng.randint(1, 12))]
        return [rng.choice(pool) for _ in range(rows)]
    return [make() for _ in range(rows)]


def any_date(rng) -> dt.date:
    return dt.date(rng.randint(1900, 2100), 1, 1) + dt.timedelta(days=rng.randint(0, 364))


def any_time(rng, unit: str) -> dt.datetime:
    date = any_date(rng)
    moment = dt.datetime(date.year, date.month, date.day, rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59))
    micros = {"s": 0, "ms": rng.randint(0, 999) * 1000, "us": rng.randint(0, 999_999), "ns": rng.randint(0, 999_999)}[unit]
    return moment.replace(microsecond=micros)


def integers(rng, name, rows):
    bits = rng.choice([8, 16, 32, 64, 64])
    signed = rng.random() < 0.7
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    small = rng.random() < 0.5

    def make():
        return rng.randint(max(low, -20), min(high, 100)) if small else rng.choice([rng.randint(low, high), low, high, 0])

    kind = f"{'' if signed else 'u'}int{bits}"
    return Column(name, kind, getattr(pa, kind)(), draw(rng, rows, make))


def floats(rng, name, rows):
    odd = rng.choice(["none", "none", "nan", "inf"])

    def make():
        if odd != "none" and rng.random() < 0.2:
            return float("nan") if odd == "nan" else rng.choice([float("inf"), float("-inf")])
        return rng.choice([rng.uniform(-1, 1), rng.uniform(-1e6, 1e6), float(rng.randint(-5, 5)), rng.uniform(-1, 1) * 10.0 ** rng.randint(-90, 90)])

    # 1e20 may be a code in a CSV file.
    return Column(name, "float", pa.float64(), draw(rng, rows, make), {"csv": MAY, **({} if odd == "none" else {"parquet": MAY})})


def money(rng, name, rows):
    return Column(name, "money", pa.float64(), draw(rng, rows, lambda: round(rng.uniform(-5000, 5000), 2)))


def decimals(rng, name, rows):
    precision = rng.choice([9, 15, 18, 30])
    scale = rng.randint(0, min(6, precision - 1))
    limit = 10**precision - 1

    column = Column(name, "decimal", pa.decimal128(precision, scale), [])
    column.values = draw(rng, rows, lambda: Decimal(int_scaled(rng, limit, scale)))
    column.notes = {"csv": MAY, "json": MAY}
    return column


def int_scaled(rng, limit, scale):
    digits = rng.choice([rng.randint(-limit, limit), rng.randint(-999, 999)])
    text = str(abs(digits)).rjust(scale + 1, "0")
    sign = "-" if digits < 0 else ""
    return f"{sign}{text[:len(text) - scale]}.{text[len(text) - scale:]}" if scale else f"{sign}{text}"


def booleans(rng, name, rows):
    return Column(name, "bool", pa.bool_(), draw(rng, rows, lambda: rng.random() < 0.5))


def words(rng, name, rows):
    return Column(name, "words", pa.string(), draw(rng, rows, lambda: rng.choice(WORDS) + rng.choice(["", " one", " two"])))


def nasty(rng, name, rows):
    values = draw(rng, rows, lambda: rng.choice(NASTY + WORDS) if rng.random() < 0.9 else "".join(rng.choices(string.punctuation + "é漢 a1", k=6)))
    # What begins or ends with a space, or is a word such as "-", is in doubt in a CSV file.
    return Column(name, "nasty", pa.string(), values, {"csv": MAY, "json": MAY})


def leading_zeros(rng, name, rows):
    return Column(name, "zeros", pa.string(), draw(rng, rows, lambda: f"{rng.randint(0, 99999):05d}"), {"csv": MAY})


def number_like(rng, name, rows):
    forms = [lambda: str(rng.randint(0, 10**6)), lambda: str(rng.randint(2**53, 10**30)), lambda: f"{rng.randint(1, 9)}e{rng.randint(1, 9)}",
             lambda: f"{rng.uniform(0, 99):.3f}", lambda: f"{rng.randint(1, 999)},{rng.randint(0, 999):03d}", lambda: f"{rng.randint(1, 99)},{rng.randint(0, 99):02d}",
             lambda: f"+{rng.randint(10**9, 10**11)}", lambda: f"0x{rng.randint(0, 255):x}", lambda: f"{rng.randint(1, 9)}_{rng.randint(100, 999)}", lambda: f"{rng.randint(0, 9)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}"]
    chosen = rng.sample(forms, rng.randint(1, 2))
    return Column(name, "number_like", pa.string(), draw(rng, rows, lambda: rng.choice(chosen)()), {"csv": MAY})


def truth_like(rng, name, rows):
    pool = rng.choice([["t", "f"], ["yes", "no"], ["Y", "N"], ["T", "F", "x"], ["on", "off"]])
    return Column(name, "truth_like", pa.string(), draw(rng, rows, lambda: rng.choice(pool)))


def missing_words(rng, name, rows):
    word = rng.choice(["NA", "N/A", "null", "-", "None", "NaN", "nan"])
    other = rng.choice([lambda: str(rng.randint(0, 99)), lambda: f"{rng.uniform(0, 9):.1f}", lambda: rng.choice(["north", "south"])])
    values = draw(rng, rows, lambda: word if rng.random() < 0.3 else other())
    return Column(name, "missing_words", pa.string(), values, {"csv": MAY})


def spaced(rng, name, rows):
    values = draw(rng, rows, lambda: rng.choice(["a", " a", "a ", "\tb", "b", " 5", "5"]))
    return Column(name, "spaced", pa.string(), values, {"csv": MAY})


def empty_text(rng, name, rows):
    return Column(name, "empty", pa.string(), draw(rng, rows, lambda: rng.choice(["", "full", "half"])), {"csv": MAY})


def mixed(rng, name, rows):
    values = draw(rng, rows, lambda: rng.choice([str(rng.randint(0, 9)), "A" + str(rng.randint(0, 9)), "true", "2024-01-01", "1.5"]))
    return Column(name, "mixed", pa.string(), values, {"csv": MAY, "json": MAY})


def dates(rng, name, rows):
    return Column(name, "date", pa.date32(), draw(rng, rows, lambda: any_date(rng)))


def timestamps(rng, name, rows):
    unit = rng.choice(["s", "ms", "us", "ns"])
    return Column(name, "timestamp", pa.timestamp(unit), draw(rng, rows, lambda: any_time(rng, unit)))


def zoned(rng, name, rows):
    unit = rng.choice(["s", "ms", "us"])
    zone = rng.choice(["UTC", "+02:00", "-03:30", "America/New_York"])
    values = draw(rng, rows, lambda: any_time(rng, unit).replace(tzinfo=dt.timezone.utc))
    return Column(name, "zoned", pa.timestamp(unit, tz=zone), values)


def slashed(rng, name, rows):
    form = rng.choice(["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d/%m/%y", "%d/%m/%Y %H:%M"])
    late = rng.random() < 0.6
    days = draw(rng, rows, lambda: dt.datetime(rng.randint(1970, 2060), rng.randint(1, 12), rng.randint(1, 28 if late else 12), rng.randint(0, 23), rng.randint(0, 59)))
    if "%H" not in form:
        days = [day.replace(hour=0, minute=0) for day in days]
    # Day or month first: text, with a note on the argument that reads it.
    return Column(name, "slashed", pa.string(), [day.strftime(form) for day in days], {"csv": MUST, "json": MUST})


def no_values(rng, name, rows):
    return Column(name, "none", pa.string(), [None] * rows)


KINDS = [integers, integers, floats, floats, money, decimals, booleans, words, words, nasty, leading_zeros, number_like, number_like, truth_like,
         missing_words, spaced, empty_text, mixed, dates, timestamps, timestamps, zoned, zoned, slashed, no_values]


def any_column(rng, name: str, rows: int) -> Column:
    column = rng.choice(KINDS)(rng, name, rows)
    if column.kind not in ("slashed", "missing_words"):
        column.values = with_nulls(rng, column.values)
    return column
