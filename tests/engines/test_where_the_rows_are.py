"""The code of the page on engines prints the output on the page."""

from test_docs import DOCS, code_blocks, enter, run_python

PAGE = DOCS / "how_to" / "where_the_rows_are.md"


def test_every_block_gives_what_stands_below_it(spark, monkeypatch, tmp_path):
    enter(tmp_path, monkeypatch)
    namespace = {"__name__": "page", "spark": spark}
    languages = set()
    for language, line, block in code_blocks(PAGE):
        languages.add(language)
        # Java keeps the working directory of its start.
        here = f'spark.read.parquet("{tmp_path}/rows.parquet")'
        run_python(block.replace('spark.read.parquet("rows.parquet")', here), line, namespace, PAGE)
    assert languages == {"python", "pycon"}
