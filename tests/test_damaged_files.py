"""Damaged and hostile files of score counts: always a ValueError, or the same counts.

Bytes are changed at random. Other tests change tables and metadata with pyarrow, and skip the check
of the SHA-256. The reader must refuse such a file, or return the counts that `from_counts` makes
from the table of the file.
"""

import contextlib
import datetime
import gc
import json
import operator
import os
import pathlib
import pickle
import re
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_format import changed_bytes, file_of, parts_of, with_value
from rules import facts_of, restored
from saved_cases import CASES

from skfedauc import Bins, ScoreCounts
from skfedauc._labels import Classes
from skfedauc.counts import Limits, file_format
from skfedauc.counts.file_format import size_of_pages
from skfedauc.counts.files import RANGE_COLUMNS
from skfedauc.counts.score_counts import view_of

# Number of changes in each test below; tests/fuzz/test_files.py makes changes until a time limit.
N_CHANGES = 60
NAMES = [
    "no groups",
    "no groups, weighted",
    "text",
    "text, some missing, weighted",
    "integers",
    "integers, some missing",
    "unsigned integers",
    "booleans, some missing, weighted",
    "dates",
    "dates, some missing",
    "instants",
    "instants, some missing, weighted",
    "quarters",
    "intervals",
    "intervals, some missing",
    "pairs",
    "columns, weighted",
    "columns, some missing",
    "pairs in pairs",
    "classes as text",
    "columns, weighted, binned",
    "ranges",
]
# The error for changed data names the argument and the reason.
REFUSED = r"data (is|has) .{10,}"


@pytest.fixture(params=NAMES)
def case(request):
    """Counts, their bytes, and random numbers."""
    counts = CASES[request.param]
    return counts, counts.to_bytes(), np.random.default_rng(zlib.crc32(request.node.name.encode()))


def load_or_refuse(data):
    """Return the counts, or None if the file is refused with the right error."""
    try:
        return ScoreCounts.from_bytes(data)
    except ValueError as error:
        message = str(error)
    assert re.match(REFUSED, message), message
    assert len(message) < 1000
    return None


def assert_refused_or_same(data, counts):
    again = load_or_refuse(data)
    if again is not None:
        assert again == counts
        assert again.groups == counts.groups
        assert facts_of(again) == facts_of(counts)
    return again is None


def test_changed_bytes_are_refused(case):
    counts, data, rng = case
    n_refused = sum(
        assert_refused_or_same(changed_bytes(data, rng), counts) for _ in range(N_CHANGES)
    )
    # Some bytes have no effect, such as those of statistics and of padding.
    assert n_refused > N_CHANGES // 3


def test_changed_bytes_of_pages_without_checksums_are_refused(case):
    """The SHA-256 of the content is right only for the content."""
    counts, data, rng = case
    bare = file_of(*parts_of(data), compression="none")
    assert ScoreCounts.from_bytes(bare) == counts
    for _ in range(N_CHANGES // 2):
        assert_refused_or_same(changed_bytes(bare, rng), counts)


@pytest.mark.parametrize("size", [0, 1, 3, 4, 8, 11, 12, 100])
def test_beginnings_are_refused(size):
    data = CASES["text"].to_bytes()[:size]
    with pytest.raises(ValueError, match=REFUSED):
        ScoreCounts.from_bytes(data)
    with pytest.raises(ValueError, match=REFUSED):
        ScoreCounts.from_bytes(data.ljust(1000, b"\0"))


ODD_NUMBERS = [0, -1, 1, 2**31, 2**32, 2**40, 2**41, 2**62, 2**63 - 1, -(2**63)]
ODD_SCORES = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1e308, 0.3]
ODD_WEIGHTS = [*ODD_SCORES, -1.0, 1.0]
ODD_VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    7.5,
    1e400,
    10**30,
    "",
    "a",
    "\ud800",
    "x" * 5000,
    [],
    [None],
    ["a", "a"],
    [[]],
    {},
    {"kind": "text"},
    {"identifier": "0" * 32, "name": None},
    [{"kind": "text"}],
    [{"kind": "integer"}],
    [{"kind": "coded"}],
    [{"kind": "coded", "labels": []}],
    [{"kind": "instant", "zone": "Nowhere/City"}],
    [{"kind": "instant", "zone": "../../etc/passwd"}],
    [{"identifier": "0" * 32, "name": "é"}],
    [{"identifier": "0" * 31, "name": None}],
    [{"identifier": "0" * 32, "name": 3}],
    [0.5, 1],
    [float("nan")],
    ["no", "yes"],
]
ODD_TYPES = [
    pa.int8(), pa.int32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.string(),
    pa.large_string(), pa.binary(), pa.bool_(), pa.timestamp("us"), pa.timestamp("ns"),
    pa.timestamp("us", "UTC"), pa.date32(), pa.decimal128(38, 3), pa.list_(pa.int64()),
]  # fmt: skip


