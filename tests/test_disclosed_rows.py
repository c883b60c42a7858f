"""Disclosure: the documentation says that counts of distinct scores contain every row."""

from pathlib import Path

import numpy as np

from skfedauc import ScoreCounts

ROOT = Path(__file__).parents[1]
SENTENCE = "the group, the score and the class of every row"


def test_distinct_scores_give_every_row_back():
    rng = np.random.default_rng(0)
    y, scores, groups = rng.integers(0, 2, 500), rng.random(500), rng.integers(0, 7, 500)
    counts = ScoreCounts.from_predictions(y, scores, groups=groups).to_counts()
    rows = zip(counts["group"], counts["score"], counts["n_positives"], strict=True)
    assert set(rows) == set(zip(groups.tolist(), scores.tolist(), y.tolist(), strict=True))


def test_readme_docstring_and_guide_say_so_alike():
    guide = (ROOT / "docs" / "how_to" / "without_moving_data.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for text in (readme, guide, ScoreCounts.__doc__):
        words = " ".join(text.split())
        assert f"counts of distinct scores disclose {SENTENCE}" in words
        assert "no features, no identifiers and no order of rows" in words
