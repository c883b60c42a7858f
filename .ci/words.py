#!/usr/bin/env python3
"""Words that the texts of this project avoid, because the field has a term for what they mean.

``python .ci/words.py [file ...]`` checks docstrings, comments, messages and pages, by default of
every file that git tracks. It prints file, line, word and the term to write instead.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

# The term of differential privacy, which files that mention it may use
NOISE, PRIVACY = r"(?<!['\"])nois(e|y)", "differential privacy"
# Regular expressions of whole words, and what to write instead
WORDS = {
    r"luck(y|ier|iest)?": "sampling error, critical difference",
    NOISE: "sampling error",
    r"chance alone": "sampling error",
    r"but for": "except",
    r"less (the|its|their|one|1)\b(?! than)": "minus",
    r"(a|the|same|own|random|first) lots?(?! of)": "random number, draw",
    r"scores? alike": "have the same score distribution",
    r"(stand|stands|stood|standing) for": "be equivalent to, replace",
    r"so many": "the number, n",
    r"in front of": "before, prefix",
    r"pictures?": "plot, image",
    r"put right": "repaired, corrected",
    r"(is|are|was|were|be) told": "is documented, is named, report",
    r"dear(er|est)?": "expensive, slow",
    r"tell(s)? apart": "distinguish",
    r"told apart": "distinguished",
}
# Spaces may be ends of lines, with the mark of a comment.
SPACE = r"(?:\s|\n\s*(?:#|//)\s*)+"
PATTERNS = {
    word: re.compile(rf"\b(?:{word.replace(' ', SPACE)})\b", re.IGNORECASE) for word in WORDS
}
TEXT = {".py", ".md", ".rst", ".h", ".cpp", ".jinja", ".html", ".css", ".js", ".yml", ".toml"}
NOT_CHECKED = {".ci/words.py", "tests/test_word_list.py"}


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Number of the first line and text of each comment, docstring, message or page."""
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield 1, content
        return
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        line = token.start[0]
        if token.type == tokenize.STRING and " " in token.string:
            yield line, token.string
        elif token.type == tokenize.COMMENT:
            if comments and line > comments[-1][0] + 1:
                yield joined(comments)
                comments = []
            comments.append((line, token.string))
    yield joined(comments)


def joined(comments: list[tuple[int, str]]) -> tuple[int, str]:
    """Comments of consecutive lines as one text."""
    return (comments[0][0] if comments else 1, "\n".join(text for _, text in comments))


def hits(path: Path) -> Iterator[str]:
    """One line for each word to avoid."""
    # Words in any line, or in the name of a page
    content = " ".join(path.read_text(encoding="utf-8").lower().replace("_", " ").split())
    allowed = {NOISE} if PRIVACY in content else set()
    for first, text in texts_of(path):
        for word in [word for word in WORDS if word not in allowed]:
            for found in PATTERNS[word].finditer(text):
                line = first + text.count("\n", 0, found.start())
                yield f"{path}:{line}: {' '.join(found[0].split())!r}; write: {WORDS[word]}"


def main(arguments: list[str]) -> int:
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    paths = arguments or tracked.stdout.splitlines()
    kept = [p for p in map(Path, paths) if p.suffix in TEXT and str(p) not in NOT_CHECKED]
    found = [line for path in kept for line in hits(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
