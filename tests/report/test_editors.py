"""The recipes of docs/editors.md: each editor comes to the places of the findings."""

import json
import re

from elfaudit_test import SOURCE_DIR, need
from report_support import two_units

need("g++", "as")

PAGE = (SOURCE_DIR / "docs/editors.md").read_text()


def recipe(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.S)[1]


def report(lab):
    """out.txt: one finding, at inc/state.h:3."""
    lab.write("out.txt", lab.audit("check", "--format", "gcc", *two_units(lab)).out)


def test_the_matcher_of_vs_code_takes_every_line(lab):
    """Its regular expressions are JavaScript's, and this one is Python's too."""
    report(lab)
    pattern = json.loads(recipe("jsonc").split("\n", 1)[1])["tasks"][0]["problemMatcher"]["pattern"]
    *lines, summary = (lab.path / "out.txt").read_text().splitlines()
    found = [re.match(pattern["regexp"], line) for line in lines]
    assert all(found) and not re.match(pattern["regexp"], summary)
    first = {name: found[0][group] for name, group in pattern.items() if name != "regexp"}
    assert first == {"file": "inc/state.h", "line": "3", "column": "1", "severity": "error",
                     "message": "n::state is defined twice", "code": "duplicate-definition"}  # fmt: skip


def test_vim_lists_the_finding_and_its_notes(lab):
    need("vim")
    report(lab)
    lab.write("compiler/elfaudit.vim", recipe("vim"))
    lab.sh("vim -es -u NONE -c 'set rtp^=. | compiler elfaudit' -c 'set makeprg=cat\\ out.txt | silent make!' "
           "-c 'redir! > list.txt' -c 'clist' -c 'redir END' -c 'qa!' < /dev/null || true")
    listed = (lab.path / "list.txt").read_text()
    assert re.search(r"inc/state\.h:3 col 1 error: n::state is defined twice", listed)
    assert " note: " in listed and "elfaudit: " not in listed


def test_emacs_goes_to_the_header(lab):
    need("emacs")
    report(lab)
    lab.write("try.el", recipe("elisp") + """
(elfaudit "cat out.txt")
(with-current-buffer "*elfaudit*"
  (while (not (save-excursion (goto-char (point-min)) (search-forward "Compilation finished" nil t)))
    (accept-process-output nil 0.1))
  (goto-char (point-min)))
(next-error)
(with-current-buffer (window-buffer)
  (princ (format "%s:%d" (file-name-nondirectory (buffer-file-name)) (line-number-at-pos))))
""")
    assert lab.sh("emacs -Q --batch -l try.el 2>/dev/null").out.endswith("state.h:3")
