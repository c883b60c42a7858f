"""The code of the page on boosting, with XGBoost and Dask."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "boosting.md"


def test_the_page_on_boosting_gives_what_stands_below_its_code():
    blocks = re.findall(
        r"^```(?:python|pycon)\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE
    )
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 30
    failed = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(test, out=failed.append)
    assert not failed, "".join(failed)
