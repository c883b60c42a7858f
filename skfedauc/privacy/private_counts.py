"""Define `PrivateCounts`, mergeable counts by group and bin with noise for differential privacy."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from skfedauc import _input, _labels, _words
from skfedauc.counts import Bins, ScoreCounts
from skfedauc.counts.files import OtherFileError, Saved
from skfedauc.counts.score_counts import view_of
from skfedauc.counts.state import Source, check_name, new_source
from skfedauc.counts.vectors import Grid
from skfedauc.privacy.laplace import check_epsilon, with_noise
from skfedauc.privacy.state import Release, State, content_of, exact_state, merged, read_content

if TYPE_CHECKING:
    import pandas as pd


class PrivateCounts(Saved, State):
    """Counts of negatives and positives by group and bin, with noise for differential privacy.

    At a site, `from_counts` draws discrete Laplace noise once for the number of each group, bin
    and class. Adding or removing one row then changes the probability of any result at most by the
    factor ``exp(epsilon)`` [1]_. Send the counts with `save`, add up the sites with `merge`, and
    compute AUCs with `confidence_intervals`.

    Attributes
    ----------
    negatives, positives : int64 array, shape (n_groups, n_bins)
        Numbers with noise, read-only.
    groups : tuple or None
        Sorted labels of the agreed groups, or None for rows without groups.
    bins : Bins
        Bins of the scores.
    releases : tuple of Release
        Draws of noise, each with its name, `epsilon`, `rows_per_person`, `groups`, `model` and
        `period`.
    group_names : tuple of str
        Group column names, or empty for groups without names.
    pos_label : int, float, str or None
        The positive label, or None for an unknown label.
    sources : tuple of Source
        Sources of the exact counts in the sum, sorted by name and identifier.
    exact_groups : tuple
        Sorted labels of groups with exact counts.
    epsilon : float
        Largest epsilon, for persons with rows in one release only.
    variance : float64 array, shape (n_groups,)
        Variance of the noise of each count by group.

    See Also
    --------
    skfedauc.ScoreCounts : Exact counts, the input of `PrivateCounts.from_counts`.

    Notes
    -----
    Bins, group labels, names of group columns, the positive label and source names have no noise,
    and must not depend on the rows. The epsilons of several releases of the same rows, or of a
    person's sites, add up, and the package keeps no record of them: draw once, and send the same
    file again. Without persons at two sites, the largest epsilon holds. The noise of each
    count is discrete Laplace, or two-sided geometric [2]_, with ``P(x) = (1 - a) / (1 + a) *
    a**abs(x)`` for ``a = exp(-epsilon / rows_per_person)``, and the variance
    ``2 a / (1 - a)**2``: 7.8 at epsilon 0.5, 1.8 at 1, and 0.014 at 5. Counts can be
    negative: setting these to 0 would move the AUC towards 1/2.

    References
    ----------
    .. [1] Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to
       sensitivity in private data analysis. Theory of Cryptography Conference.
       https://doi.org/10.1007/11681878_14
    .. [2] Ghosh, A., Roughgarden, T. and Sundararajan, M. (2012). Universally utility-maximizing
       privacy mechanisms. SIAM Journal on Computing 41(6). https://doi.org/10.1137/09076828X

    Examples
    --------
    >>> from skfedauc import Bins, ScoreCounts
    >>> from skfedauc.privacy import PrivateCounts
    >>> counts = ScoreCounts.from_counts(["va", "va"], [0.2, 0.7], [31_000, 5_000], [2_000, 19_000])
    >>> private = PrivateCounts.from_counts(counts, Bins.at([0.5]), ["va"], epsilon=1.0)
    >>> private
    PrivateCounts(1 group, 2 bins, epsilon 1 for one row)
    >>> print(f"{private.confidence_intervals().auc['va']:.2f}")
    0.88
    """

    def __init__(self) -> None:
        raise TypeError(
            "PrivateCounts has no public constructor: use PrivateCounts.from_counts(counts, bins, "
            "groups, epsilon=...)."
        )

    @classmethod
    def _of(cls, state: State) -> PrivateCounts:
        for array in (state.negatives, state.positives, state.labels):
            if array is not None:
                array.flags.writeable = False
        counts = object.__new__(cls)
        vars(counts).update(vars(state))
        return counts

    @classmethod
    def from_counts(
        cls,
        counts: ScoreCounts,
        bins: Bins,
        groups: Any,
        *,
        epsilon: float,
        rows_per_person: int = 1,
        pos_label: int | float | str = 1,
        source: str | None = None,
    ) -> PrivateCounts:
        """Draw the noise of a site's counts; call this once for the rows in a site.

        Parameters
        ----------
        counts : ScoreCounts
            Counts of the site's rows without sample weights: exact, or by bins whose unions are
            `bins`. The release keeps the model and the period of their `with_source`.
        bins : Bins
            Agreed bins, of a fixed number, that do not depend on these rows.
        groups : array-like of labels, or None
            Public labels of all groups, or None for counts without groups. A group without rows
            gets pure noise.
        epsilon : float
            Privacy loss of all counts together: commonly .1 to 5, at most 10 per row.
        rows_per_person : int, default=1
            At most this many rows per person, all of which epsilon protects, by noise that is as
            many times larger. It cannot be checked.
        pos_label : int, float or str, default=1
            Positive label that all sites agree on.
        source : str, default=None
            Site name.

        Returns
        -------
        PrivateCounts
            Each call draws new noise, without a seed. A million counts take about 20 seconds.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. If the counts have another group, weights, another
            positive label, or went through `min_count` or `min_per_class`.
        ImportError
            If OpenDP is missing, or is older than 0.14.2: ``pip install "skfedauc[privacy]"``.

        Examples
        --------
        >>> from skfedauc import Bins, ScoreCounts
        >>> from skfedauc.privacy import PrivateCounts
        >>> counts = ScoreCounts.from_counts(["va", "va"], [0.2, 0.7], [310, 50], [20, 190])
        >>> private = PrivateCounts.from_counts(
        ...     counts, Bins.at([0.5]), ["va", "oslo"], epsilon=0.5, rows_per_person=2
        ... )
        >>> private
        PrivateCounts(2 groups, 2 bins, epsilon 0.5 for one person with at most 2 rows)
        >>> private.positives.shape
        (2, 2)
        """
        _input.check_type(counts, ScoreCounts, "counts must be a ScoreCounts")
        grid = Grid(bins, groups)
        epsilon, rows_per_person = check_epsilon(epsilon, rows_per_person)
        label = _agreed_label(pos_label, view_of(counts).classes)
        released = () if grid.labels is None else tuple(grid.labels.tolist())
        check_name(source, "source")
        known = counts.sources[0] if len(counts.sources) == 1 else Source()
        identifier = new_source(source).identifier
        facts = epsilon, rows_per_person, released, known.model, known.period
        release = Release(identifier, source, *facts)
        exact = counts.to_vector(bins, groups)  # refuses counts for which epsilon would not hold
        exact = exact.reshape(2, grid.n_groups, grid.n_bins)
        negatives, positives = with_noise(exact, epsilon, rows_per_person)
        names = counts.group_names
        return cls._of(State(negatives, positives, grid.labels, bins, (release,), names, label))

    @classmethod
    def merge(
        cls, parts: Iterable[PrivateCounts | ScoreCounts | str | os.PathLike[str]]
    ) -> PrivateCounts:
        """Add up counts from several sites.

        Parameters
        ----------
        parts : iterable of PrivateCounts, ScoreCounts, str or os.PathLike
            Counts or paths, at least one of them with noise, all by the same bins. Parts without
            noise may have exact scores or finer bins; epsilon does not protect them.

        Returns
        -------
        PrivateCounts

        Raises
        ------
        ValueError
            If no part has noise, two parts share a release or counting, or have one source name and
            period, or bins, positive labels or groups differ in kind. If a part without noise has
            weights, is a summary, or has ranges that cross bins.
        TypeError
            If a part is neither counts nor a path, or group labels have different types.

        Warns
        -----
        UserWarning
            If parts name different models, or a part without noise has withheld groups.

        Examples
        --------
        >>> from skfedauc import Bins, ScoreCounts
        >>> from skfedauc.privacy import PrivateCounts
        >>> oslo, bern = (
        ...     ScoreCounts.from_counts([site] * 2, [0.2, 0.7], [280, 50], [30, 170])
        ...     for site in ("oslo", "bern")
        ... )
        >>> private = PrivateCounts.from_counts(oslo, Bins.at([0.5]), ["oslo"], epsilon=0.5)
        >>> PrivateCounts.merge([private, bern]).exact_groups
        ('bern',)
        """
        must_be = "parts must be an iterable of PrivateCounts, ScoreCounts or paths, such as a list"
        _input.check_type(parts, Iterable, must_be)
        named = dict(_loaded(number, part) for number, part in enumerate(parts))
        bins = next((part.bins for part in named.values() if isinstance(part, PrivateCounts)), None)
        if bins is None:
            found = "only ScoreCounts, which ScoreCounts.merge adds up" if named else "none"
            raise ValueError(f"parts must have at least one PrivateCounts; got {found}.")
        states = {
            name: exact_state(part, bins, name) if isinstance(part, ScoreCounts) else part
            for name, part in named.items()
        }
        return cls._of(merged(states))

    def confidence_intervals(
        self, *, confidence_level: float = 0.95, of: Literal["groups", "statistics"] = "groups"
    ) -> pd.DataFrame:
        """Return AUCs with intervals that cover sampling, noise and bins.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level.
        of : {"groups", "statistics"}, default="groups"
            Each group's AUC; or the pooled AUC, the averages ``macro``, ``samples``,
            ``positives``, ``negatives`` and ``within``, and the ``difference`` of the largest and
            the smallest AUC.

        Returns
        -------
        pandas.DataFrame
            By group: `auc`, `ci_low` and `ci_high`; the standard errors `se_sampling` and
            `se_noise`; `bin_width`, the estimated difference of the largest and the smallest AUC
            that the bins permit; `n_positives` and `n_negatives`, with noise; and `note`. By
            statistic: `value` instead of `auc`, without numbers of rows. Values are NaN where the
            noise dominates.

        Raises
        ------
        ValueError
            If an argument is not as described.

        Notes
        -----
        `skfedauc.privacy.intervals` has the formulas with their sources. Intervals are for new rows
        of these groups; that of the difference holds for all pairs of groups together. The noise
        dominates a group if a class has fewer rows than four standard errors of their noise,
        ``4 * sqrt(n_bins * variance)``. Averages and the difference omit such groups; the pooled
        AUC has them.

        Examples
        --------
        >>> from skfedauc import Bins, ScoreCounts
        >>> from skfedauc.privacy import PrivateCounts
        >>> counts = ScoreCounts.from_counts(
        ...     ["oslo", "oslo", "lima"], [0.2, 0.7, 0.7], [3100, 500, 5], [200, 1900, 3]
        ... )
        >>> agreed = ["lima", "oslo"]
        >>> private = PrivateCounts.from_counts(counts, Bins.at([0.5]), agreed, epsilon=0.1)
        >>> private.confidence_intervals().round(2)[["auc", "ci_low", "ci_high"]].isna().all(axis=1)
        group
        lima     True
        oslo    False
        dtype: bool
        """
        # Devices make counts without pandas and SciPy.
        from skfedauc.privacy.intervals import interval_table

        tail = (1.0 - _input.check_share(confidence_level, "confidence_level")) / 2.0
        _input.check_option("of", of, ("groups", "statistics"))
        return interval_table(self, of, tail)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PrivateCounts:
        """Read counts from a file of `save`.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Returns
        -------
        PrivateCounts

        Raises
        ------
        ValueError, TypeError, OSError, ImportError
            If the file is damaged or absent, or `save` did not write it; as in `save`.
        """
        from skfedauc.counts import file_format

        data = file_format.read_file(path, "PrivateCounts")
        return cls._of(read_content(data, f"path {os.fspath(path)!r}"))

    def _of_file(self) -> bytes:
        return content_of(self)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> PrivateCounts:
        """Read counts from the bytes of `to_bytes`.

        Parameters
        ----------
        data : bytes-like
            Content of a file of `save`.

        Returns
        -------
        PrivateCounts

        Raises
        ------
        ValueError, ImportError
            As in `load`.
        TypeError
            If `data` is not bytes-like.
        """
        from skfedauc.counts import file_format

        file_format.check_bytes(data, "PrivateCounts")
        return cls._of(read_content(data, "data"))

    def __len__(self) -> int:
        """Group count, or 1 for rows without groups."""
        return len(self.negatives)

    def _content(self) -> tuple[Any, ...]:
        arrays = self.negatives.tobytes(), self.positives.tobytes()
        return (*arrays, self.groups, self.bins, self.releases, self.exact_groups)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrivateCounts) and self._content() == other._content()

    def __reduce__(self) -> tuple[Any, ...]:
        return PrivateCounts.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        groups = "no groups" if self.groups is None else _words.counted(len(self), "group")
        n_releases = len(self.releases)
        of_releases = f"{_words.counted(n_releases, 'release')}, " if n_releases > 1 else ""
        protected = {release.protected for release in self.releases}
        what = protected.pop() if len(protected) == 1 else "each site's rows of a person"
        exact = ", with exact counts" if self.sources else ""
        if self.exact_groups:
            exact += f" of {_words.counted(len(self.exact_groups), 'group')}"
        return (
            f"PrivateCounts({groups}, {_words.counted(self.negatives.shape[1], 'bin')}, "
            f"{of_releases}epsilon {self.epsilon:g} for {what}{exact})"
        )


def _agreed_label(pos_label: Any, classes: _labels.Classes) -> Any:
    """Return the positive label of all sites, after comparing it with that of the counts."""
    (label,) = _labels.Classes.of([pos_label], None).seen
    if pos_label is None or label != label:
        raise ValueError(
            f"pos_label must be the positive label that all sites agree on, such as 1; got "
            f"{_words.shortened(pos_label)}."
        )
    # It must not depend on the rows: counts without rows may have no positive label.
    _labels.Classes.merged([classes, _labels.Classes((), label)])
    return label


def _loaded(number: int, part: Any) -> tuple[str, PrivateCounts | ScoreCounts]:
    """Return the name of a part of a merge, and the private or exact counts."""
    name = f"part {number}"
    if isinstance(part, str | os.PathLike):
        name = f"{name}, {os.fspath(part)!r}"
        try:
            part = PrivateCounts.load(part)
        except OtherFileError:
            part = ScoreCounts.load(part)
    if not isinstance(part, PrivateCounts | ScoreCounts):
        raise TypeError(
            "parts must be PrivateCounts, ScoreCounts or paths of files; "
            f"got one of type {type(part).__name__}."
        )
    return name, part
