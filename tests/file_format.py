"""Writer of files of counts in pyarrow, by the page "File format": an oracle of the format."""

import hashlib
import json
import struct
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq


def bytes_of(value, kind):
    """Return the bytes of a value that the checksum covers."""
    if value is None:
        return b"(missing)"
    if pa.types.is_floating(kind):
        return struct.pack(">d", value)
    if pa.types.is_string(kind) or pa.types.is_decimal(kind):
        text = str(value).encode()
        return struct.pack(">q", len(text)) + text
    return struct.pack(">Q" if pa.types.is_uint64(kind) else ">q", int(value))


def checksum(text, table):
    """Return the SHA-256 of the metadata and of the values; "" for values that no file has."""
    sha256 = hashlib.sha256(text)
    try:
        for column in table.columns:
            kind = column.type
            if pa.types.is_dictionary(kind):
                column, kind = column.cast(kind.value_type), kind.value_type
            if pa.types.is_timestamp(kind):
                column = column.cast(pa.int64())
            for value in column.to_pylist():
                sha256.update(bytes_of(value, kind))
    except (TypeError, ValueError, struct.error, UnicodeError, pa.ArrowException):
        return ""
    return sha256.hexdigest()


def file_of(table, facts, n_times=1, *, is_sealed=True, sealed=None, **options):
    """Return the bytes of a file with this metadata, and with the table once or several times.

    The checksum is that of the table, or of the table `sealed`.
    """
    text = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
    whole = pa.concat_tables([table] * n_times) if n_times else table.slice(0, 0)
    sink = pa.BufferOutputStream()
    options = {"compression": "zstd", "store_schema": False, **options}
    with pq.ParquetWriter(sink, table.schema, **options) as writer:
        for _ in range(n_times):
            writer.write_table(table)
        sha256 = checksum(text, whole if sealed is None else sealed) if is_sealed else ""
        writer.add_key_value_metadata({b"skfedauc": text, b"skfedauc.sha256": sha256})
    return bytes(sink.getvalue())


def parts_of(data):
    table = pq.read_table(pa.BufferReader(data))
    return table, json.loads(table.schema.metadata[b"skfedauc"])


def with_value(table, name, row, value):
    """Return the table with another value; `value` may be a function of the old value."""
    kind, values = table[name].type, table[name].to_pylist()
    values[row] = value(values[row]) if callable(value) else value
    if pa.types.is_decimal(kind):
        values = list(map(Decimal, values))
    return table.set_column(table.column_names.index(name), name, pa.array(values, kind))


def changed_bytes(data, rng):
    """The bytes with one change: of a bit, of bytes, of the length or of the order."""
    data = bytearray(data)
    kind, place = rng.integers(7), int(rng.integers(len(data)))
    until = min(len(data), place + int(rng.integers(1, 40)))
    if kind == 0:
        data[place] ^= 1 << rng.integers(8)
    elif kind == 1:
        data[place] = rng.integers(256)
    elif kind == 2:
        data[place:until] = rng.bytes(until - place)
    elif kind == 3:
        del data[place:until]
    elif kind == 4:
        data[place:place] = data[place:until]
    elif kind == 5:
        del data[place:]
    else:
        other = int(rng.integers(len(data)))
        data[place], data[other] = data[other], data[place]
    return bytes(data)
