"""The method `adaptive`: every person fits as many records as the level they asked for.

Choromanski, Jebara & Tang, *Adaptive Anonymity via b-Matching*, NIPS 2013. Cells are suppressed
such that the compatibility graph of persons (rows of the original) and records (rows of the
release) contains a graph G in which person i has at least delta_i records and record i at least
delta_i persons. Algorithm 1 is in `bipartite`, Algorithm 2 in `symmetric`, and this module has the
parameters and what is done for each block.

Why the guarantee holds: record i publishes a star wherever it differs from a person that it is
paired with, so it fits every one of them. Every person is paired with the own record, for nothing.
The other pairs lead as often to each row as away from it, so they divide into closed walks. Every
pair is on a cycle of rows; if each record on the cycle goes to the next person, and all others stay
with their own, that is another full assignment, which contains the pair. Clusters are the special
case in which all rows of a cluster are paired with each other.

Departures from the paper:

- G is balanced: record i has as many chosen persons as person i has records. So every pair of G is
  in a full assignment, for levels that differ too; Lemma 4.2 states that for equal degrees.
- Corollary 4.1, a chance of at most 1 / delta, is not claimed: it counts candidates as equally
  likely, which the pairs of G are not among all full assignments.
- ``"auto"`` (see `choice`) and the refinements are graphveil's own, and so are blocks.
- Missing values are initial stars, and a star may have a weight (footnote 4).

Levels appear in no published file, neither by person nor as a histogram: they would be one more
attribute. Only a common level or `least_level` is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from graphveil.claims.conditions import Condition, SuppressionHistogram
from graphveil.claims.guarantees import AdaptiveAnonymity
from graphveil.claims.ledger import Ledger
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.parameters import Columns, parameter
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import Restated
from graphveil.core.text import counted
from graphveil.core.warnings import Advice, LevelsWarning
from graphveil.data import Table
from graphveil.measures.matchings import NodePairs, posteriors
from graphveil.methods import roles as table_roles
from graphveil.methods.adaptive import blocks
from graphveil.methods.adaptive.levels_and_weights import (
    GIVE_LEVELS,
    Levels,
    Weights,
    checked_levels,
    levels_in,
)
from graphveil.methods.base import SourceName, check_guarantee
from graphveil.methods.card import MethodCard, Reached
from graphveil.release import Release
from graphveil.release.draft import Draft

if TYPE_CHECKING:
    from graphveil.methods.adaptive.bipartite import PriceSchedule
    from graphveil.methods.adaptive.problem import Problem, Solution


Compatibility = Literal["auto", "bipartite", "symmetric"]
"""Which algorithm chooses the pairs."""

Refine = Literal["none", "prune", "regular-search"]
"""What is done with the stars afterwards."""

SCORED_ROWS = 1_000
"""Up to this many rows, the owner's record says what refinement does to the chances of being found,
and `auto` chooses by all rows. Both compare all pairs, so it bounds their time."""


class BlockTask(NamedTuple):
    """What is published, what each row asks for, and what a star costs.

    Parameters
    ----------
    data
        The table without the column of levels.
    levels
        int64, shape (n,): after `least_level`.
    weights
        float64, shape (d,) or (n, d).
    """

    data: Table
    levels: NDArray[np.int64]
    weights: NDArray[np.float64]


_BIPARTITE = {"compatibility": "bipartite", "refine": "none"}
_SYMMETRIC = {"compatibility": "symmetric", "refine": "none"}
_AUTO = {"compatibility": "auto"}
_RULED_OUT = (
    ". An attacker who also knew everyone's level ruled out candidates of up to 42 of 60 people in "
    "our tests"
)
"""Ends of the sentences in `Adaptive.reached`."""

_LEFT_BY_SYMMETRIC = (
    ". An attacker who also knew everyone's level left 53% of them with fewer candidates than they "
    "asked for"
)
_LEFT_BY_AUTO = (
    ". In our tests an attacker who also knew everyone's level left 23% of the people with fewer "
    "candidates than they asked for (345 people)"
)


CARD = MethodCard(
    when="Each person chooses a level of protection.",
    promise="Each person could own at least as many records as the level they requested.",
    source="Choromanski, Jebara & Tang, Adaptive Anonymity via b-Matching, NIPS 2013",
    limits=(
        "Unequal likelihood of the candidates: an attacker with the original table who runs the "
        "method again may find out which candidates are likelier."
    ),
    reached=tuple(
        Reached(
            f"Re-identified in our tests: {found}% of the people by an attacker with the original "
            f"table who ran the method eight times ({people} people, "
            f"{f'level {level}' if level else 'levels 2 to 20'}, "
            + ", ".join(f"{name}={value}" for name, value in options.items())
            + f"){more}.",
            {"levels": level, **options},
        )
        for found, people, level, options, more in (
            (49, 187, 2, _BIPARTITE, ""),
            (89, 187, 5, _BIPARTITE, "; 19% with cluster-k at k=5"),
            (79, 187, 20, _BIPARTITE, ""),
            (32, 187, 5, {"compatibility": "bipartite", "refine": "regular-search"}, ""),
            (22, 187, 5, _SYMMETRIC, ""),
            (49, 187, 2, _AUTO, ""),
            (22, 187, 5, _AUTO, ""),
            (7.2, 187, 20, _AUTO, ""),
            (84, 187, None, _BIPARTITE, _RULED_OUT),
            (84, 187, None, _SYMMETRIC, _LEFT_BY_SYMMETRIC),
            (40, 155, None, _AUTO, _LEFT_BY_AUTO),
        )
    ),
    cost="rows times block size, times the number of solves",
    example={"levels": 5},
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class Adaptive(table_roles.WithRoles[Table]):
    """Each person could own at least as many records as the level they requested.

    Cells are suppressed until each person's row fits that many released records, and each record as
    many people; each such pair is part of a full assignment that fits the data. This counts
    candidates: it does not make them equally likely.

    Parameters
    ----------
    levels
        An integer for all, or the name of the column with everyone's level: it is read, and removed
        from the data. In Python also an array, given to `anonymize`. Who asked for how much is
        published nowhere.
    known
        The columns that an attacker may know, by which records fit people. Default: all.
    attach
        Columns that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.
    may_narrow
        The share of the hidden cells of a known column that attached columns may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    least_level
        Lower levels are raised to this one, which is published.
    compatibility
        ``"bipartite"`` is the paper's Algorithm 1. ``"symmetric"`` is its Algorithm 2: record i
        fits person j if record j fits person i. ``"auto"`` is ``"symmetric"`` if all have one
        level. If levels differ, it tries both algorithms, classes of equal rows with pairs between
        them, and clusters by level; it runs each again, and takes the one with the fewest stars
        that such a re-run does not defeat.
    refine
        With ``"bipartite"`` and ``"symmetric"`` only. ``"prune"`` removes stars that nobody needs
        afterwards. ``"regular-search"``, for one level and ``"bipartite"``, looks for fewer by
        trial, while every chosen degree stays exactly the level. Both make some people likelier to
        be matched to their record. Up to 1,000 rows the cost says how likely before and after: the
        largest and the mean chance, if all full assignments are equally likely.
    weights
        What a star costs by column, such as ``age=2,zip=.5``. Default: 1 each.
    schedule
        The number of steps of the search: from step to step, a star that is needed anyway gets
        cheaper.
    max_iterations
        The most solves of a step.
    block_rows
        A table of more rows is divided into blocks of at most this many, in which rows are similar:
        at least four times the largest level. Default: one block up to 2,000 rows, and blocks of
        512 above.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or `refine` does not go with `compatibility`.

    Notes
    -----
    Choromanski, Jebara and Tang, *Adaptive Anonymity via b-Matching*, NIPS 2013, section 3. Each
    solve is a flow of least cost, exact; step s takes the price of a cell times 1/(2^s + 1) for
    every pair that needs it. Degrees are balanced: record i fits as many chosen persons as person i
    fits records, so that every chosen pair is in a full assignment. The algorithms are in
    `graphveil.methods.adaptive.bipartite` and `graphveil.methods.adaptive.symmetric`.

    With ``"auto"`` a way resists if, of the people who are given the likeliest records by four
    further runs, at most 1.25 times as many are right as by guessing one in the level, and two
    standard deviations more. Clusters by level, in which every row equals as many as the largest
    level among them, are taken if nothing else resists. The choice is made once for a table: on all
    rows up to 1,000, else on two blocks drawn at random. It is published nowhere; the owner's
    record has the figures of all that were tried. Clusters do not weigh columns.

    Time grows with the rows times the size of a block, times the number of solves; memory with the
    square of a block's rows.

    Examples
    --------
    >>> data = Table.from_columns({"a": list("100110"), "b": list("000011"), "c": list("001101")})
    >>> release = Adaptive(levels=2).anonymize(data)
    >>> release.private.cost["stars_added"] <= 8
    True
    """

    name: ClassVar[str] = "adaptive"
    accepts = (Table,)
    card: ClassVar[MethodCard] = CARD
    states: ClassVar[tuple[type[Condition], ...]] = (SuppressionHistogram,)
    """Every release states how many rows have how many stars; `blocks.draft_of` counts them."""
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "blocks")

    levels: Levels | None = parameter(
        default=None,
        text="records each person could own: a number, or the column with each person's level",
        unset="in Python: an array",
    )
    known: Columns | None = table_roles.known_columns_parameter()  # noqa: RUF009  a field
    attach: Columns | None = table_roles.attached_columns_parameter()  # noqa: RUF009  a field
    label: Columns | None = table_roles.label_columns_parameter()  # noqa: RUF009  a field
    may_narrow: float | None = table_roles.may_narrow_parameter()
    least_level: int = parameter(default=1, text="lower levels are raised to this value", minimum=1)
    compatibility: Compatibility = parameter(
        default="auto",
        text=(
            "the paper's algorithm 1 (bipartite) or 2 (symmetric), or the fewest stars that resist "
            "a re-run (auto)"
        ),
    )
    refine: Refine = parameter(
        default="none", text="remove unneeded stars, search for fewer, or neither"
    )
    weights: Weights | None = parameter(
        default=None,
        text="cost of a star by column, such as age=2,zip=.5",
        unset="1 each; in Python also an array",
        private=True,
    )
    schedule: int = parameter(
        default=10, text="number of search steps", minimum=1, maximum=40, private=True
    )
    max_iterations: int = parameter(
        default=20, text="maximum number of solves per step", minimum=1, private=True
    )
    block_rows: int | None = parameter(
        default=None,
        text="maximum rows per block; at least four times the largest level",
        minimum=8,
        unset=f"all rows up to 2000, {blocks.BLOCK_ROWS} above that",
        private=True,
    )

    def __post_init__(self) -> None:
        """Check every parameter, and that the pairs can be searched."""
        super().__post_init__()
        # The ways that `auto` compares settle their refinement themselves.
        if self.refine != "none" and self.compatibility == "auto":
            either = "bipartite" if self.refine == "regular-search" else "bipartite or symmetric"
            raise ParameterError(
                f"refine={self.refine} does not work with compatibility=auto, which chooses for "
                f"itself. Use compatibility={either}, or refine=none."
            )
        if self.refine == "regular-search" and self.compatibility == "symmetric":
            raise ParameterError(
                "refine=regular-search works with compatibility=bipartite, not with symmetric. "
                "Use refine=prune, or compatibility=bipartite."
            )

    @property
    def rows_needed(self) -> int:
        """The fewest rows for which the guarantee can be kept."""
        return self.guarantee.level

    @property
    def guarantee(self) -> AdaptiveAnonymity:
        """What is guaranteed: the common level, or the least that anybody has."""
        common = None if self.levels is None else self.levels.common
        level = max(common or 1, self.least_level)
        known = self.roles.known or UNSET
        return AdaptiveAnonymity(level=level, common=common is not None, known=known)

    @property
    def restated(self) -> Mapping[str, Restated]:
        """What no manifest names: the column of levels, whose name could be any text."""
        column = {"levels": Restated(None, withheld=True)} if self.withheld_columns else {}
        return {**super().restated, **column}

    @property
    def withheld_columns(self) -> tuple[str, ...]:
        """The column of levels, if there is one."""
        column = None if self.levels is None else self.levels.column
        return () if column is None else (column,)

    def check_size(self, n: int, *, noun: str = "rows") -> None:
        """Refuse fewer rows than the level, or a level of 1 for everybody.

        Parameters
        ----------
        n
            How many rows there are.
        noun
            What they are called in a message.

        Raises
        ------
        InfeasibleError
            If there are fewer than `rows_needed` rows.
        """
        check_guarantee(self)
        if n < self.rows_needed:
            raise InfeasibleError(
                f"a level of {self.rows_needed} needs at least as many {noun}; the data has "
                f"{n}. Lower it, or add data."
            )

    def anonymize(
        self,
        data: Any,
        *,
        seed: int | None = None,
        ledger: Ledger | None = None,
        levels: Any = None,
        weights: Any = None,
    ) -> Release[Table]:
        """Return a release of the table that keeps the guarantee, under new ids in a new order.

        Parameters
        ----------
        data
            A `Table`, or a frame of another library (pandas, polars, DuckDB, Arrow).
        seed
            An integer; the same seed gives the same release. Default: entropy of the operating
            system. A seed is a secret of the owner.
        ledger
            As for every method: it accepts a claim that does not add up only if asked to.
        levels
            One integer per row, from 1 to the number of rows, if the parameter is not set; a single
            number is the level of everybody, as the parameter. They go into the owner's private
            folder only.
        weights
            What a star costs, cell by cell: shape (rows, columns), at least 0. No file keeps them;
            the owner's record says that they were given.

        Returns
        -------
        Release
            The released table, its guarantee and conditions, and the private record for the owner.

        Raises
        ------
        UsageError
            If the data is of another kind.
        ParameterError
            If levels are given twice or not at all, or are not integers, one per row; if weights
            are given twice or are not numbers of at least 0, one per cell.
        InfeasibleError
            If a level is out of range, or levels differ with ``refine="regular-search"``.
        DataError
            If a column does not exist, a cell of the column of levels does not hold a level, or
            there is no other column.

        Warns
        -----
        GraphveilWarning
            What the owner should know before publishing.

        Examples
        --------
        >>> import graphveil as gv
        >>> data = gv.Table.from_columns({"a": list("100110"), "b": list("000011")})
        >>> method = gv.Adaptive(compatibility="bipartite")
        >>> method.anonymize(data, levels=[2, 2, 3, 2, 2, 2]).guarantee.level
        1
        """
        # One number in place of an array is the parameter.
        if self.levels is None and isinstance(levels, int | np.integer):
            common = replace(self, levels=Levels.parse(levels))
            return common.anonymize(data, seed=seed, ledger=ledger, weights=weights)
        from graphveil.release.making import make_release  # noqa: PLC0415  help needs no release

        draft = partial(self._draft, levels=levels, weights=weights)
        return make_release(self, self.prepared(data), draft, seed=seed, ledger=ledger)

    def draft(self, data: Table, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        return self._draft(data, randomness)

    def _draft(
        self, data: Table, randomness: Randomness, *, levels: Any = None, weights: Any = None
    ) -> Draft[Any]:
        # Step 1: levels, weights and the size of a block.
        task = self._task(data, levels, weights)
        largest = int(task.levels.max(initial=1))
        most_rows = blocks.rows_of_block(self.block_rows, data.n_rows, largest)
        is_scored = data.n_rows <= min(most_rows, SCORED_ROWS)
        # Step 2: what is done with a block. With one level for all, `auto` is Algorithm 2, which
        # starts from clusters and Algorithm 1 as well; in our tests a re-run of it found about one
        # person in the level (see `CARD`). With levels that differ, a way must be chosen: by the
        # only block if it has few rows, otherwise by two blocks for all.
        work = Matching(
            self.compatibility, self.refine, self.schedule, self.max_iterations, scored=is_scored
        )
        figures: Mapping[str, float] = {}
        if self.compatibility == "auto" and task.levels.size == np.count_nonzero(
            task.levels == largest
        ):
            work = replace(work, compatibility="symmetric")
        elif self.compatibility == "auto" and not is_scored:
            way, figures = work.chosen_on_two_blocks(task, most_rows, randomness)
            work = replace(work, way=way)
        outcome = blocks.in_blocks(
            task.data.codes,
            task.levels,
            task.weights,
            most_rows=most_rows,
            work=work,
            randomness=randomness,
        )
        draft = blocks.draft_of(task.data, outcome, advice=self._advice(task, most_rows))
        draft = draft.costing(figures).noting(unrecorded=() if weights is None else ("weights",))
        return draft._replace(levels=None if self.guarantee.common else task.levels)

    def _task(self, data: Table, levels: Any, weights: Any) -> BlockTask:
        """Return what is published, once levels and weights are known."""
        if (self.levels is None) == (levels is None):
            twice = "levels are given twice, as a parameter and as an array"
            given = "no levels are given" if levels is None else twice
            raise ParameterError(f"{given}. {GIVE_LEVELS}")
        # Step 1: the levels as an array, from a column (which is removed), or one for all.
        if self.levels is None:
            asked = checked_levels(levels, data.n_rows)
        elif self.levels.column is not None:
            asked = levels_in(data, self.levels.column)
            data = data.without(self.withheld_columns)
            data.check_columns()
        else:
            asked = np.full(data.n_rows, self.levels.common, dtype=np.int64)
        # Step 2: raise them to the least one, and refuse what protects nobody or cannot be
        # searched.
        raised = np.maximum(asked, self.least_level)
        if raised.max(initial=1) < 2:
            raise ParameterError(
                "nobody has a level above 1, so the release would protect nobody. Set "
                "least_level=2, or a level of at least 2 for some rows."
            )
        if self.refine == "regular-search" and raised.size and raised.min() < raised.max():
            raise InfeasibleError(
                "refine=regular-search needs one level for all rows, but the levels range from "
                f"{raised.min()} to {raised.max()}. Use refine=prune, or "
                f"least_level={raised.max()} to raise all to the largest."
            )
        return BlockTask(data, raised, self._weights(data, weights))

    def _weights(self, data: Table, given: Any) -> NDArray[np.float64]:
        """Return what stars cost, by column or by cell: float64, shape (d,) or (n, d)."""
        # By column, from the parameter.
        if given is None:
            return np.ones(data.n_columns) if self.weights is None else self.weights.of(data)
        if self.weights is not None:
            raise ParameterError(
                "weights are given twice, as a parameter and as an array. Remove one."
            )
        # By cell, from the array.
        array = np.asarray(given, dtype=np.float64)
        if array.shape != data.codes.shape or not np.all(np.isfinite(array) & (array >= 0)):
            raise ParameterError(
                f"weights have shape {array.shape}, but the table has shape {data.codes.shape}. "
                "Give one number >= 0 per cell."
            )
        return array

    def _advice(self, task: BlockTask, most_rows: int) -> tuple[str, ...]:
        """Return what the owner should know about these levels."""
        n = task.data.n_rows
        all_of_them = int(np.count_nonzero(task.levels == n)) if n > 1 else 0
        advice = []
        # A level of n makes everything a star that differs from the row anywhere.
        if all_of_them:
            everybody = (
                f"{counted(all_of_them, 'person')} requested as many records as there are: in "
                "every row, whatever differs from their rows is suppressed"
            )
            advice.append(Advice(everybody, LevelsWarning))
        # The owner asked for smaller blocks than the levels allow.
        if self.block_rows is not None and most_rows > self.block_rows:
            larger = f"blocks have up to {counted(most_rows, 'row')} instead of {self.block_rows}"
            advice.append(Advice(f"{larger}: four times the largest level", LevelsWarning))
        return tuple(advice)


@dataclass(frozen=True)
class Matching:
    """Choose the pairs of a block; a value that can be pickled.

    Parameters
    ----------
    compatibility, refine, schedule, max_iterations
        As in `Adaptive`.
    scored
        Whether the chances of being found are computed before and after refinement.
    way
        The way of `choice` that was chosen for all blocks; None if a block that is the table
        chooses.
    """

    compatibility: Compatibility
    refine: Refine
    schedule: int
    max_iterations: int
    scored: bool = False
    way: str | None = None

    def chosen_on_two_blocks(
        self, task: BlockTask, most_rows: int, randomness: Randomness
    ) -> tuple[str, Mapping[str, float]]:
        """Return the way for all blocks, by two of them, and the figures for the owner's record."""
        from graphveil.methods.adaptive import choice  # noqa: PLC0415  compiled code
        from graphveil.methods.adaptive.bipartite import PriceSchedule  # noqa: PLC0415  the same
        from graphveil.methods.adaptive.problem import problem_of  # noqa: PLC0415  the same

        codes, levels, weights = task.data.codes, task.levels, task.weights
        rng = randomness.stream("choice")
        size = min(most_rows, max(blocks.BLOCK_ROWS, 4 * int(levels.max())))
        # Two random blocks of the usual size, or of four times the largest level if that is more.
        with stage("choosing on two blocks"):
            pieces = blocks.split(codes, size, rng)
            sample = rng.permutation(len(pieces))[:2]
            sampled_rows = [blocks.in_order(codes, levels, pieces[number]) for number in sample]
            # Both blocks as problems of their own; what is chosen on them is taken for all.
            problems = [
                problem_of(
                    codes[rows], levels[rows], weights if weights.ndim == 1 else weights[rows]
                )
                for rows in sampled_rows
            ]
            best = choice.choose(problems, PriceSchedule(self.schedule, self.max_iterations), rng)
        return best.way, best.figures

    def __call__(self, block: blocks.RecordBlock) -> blocks.BlockSolution:
        """Return what the block publishes, and the pairs that were chosen."""
        from graphveil.methods.adaptive import bipartite, regular_search, symmetric  # noqa: PLC0415  compiled code
        from graphveil.methods.adaptive.problem import problem_of  # noqa: PLC0415  as above

        variant = symmetric if self.compatibility == "symmetric" else bipartite
        problem = problem_of(block.codes, block.levels, block.weights)
        schedule = bipartite.PriceSchedule(self.schedule, self.max_iterations)
        scored = {}
        # Step 1: with `auto`, the way that was chosen, or the choice itself.
        if self.compatibility == "auto":
            return self._by_way(problem, schedule, block.rng)
        # Step 2: the pairs of Algorithm 1 or 2, then the refinement.
        if self.refine == "regular-search":
            unrefined = regular_search.solve_regularly(problem, schedule, block.rng)
            trials = regular_search.trials_of(problem)
            solution = regular_search.improved(problem, unrefined, block.rng, trials=trials)
        else:
            unrefined = variant.solve(problem, schedule, block.rng)
            solution = variant.pruned(problem, unrefined) if self.refine == "prune" else unrefined
        # Step 3: how likely people are matched to their own record, before and after.
        if self.scored and self.refine != "none":
            stages = {"before_refining": unrefined, "after_refining": solution}
            scored = {
                when: chances(bipartite.fitting_pairs(problem, solved.stars))
                for when, solved in stages.items()
            }
        figures = {f"{name}_{when}": chance for when in scored for name, chance in scored[when]}
        return _block_solution(problem, solution, figures)

    def _by_way(
        self, problem: Problem, schedule: PriceSchedule, rng: np.random.Generator
    ) -> blocks.BlockSolution:
        """Return what the way for all blocks publishes.

        Without such a way this block is the entire table, and the way is chosen on it.
        """
        from graphveil.methods.adaptive import choice  # noqa: PLC0415  compiled code

        if self.way is not None:
            return _block_solution(problem, choice.WAYS[self.way](problem, schedule, rng), {})
        found = choice.choose([problem], schedule, rng)
        return _block_solution(problem, found.solutions[0], found.figures)