def changed_table(table, rng):
    """The table with one change: of values, rows, columns, or types."""
    n_rows, place = len(table), int(rng.integers(table.num_columns))
    kind, name = rng.integers(9), table.column_names[place]
    values = table.column(place).to_pylist()
    row, other = (int(i) for i in rng.integers(n_rows, size=2))
    field = table.schema.field(place)
    if kind <= 2:
        odd = {
            "score": ODD_SCORES,
            **dict.fromkeys(RANGE_COLUMNS, ODD_SCORES),
            "n_negatives": ODD_NUMBERS,
            "n_positives": ODD_NUMBERS,
        }.get(name, ODD_WEIGHTS if "weight" in name else [None, values[other]])
        values[row] = odd[rng.integers(len(odd))]
    elif kind == 3:
        values[row], values[other] = values[other], values[row]
    elif kind == 4:
        return table.take(rng.permutation(n_rows)) if row % 2 else table.slice(row)
    elif kind == 5:
        return pa.concat_tables([table, table.slice(row, 3)])
    elif kind == 6:
        names = list(table.column_names)
        names[place] = [name.upper(), "x", "score", ""][rng.integers(4)]
        return table.rename_columns(names) if row % 2 else table.remove_column(place)
    elif kind == 7:
        wanted = ODD_TYPES[rng.integers(len(ODD_TYPES))]
        try:
            return table.set_column(place, name, table.column(place).cast(wanted, safe=False))
        except (pa.ArrowException, ValueError):
            return table.set_column(place, name, pa.nulls(n_rows, wanted))
    else:
        return table.select(rng.permutation(table.num_columns).tolist())
    return table.set_column(place, name, pa.array(values, field.type))


