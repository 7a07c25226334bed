"""Plugin of pytest: a line for each event, on descriptor 3."""

import json
import os


def write(**event):
    os.write(3, (json.dumps(event) + "\n").encode())


def split(nodeid):
    file, _, name = nodeid.partition("::")
    return {"file": file, "name": name or "(the file)"}


class Reporter:
    def __init__(self):
        self.file = None
        self.reports = {}

    def pytest_collection_finish(self, session):
        files = sorted({item.nodeid.partition("::")[0] for item in session.items})
        write(event="plan", tests=len(session.items), files=files)

    def pytest_collectreport(self, report):
        # A file that can't be loaded has no tests.
        if report.failed and report.nodeid:
            write(event="end", **split(report.nodeid), status="failed", ms=0, message=report.longreprtext[:8192])

    def pytest_runtest_logstart(self, nodeid, location):
        at = split(nodeid)
        if self.file not in (None, at["file"]):
            write(event="file", file=self.file)
        self.file = at["file"]
        write(event="start", **at)

    def pytest_runtest_logreport(self, report):
        self.reports.setdefault(report.nodeid, []).append(report)
        if report.when != "teardown":
            return
        reports = self.reports.pop(report.nodeid)
        failed = [one for one in reports if one.failed]
        status = "failed" if failed else "skipped" if any(one.skipped for one in reports) else "passed"
        event = {"status": status, "ms": round(sum(one.duration for one in reports) * 1000)}
        if failed:
            event["message"] = "\n".join(one.longreprtext for one in failed)[-8192:]
        write(event="end", **split(report.nodeid), **event)

    def pytest_sessionfinish(self):
        if self.file is not None:
            write(event="file", file=self.file)
        write(event="done")


def pytest_configure(config):
    # Processes of pytest-xdist report to their parent, which has the plugin too.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter())
