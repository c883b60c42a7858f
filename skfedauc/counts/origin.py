"""Metadata of counted rows, in addition to their counts."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from skfedauc import _input, _words
from skfedauc.counts.withheld import Withheld

if TYPE_CHECKING:
    from skfedauc.counts.bins import Bins


class Source(NamedTuple):
    """Counting of rows that the user saved or sent.

    Attributes
    ----------
    identifier : str
        128 random bits as 32 hexadecimal digits; the first save makes the identifier.
    name : str or None
        Value of the argument `source` of the save.
    """

    identifier: str
    name: str | None = None


class Origin(NamedTuple):
    """Metadata of the rows of a `ScoreCounts`, in addition to their counts.

    Attributes
    ----------
    n_missing : int
        Number of rows that the counts leave out because these rows have no group label.
    group_names : tuple of str
        Names of the group columns. Empty if the names are unknown, or differ between merged score
        counts.
    classes : Classes
        Class labels of the rows. Empty if the labels are unknown, as in `ScoreCounts.from_counts`.
    sources : tuple of Source
        Saved or sent countings in these counts, sorted by name and identifier.
    is_complete : bool
        Whether `sources` include all rows. If False, saving the counts adds a source.
    bins : Bins or None
        Rule that maps scores to bins. None for exact counts, and for ranges of scores that are not
        bins of one rule.
    withheld : Withheld
        Groups that `reduced` withheld because they have few rows of a class.
    is_suppressed : bool
        Whether small groups or small counts of any part were subject to suppression, even if none
        was small. The mark must not depend on the rows, because a mark that does discloses a row.
    may_repeat : bool
        Whether a merge permitted that rows count several times, even if none did.
    orders : tuple of tuples
        Ordered categories of each group column, in which tables list the groups; () for columns
        in alphabetical order. Files do not hold the orders, and parts with different orders are
        merged to ().
    """

    n_missing: int = 0
    group_names: tuple[str, ...] = ()
    classes: _input.Classes = _input.Classes()
    sources: tuple[Source, ...] = ()
    is_complete: bool = False
    bins: Bins | None = None
    withheld: Withheld = Withheld()
    is_suppressed: bool = False
    may_repeat: bool = False
    orders: tuple[tuple[Any, ...], ...] = ()

    @classmethod
    def merged(cls, origins: list[Origin]) -> Origin:
        """Merge the metadata of several score counts.

        Raises
        ------
        ValueError
            If the class labels are incompatible.
        """
        # Merged parts with different names have no names, so that the order of merging has no
        # effect.
        names = {origin.group_names for origin in origins}
        orders = {origin.orders for origin in origins}
        bins = {origin.bins for origin in origins}
        return cls(
            sum(origin.n_missing for origin in origins),
            names.pop() if len(names) == 1 else (),
            _input.Classes.merged(origin.classes for origin in origins),
            in_order(source for origin in origins for source in origin.sources),
            all(origin.is_complete for origin in origins),
            bins.pop() if len(bins) == 1 else None,
            Withheld.merged([origin.withheld for origin in origins]),
            any(origin.is_suppressed for origin in origins),
            any(origin.may_repeat for origin in origins),
            orders.pop() if len(orders) == 1 else (),
        )

    @property
    def identifier(self) -> str:
        """Identifier of the sources, which are random."""
        found = [source.identifier for source in self.sources]
        return (
            found[0]
            if len(found) == 1
            else sha256("".join(sorted(found)).encode()).hexdigest()[:32]
        )

    def regrouped(self) -> Origin:
        """Return the metadata of the same rows in other groups."""
        return self._replace(group_names=(), withheld=self.withheld.without_labels(), orders=())

    def saved(self, name: str | None) -> Origin:
        """Return the metadata with a new source for the rows without a source.

        Parameters
        ----------
        name : str or None
            Name of the new source, or new name of the only source.

        Raises
        ------
        ValueError, TypeError
            If `name` is not text, or if the counts have several sources.
        """
        check_source(name)
        if not self.is_complete:
            new = Source(secrets.token_hex(16), name)
            return self._replace(sources=in_order([*self.sources, new]), is_complete=True)
        if name is None:
            return self
        if len(self.sources) > 1:
            raise ValueError(
                f"source={_words.shortened(name)} names one counting of rows; these counts are "
                f"merged from {len(self.sources)} countings that were saved before and keep their "
                "names. Leave source out."
            )
        return self._replace(sources=(self.sources[0]._replace(name=name),))


def check_source(name: object) -> None:
    """Raise an error for a source name that is not text."""
    if name is None:
        return
    if not isinstance(name, str):
        raise TypeError(f"source must be a str or None; got {_words.described(name)}.")
    _input.check_text([name], "source")


def in_order(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources sorted by name and identifier, each identifier once."""
    found: dict[str, Source] = {}
    for source in sorted(sources, key=lambda source: (source.name or "", source.identifier)):
        found.setdefault(source.identifier, source)
    return tuple(found.values())


def left_out(n_missing: int) -> str:
    """Return a phrase with the number of rows without a group label."""
    if not n_missing:
        return ""
    return f", {_words.counted(n_missing, 'row')} without a group label left out"