def changed_facts(facts, rng):
    """The metadata with one change of a value, possibly inside."""
    facts = json.loads(json.dumps(facts))
    holder = facts
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = keys[rng.integers(len(keys))]
        inside = holder[key]
        if not (isinstance(inside, dict | list) and inside and rng.random() < 0.7):
            break
        holder = inside
    kind = rng.integers(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(inside, int | float):
        holder[key] = inside + ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
    elif kind == 2 and isinstance(inside, str):
        holder[key] = inside[:-1]
    else:
        holder[key] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return facts


def assert_refused_or_of_its_table(data):
    again = load_or_refuse(data)
    if again is None:
        return True
    read, table = pq.read_table(pa.BufferReader(data)), again.to_counts()
    n_numbers = 2 + 4 * (again.cells.weights is not None) + 2 * (view_of(again).ranges is not None)
    columns = [table[name] for name in table]
    assert summed(read.columns, n_numbers) == summed(columns, n_numbers)
    assert ScoreCounts.from_counts(**table) == again
    return False


def summed(columns, n_numbers):
    """Return the sums of the numbers by the other columns; ranges have two ends."""
    (*keys,) = map(shown, columns[:-n_numbers])
    numbers = [
        column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
        for column in columns[-n_numbers:]
    ]
    found, ends = {}, [min, max] if n_numbers in (4, 8) else []
    add = [*ends, *[operator.add] * (n_numbers - len(ends))]
    for key, *row in zip(zip(*keys, strict=True), *numbers, strict=True):
        before = found.setdefault(key, row)
        if before is not row:
            found[key] = [of(*pair) for of, *pair in zip(add, before, row, strict=True)]
    return found


def shown(column):
    """Return the values of a column as text, with dates as instants."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return ["(missing)" if value is None else _plain(value) for value in values]


def _plain(value):
    if isinstance(value, datetime.datetime):
        stamp = pd.Timestamp(value)
        return (stamp.tz_convert("UTC") if stamp.tzinfo else stamp).isoformat()
    return str(value + 0.0 if isinstance(value, float) else value)  # -0.0 is 0.0


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_changed_tables_are_refused_or_counted_as_they_are(case):
    counts, data, rng = case
    table, facts = parts_of(data)
    assert ScoreCounts.from_bytes(file_of(table, facts)) == counts
    n_refused = sum(
        assert_refused_or_of_its_table(file_of(changed_table(table, rng), facts))
        for _ in range(N_CHANGES // 2)
    )
    assert n_refused > N_CHANGES // 6


def test_changed_metadata_is_refused_or_known_of_other_rows(case):
    """Changed metadata are refused, or are the metadata of other possible rows."""
    counts, data, rng = case
    table, facts = parts_of(data)
    for _ in range(N_CHANGES // 2):
        again = load_or_refuse(file_of(table, changed_facts(facts, rng)))
        if again is not None:
            np.testing.assert_array_equal(again.cells.starts, counts.cells.starts)
            np.testing.assert_array_equal(again.cells.scores, counts.cells.scores)
            np.testing.assert_array_equal(again.cells.positives, counts.cells.positives)
            assert facts_of(pickle.loads(pickle.dumps(again))) == facts_of(again)


def change_of_table(name, row, value):
    return lambda table, facts: (with_value(table, name, row, value), facts)


def change_of_facts(**change):
    return lambda table, facts: (table, {**facts, **change})


def with_column(**change):
    return change_of_facts(group_columns=[{"name": "site", "kind": "text", **change}])


def without(name):
    return lambda table, facts: (table.drop_columns([name]), facts)


def retyped(name, kind):
    return lambda table, facts: (
        table.set_column(table.column_names.index(name), name, table[name].cast(kind)),
        facts,
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_of_table("score", 1, np.nan), "not finite numbers, at cell 1"),
        (change_of_table("n_positives", 2, -3), "column n_positives has -3 in row 2"),
        (change_of_table("n_negatives", 0, 2**62), "has n_negatives 2, and its column 4611"),
        (change_of_table("site", 0, None), "column 'site' has no value in row 0"),
        (lambda table, facts: (table.slice(1), facts), "has 2 rows, 2 in its row groups and 3 by"),
        (without("n_positives"), "calls for 'site', 'score', 'n_negatives', 'n_positives'"),
        (retyped("score", pa.float32()), "column 'score' has the type float instead of double"),
        (change_of_facts(n_missing=-1), "number of rows left out"),
        (change_of_facts(n_missing=2**40 + 1), "the number of rows left out is none"),
        (change_of_facts(n_cells=10**12), "in its row groups and 1000000000000 by"),
        (change_of_facts(n_missing=None), "its metadata has no n_missing of type int"),
        (change_of_facts(min_count=0), "min_count must be a whole number of at least 1; got 0"),
        (with_column(kind="colour"), "does not describe the labels"),
        (with_column(kind="coded"), "does not describe the labels"),
        (change_of_facts(labels_seen=[0, 1, 2]), "labels of its classes do not go together"),
        (change_of_facts(sources=[{"identifier": "x", "name": None}]), "its sources are none"),
        (change_of_facts(is_weighted=True), "calls for 'site', 'score'"),
        (change_of_facts(group_names="ab"), "has group_names that are no names"),
        (change_of_facts(group_names={}), "has group_names that are no names"),
        (change_of_facts(group_names={"k": 1}), "has group_names that are no names"),
        (change_of_facts(group_columns=[]), "has group_columns that are none"),
        (change_of_facts(format="another"), "is damaged: its metadata has another format"),
        (change_of_facts(version=0), "its metadata has the version 0"),
        (change_of_facts(version=99), "Upgrade by: pip"),
        (change_of_facts(checkpoint={"n_batches": 1}), "is a checkpoint of from_batches"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(change, message):
    counts = ScoreCounts.from_predictions(
        [0, 1, 0], [0.25, 0.5, 0.5], groups=pd.Series(["a", "a", "b"], name="site")
    )
    table, facts = parts_of(counts.to_bytes())
    with pytest.raises(ValueError, match=f"^data .*{re.escape(message)}"):
        ScoreCounts.from_bytes(file_of(*change(table, facts)))


@pytest.mark.parametrize("name", ["weight_negatives", "squared_weight_positives"])
def test_weights_that_do_not_match_are_refused(name):
    counts = ScoreCounts.from_predictions(
        [0, 1, 0], [0.25, 0.25, 0.25], sample_weight=[0.5, 2.0, 3.0]
    )
    table, facts = parts_of(counts.to_bytes())
    for value in (0.0, 1e9):
        data = file_of(*change_of_table(name, 0, value)(table, facts))
        with pytest.raises(ValueError, match=r"^data is damaged: its weights do not match"):
            ScoreCounts.from_bytes(data)


BINS = Bins.of_probabilities(octaves=2, parts=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_of_table("score", 0, 0.3), "is not that of a bin of Bins.of_prob"),
        (change_of_table("score_low", 0, 0.1), "is not that of a bin of Bins.of_prob"),
        (change_of_table("score_low", 1, 1.0), "outside its range from 1 to 0.625, at cell 1"),
        (change_of_table("score_high", 1, np.inf), "outside its range from 0.5 to inf, at cell 1"),
        (change_of_table("score_low", 1, np.nan), "outside its range from nan to 0.625"),
        (change_of_facts(bins={"rule": "of_scores", "parts": 64}), "not that of a bin of Bins"),
        (change_of_facts(bins={"rule": "at", "edges": []}), "edges must hold at least one"),
        (change_of_facts(bins="exact"), "state must be a mapping"),
        (change_of_facts(level="exact"), "no known level of disclosure"),
        (change_of_facts(version=1), "no known level of disclosure"),
        (without("score_low"), "calls for 'score', 'score_low', 'score_high', 'n_negatives'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_ranges_is_named(change, message):
    counts = ScoreCounts.from_predictions([0, 1, 0], [0.25, 0.5, 0.55], disclosure=BINS)
    table, facts = parts_of(counts.to_bytes())
    assert ScoreCounts.from_bytes(file_of(table, facts)) == counts
    with pytest.raises(ValueError, match=f"^data .*{re.escape(message)}"):
        ScoreCounts.from_bytes(file_of(*change(table, facts)))


@pytest.mark.parametrize(
    "change",
    [
        change_of_facts(level="bins"),
        change_of_facts(level="bins", bins=BINS.to_dict()),
        change_of_facts(version=2, disclosure="bins", bins=None),
        change_of_facts(bins=None),
        lambda table, facts: (table.append_column("score_low", table["score"]), facts),
    ],
)
def test_exact_counts_have_no_ranges(change):
    table, facts = parts_of(ScoreCounts.from_predictions([0, 1], [0.25, 0.5]).to_bytes())
    with pytest.raises(ValueError, match=r"^data is no file of ScoreCounts, or is damaged: it"):
        ScoreCounts.from_bytes(file_of(*change(table, facts)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pd.DataFrame({"score": [0.5]}).to_parquet(), "is a Parquet file, but ScoreCounts.save d"),
        (b"site,score\n", "is not a file of ScoreCounts.*got b'site'"),
        (CASES["text"].to_bytes()[:-1], "is no file of ScoreCounts, or is damaged: its end is"),
        (file_of(pa.table({"score": [0.5]}), b"[" * 100_000), "or is damaged: Recurs"),
    ],
    ids=["Parquet", "text", "short", "deep"],
)
def test_other_files_are_named(tmp_path, content, message):
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^path '{path}' .*{message}"):
        ScoreCounts.load(path)


def test_labels_that_are_not_utf8():
    table, facts = parts_of(CASES["text"].to_bytes())
    odd = pa.array(["\ud800"[:0].encode() + b"\xff\xfe"] * len(table), pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(odd), odd.buffers())
    data = file_of(table.set_column(0, "site", text), facts)
    with pytest.raises(ValueError, match=r"^data is no file of ScoreCounts, or is damaged: .*UTF8"):
        ScoreCounts.from_bytes(data)


def peak_memory(function):
    """Return the bytes by which the memory of this process grows at most during a call."""
    status = pathlib.Path("/proc/self/status")
    clear = pathlib.Path("/proc/self/clear_refs")
    if not (status.exists() and os.access(clear, os.W_OK)):
        pytest.skip("the system does not tell the peak of memory")
    gc.collect()
    clear.write_text("5")  # begin a new peak
    before = int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1])
    function()
    return 1024 * (int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) - before)


def assert_refused_in_little_memory(data, match, most=1 << 24, **arguments):
    def refused():
        with pytest.raises(ValueError, match=match) as caught:
            ScoreCounts.from_bytes(data, **arguments)
        assert re.match(REFUSED, str(caught.value))

    assert peak_memory(refused) < most


def with_long_label(size, n_rows=1, **options):
    """Bytes of a file whose first label has `size` characters."""
    table, facts = parts_of(CASES["text"].to_bytes())
    table = pa.concat_tables([table.slice(0, 1)] * n_rows)
    labels = ["x" * size, *["a"] * (n_rows - 1)]
    facts["n_cells"] = n_rows
    options = {"dictionary_pagesize_limit": 1 << 30, "write_statistics": False, **options}
    return file_of(table.set_column(0, "site", pa.array(labels)), facts, **options)


def with_other_sizes(data, old, new):
    """The file with other declared sizes, written in the same number of bytes."""

    def varint(number, n_bytes):
        number *= 2
        parts = [number >> 7 * i & 127 | 128 for i in range(n_bytes)]
        return bytes([*parts[:-1], parts[-1] & 127])

    footer = footer_of(data)
    for size in old:
        n_bytes = -(-(2 * size).bit_length() // 7)
        assert data.count(varint(size, n_bytes), footer) >= 1
        changed = data[footer:].replace(varint(size, n_bytes), varint(new, n_bytes))
        data = data[:footer] + changed
    return data


@pytest.mark.parametrize("codec", ["zstd", "gzip"])
def test_a_long_label_is_refused_in_little_memory(codec):
    """A label of 70 million characters in a small file, which took a multiple of its size."""
    data = with_long_label(70_000_000, compression=codec)
    assert len(data) < 6_000_000
    match = r"^data .*would take .* bytes of memory, (and the file has|so it has labels)"
    assert_refused_in_little_memory(data, match)


def test_false_sizes_of_pages_are_refused_in_little_memory():
    """The headers of the pages are compared with the metadata before a page is read."""
    data = with_long_label(70_000_000)
    group = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(0)
    sizes = {group.total_byte_size, group.column(0).total_uncompressed_size}
    small = with_other_sizes(data, sizes, 100)
    assert pq.ParquetFile(pa.BufferReader(small)).metadata.row_group(0).total_byte_size == 100
    match = "its pages would take 70,.* bytes of memory, and its metadata says 100"
    assert_refused_in_little_memory(small, match)


def test_headers_of_pages_end():
    """Lists with more items than bytes end at once, as does any damage to a header."""
    data = bytearray(CASES["text"].to_bytes())
    size = size_of_pages(bytes(data))
    group = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(0)
    assert 0 < size <= group.total_byte_size
    # Field 1 is a list (9) of 2**62 doubles (7), or a map (11), which Parquet lacks.
    for head in (b"\x19\xf7", b"\x1b"):
        endless = head + b"\xff" * 8 + b"\x3f\x77"
        with pytest.raises(ValueError, match=r"more items than the file has bytes|of kind 11"):
            size_of_pages(bytes(data[:4]) + endless + bytes(data[4 + len(endless) :]))
    rng = np.random.default_rng(0)
    for _ in range(300):
        with contextlib.suppress(
            ValueError, LookupError, TypeError, AttributeError, RecursionError
        ):
            size_of_pages(changed_bytes(bytes(data), rng))


def test_pages_that_many_columns_share_are_refused(monkeypatch):
    data, read = CASES["text"].to_bytes(), file_format._structure

    def with_many(data, place):
        found, end = read(data, place)
        return {of: v * 99 if isinstance(v, list) else v for of, v in found.items()}, end

    monkeypatch.setattr(file_format, "_structure", with_many)
    with pytest.raises(ValueError, match="its pages overlap"):
        size_of_pages(data)


def footer_of(data):
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def test_texts_that_share_beginnings_are_refused():
    """A page of 1 MB whose rows repeat the beginning of one text would take 10 GB."""
    table, facts = parts_of(CASES["text"].to_bytes())
    table = pa.concat_tables([table.slice(0, 1)] * 1000).set_column(
        0, "site", pa.array(["x" * 9000] * 1000)
    )
    facts["n_cells"] = len(table)
    options = {"use_dictionary": False, "column_encoding": {"site": "DELTA_BYTE_ARRAY"}}
    assert_refused_in_little_memory(file_of(table, facts, **options), "a page has the encoding 7")


def test_limits_of_the_receiver(tmp_path):
    counts = ScoreCounts.from_predictions([0, 1, 1], [0.1, 0.4, 0.7], groups=["oslo"] * 3)
    data = counts.with_source("a hospital").to_bytes()
    for limits, match in (
        (Limits(max_rows=1), "it counts 2 rows of a class, above the receiver.s limit of 1; pass"),
        (Limits(max_label_length=9), "it has a label or name of 10 characters, .* limit of 9; p"),
        (Limits(max_bytes=len(data) - 1), rf"it has {len(data):,} bytes or more, above the rec"),
    ):
        with pytest.raises(ValueError, match=f"^data is refused: {match}"):
            ScoreCounts.from_bytes(data, limits=limits)
    exact = Limits(max_rows=2, max_label_length=10, max_bytes=max(len(data), 1000))
    assert ScoreCounts.from_bytes(data, limits=exact) == counts
    path = tmp_path / "counts.skfa"
    path.write_bytes(data)
    assert ScoreCounts.load(path, limits=exact) == counts
    with pytest.raises(ValueError, match=r"counts.skfa' is refused: it has .* bytes or more"):
        ScoreCounts.load(path, limits=Limits(max_bytes=100))
    with pytest.raises(TypeError, match=r"limits must be a skfedauc.counts.Limits or None; got"):
        ScoreCounts.load(path, limits=100)


@pytest.mark.parametrize("name", ["text", "coded", "class", "column"])
def test_limits_apply_to_all_labels_and_names(name):
    long = "x" * 50
    groups = {
        "text": [long] * 2,
        "coded": pd.Categorical.from_codes([0, 0], [pd.Period("2024")]),
        "column": pd.Series(["a"] * 2, name=long),
    }.get(name, ["a"] * 2)
    y = [long, "y"] if name == "class" else [0, 1]
    counts = ScoreCounts.from_predictions(y, [0.1, 0.2], groups=groups, pos_label=y[1])
    data = counts.to_bytes()
    assert ScoreCounts.from_bytes(data, limits=Limits(max_label_length=50)) == counts
    with pytest.raises(ValueError, match=r"^data is refused: it has a label or name of \d+ char"):
        ScoreCounts.from_bytes(data, limits=Limits(max_label_length=3))


def test_rows_that_would_exhaust_the_memory_are_refused():
    n_rows = 1_000_000
    table = pa.table(
        {
            "score": np.zeros(n_rows),
            "n_negatives": np.ones(n_rows, int),
            "n_positives": np.ones(n_rows, int),
        }
    )
    facts = {**parts_of(CASES["no groups"].to_bytes())[1], "n_cells": 2 * n_rows}
    columns = ["score", "n_negatives", "n_positives"]
    data = file_of(table, facts, 2, is_sealed=False, use_dictionary=columns)
    assert len(data) < 200_000
    match = r"^data .*would take .* bytes of memory, and the file has"
    assert_refused_in_little_memory(data, match)
    limits = Limits(max_bytes=1 << 20)
    data = file_of(table, {**facts, "n_cells": n_rows}, is_sealed=False, use_dictionary=False)
    with pytest.raises(ValueError, match=r"it has .* bytes or more|would take .* above the rec"):
        ScoreCounts.from_bytes(data, limits=limits)


@pytest.mark.parametrize("classes", [([1, np.inf], 1), ([-np.inf, 1], 1), ([], np.inf)])
def test_infinite_labels_of_classes_are_refused(classes):
    seen, positive = classes
    counts = CASES["text"]
    table, facts = parts_of(counts.to_bytes())
    facts |= {"labels_seen": seen, "pos_label": positive}
    with pytest.raises(ValueError, match=r"^data is damaged: the labels of its classes are none"):
        ScoreCounts.from_bytes(file_of(table, facts))
    with pytest.raises(ValueError, match="is damaged: the labels of its classes are none"):
        restored(counts, classes=Classes(tuple(seen), positive))


def test_pages_have_checksums():
    """The reader detects a flipped bit before decoding the page, which could crash the process."""
    data = bytearray(CASES["no groups"].to_bytes())
    place = data.index(b"\x28\xb5\x2f\xfd") + 10  # after the beginning of a frame of zstd
    data[place] ^= 1
    with pytest.raises(ValueError, match=r"^data is no file of ScoreCounts, .*CRC checksum"):
        ScoreCounts.from_bytes(data)


def test_labels_have_one_form_however_they_are_written():
    """Equal labels have equal arrays, or the file is refused."""
    table, facts = parts_of(CASES["unsigned integers"].to_bytes())
    small = {0: 0, 5: 1, 2**63: 2, 2**64 - 1: 3}
    values = pa.array([small[value] for value in table["group"].to_pylist()], pa.uint64())
    counts = ScoreCounts.from_bytes(file_of(table.set_column(0, "group", values), facts))
    assert view_of(counts).labels.dtype == np.int64
    assert counts.groups == (0, 1, 2, 3)
    table, facts = parts_of(CASES["intervals"].to_bytes())
    for day, pair in enumerate(facts["group_columns"][0]["labels"], start=1):
        pair[1] = {"date": f"2020-01-0{day}"}
    with pytest.raises(ValueError, match=r"^data .*coded labels are of another kind"):
        ScoreCounts.from_bytes(file_of(table, facts))
