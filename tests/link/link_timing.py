"""How long an audit takes, against the link that it is about: the same words for both, one after the other in turns."""

import dataclasses
import os
import statistics
import subprocess
import tempfile
import time

from linker_verdicts import ENVIRONMENT


@dataclasses.dataclass
class Timed:
    """Medians, in milliseconds."""

    title: str
    link_wall: float
    link_cpu: float
    audit_wall: float
    audit_cpu: float

    @property
    def wall_ratio(self):
        return self.audit_wall / self.link_wall

    @property
    def cpu_ratio(self):
        return self.audit_cpu / self.link_cpu


def once(command, folder):
    """(wall, processor) seconds of a command and of what it started."""
    begin = time.perf_counter()
    child = subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime


def timed(title, command, folder, repeat):
    """`command` links, and is given no output: that is written to a scratch folder."""
    with tempfile.TemporaryDirectory() as scratch:
        link = [*command, "-o", os.path.join(scratch, "out")]
        audit = [os.environ["ELFAUDIT"], "check", "--", *link]
        runs = [(once(link, folder), once(audit, folder)) for _ in range(repeat)]
    median = lambda who, what: 1000 * statistics.median(run[who][what] for run in runs)
    return Timed(title, median(0, 0), median(0, 1), median(1, 0), median(1, 1))


def report(family, results, worst):
    """Prints medians and the worst ratios of a family of links."""
    if not results:
        return print(f"{family}: nothing to measure")
    for what in ("cpu", "wall"):
        ratios = sorted(getattr(result, what + "_ratio") for result in results)
        over = sum(ratio > 1 for ratio in ratios)
        print(f"{family}: {len(results)} links, audit / link, {what:4}: median {statistics.median(ratios):.2f}, worst {ratios[-1]:.2f}, above 1 in {over}")
    for result in sorted(results, key=lambda result: -result.cpu_ratio)[:worst]:
        print(f"  {result.cpu_ratio:5.2f}  link {result.link_cpu:.1f} ms, audit {result.audit_cpu:.1f} ms ({result.link_wall:.1f}, {result.audit_wall:.1f} on the clock)  {result.title}")
