"""Longhaul's runtime contract for Temporal's Python SDK: progress, questions and partial results of ordinary workflows.

Add :class:`LonghaulInterceptor` to the worker. Everything here has an effect in workflows that Longhaul started, and in
their activities; elsewhere reports are dropped, and :func:`ask` fails.
"""

from ._activity import heartbeat_progress, last_progress
from ._interceptor import LonghaulInterceptor
from ._workflow import Answer, ask, set_partial, set_progress, set_stage

__all__ = [
    "Answer",
    "LonghaulInterceptor",
    "ask",
    "heartbeat_progress",
    "last_progress",
    "set_partial",
    "set_progress",
    "set_stage",
]
