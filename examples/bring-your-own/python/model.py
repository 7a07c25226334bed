"""Arguments and results of the review."""

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass
class Document:
    title: str
    text: str


@dataclass
class Finding:
    kind: str
    message: str


@dataclass
class AnalysisInput:
    document: Document
    comment: str = ""


class Verdict(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    REVISE = "revise"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass
class Decision:
    verdict: Verdict
    comment: str = ""


@dataclass
class Question:
    id: str
    question: str
    options: list[Verdict]


@dataclass
class Status:
    percent: int
    stage: str


@dataclass
class Review:
    verdict: Verdict
    rounds: int
    findings: list[Finding] = field(default_factory=list)