def _block_solution(
    problem: Problem, solution: Solution, figures: Mapping[str, float]
) -> blocks.BlockSolution:
    """Return a solution as what a block publishes; the own pair is among the chosen ones."""
    from graphveil.methods.adaptive.problem import mask_of  # noqa: PLC0415  compiled code

    pairs = solution.pairs.astype(np.bool_)
    np.fill_diagonal(pairs, val=True)
    hidden = mask_of(solution.stars, problem.codes)
    persons = np.nonzero(pairs)[1].astype(np.int32)
    return blocks.BlockSolution(np.packbits(hidden, axis=1), pairs.sum(axis=1), persons, figures)


def chances(fits: NDArray[np.int8]) -> tuple[tuple[str, float], ...]:
    """Return the largest and the mean chance of the own record, with the names of these figures.

    All full assignments count as equally likely. Exact for few rows, else estimated by belief
    propagation (`graphveil.measures.matchings`), which the names say.

    Parameters
    ----------
    fits
        int8, shape (n, n): 1 if record i fits person j.
    """
    indptr = np.concatenate([[0], np.cumsum(fits.sum(axis=1, dtype=np.int64))])
    scored = posteriors(NodePairs(indptr.astype(np.int64), np.nonzero(fits)[1].astype(np.int64)))
    own = scored.true_pairs()
    word = "chance" if scored.exact else "chance_estimated"
    return ((f"largest_{word}", float(own.max())), (f"mean_{word}", float(own.mean())))
