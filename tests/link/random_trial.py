"""A random link, what a linker says of it and what elfaudit says; shared by test_random.py and scripts/random-links."""

import concurrent.futures
import os
import shutil

import random_links
from linker_verdicts import WITH_GOLD as PROGRAMS, Refused, Undecided, elfaudit, linker
from random_generator import generate
from random_shrink import shrink


class Trial:
    """One random link and what two parties say of it."""

    def __init__(self, name, folder, kind="symbols"):
        self.name = name
        self.folder = str(folder)
        self.kind = kind

    def verdicts(self, link, place):
        """The linker's and elfaudit's, or why elfaudit has none."""
        folder = os.path.join(self.folder, place)
        random_links.Workshop(folder, os.path.join(self.folder, "store")).make(link)
        words = link.line().split()
        theirs = linker(self.name, words, folder).renamed(link.thin_members())
        try:
            return theirs, elfaudit(self.name, words, folder)
        except Refused as reason:
            return theirs, reason

    def differences(self, link, place="shrink"):
        """Nothing when there is no verdict to compare with."""
        try:
            theirs, ours = self.verdicts(link, place)
        except (Undecided, random_links.CannotBeMade):
            return None
        return ["refused"] if isinstance(ours, Refused) else theirs.differences(ours)

    def shrunk(self, link, title="case"):
        """A smaller link with the same difference, as a test and with both verdicts."""
        parts = set(self.differences(link))
        small = shrink(link, lambda candidate: bool(parts & set(self.differences(candidate) or [])))
        theirs, ours = self.verdicts(small, "shrink")
        return f"{random_links.as_test(small, self.name, title)}\n  {PROGRAMS[self.name]:10} {theirs}\n  elfaudit   {ours}"

    def judge(self, seed):
        link = generate(seed, self.name, self.kind)
        parts = self.differences(link, str(seed))
        shutil.rmtree(os.path.join(self.folder, str(seed)), ignore_errors=True)
        return seed, link, parts


def judge_all(trial, seeds, jobs=2):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [(seed, link, parts) for seed, link, parts in pool.map(trial.judge, seeds) if parts is not None]
