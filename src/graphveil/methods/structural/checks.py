"""Which parameters of structural go with each other."""

from __future__ import annotations

from typing import Any

from graphveil.data import Network
from graphveil.errors import DataError, ParameterError, option
from graphveil.measures.registry import DIRECTED_COUNT
from graphveil.methods.structural.goals import Budget
from graphveil.methods.structural.task import CODES, known_to_target


def check_together(method: Any) -> None:
    """Refuse parameters that exclude each other.

    Parameters
    ----------
    method
        A `StructuralAnonymity`.

    Raises
    ------
    ParameterError
        Where two do; the message says the way out.
    """
    if method.measure == DIRECTED_COUNT:
        _check_directed(method)
    else:
        _check_known(method)
    _check_phi(method)
    _ = method.guarantee  # refuses what no guarantee can say
    known = known_to_target(method.measure, method.distance, method.edits)
    if method.heuristic == "target" and not known:
        raise ParameterError(
            f"heuristic=target knows measure=count at distance 1 with edits=any, not "
            f"{method.measure} at distance {method.distance} with edits={method.edits}. "
            "Give these, or use search."
        )
    if method.iterations is not None and method.effort != 1:
        raise ParameterError(
            f"iterations={method.iterations} says how many proposals are made, effort="
            f"{method.effort} multiplies the usual ones. Give one of them."
        )
    if method.heuristic in {"strip", "cut"}:
        _check_start(method)
    if method.heuristic == "mirror":
        _check_mirror(method)


def _check_directed(method: Any) -> None:
    """Refuse what is not known of directed ties."""
    if method.heuristic not in {"auto", "search"}:
        raise ParameterError(
            f"heuristic={method.heuristic} knows ties without directions alone, not measure="
            f"{method.measure}. Use search, or auto."
        )
    if method.edits == "rewire":
        raise ParameterError(
            f"edits=rewire does not go with measure={method.measure}. Use any, add or delete."
        )


def _check_known(method: Any) -> None:
    """Refuse what heuristics do not know of attributes, and a column with two roles."""
    if not method.roles.known:
        return
    searched = method.measure in CODES and method.distance == 1 and method.edits != "rewire"
    if method.heuristic in {"search", "mirror"} and not searched:
        raise ParameterError(
            f"heuristic={method.heuristic} does not know attributes here (measure="
            f"{method.measure}, distance={method.distance}, edits={method.edits}). Use ua, or auto."
        )


def _check_phi(method: Any) -> None:
    """Refuse heuristics that know nothing of similar nodes."""
    if not method.phi:
        return
    if method.heuristic not in {"auto", "search"}:
        raise ParameterError(
            f"heuristic={method.heuristic} makes nodes equal, phi={method.phi} asks for similar "
            "ones. Use search, or leave phi at 0."
        )
    if method.edits == "rewire":
        raise ParameterError(
            f"edits=rewire does not go with phi={method.phi}. Use any, or leave phi at 0."
        )


def _check_start(method: Any) -> None:
    if method.measure not in CODES or method.distance != 1:
        raise ParameterError(
            f"heuristic={method.heuristic} knows {', '.join(CODES)} at distance 1, not "
            f"{method.measure} at distance {method.distance}. Use search."
        )
    if method.edits != "delete" or isinstance(method.goal, Budget):
        raise ParameterError(
            f"heuristic={method.heuristic} deletes edges for a full or partial goal. Use search."
        )
    if method.heuristic == "cut" and method.preserve_triangles:
        raise ParameterError(
            "heuristic=cut removes every triangle, preserve_triangles keeps them. Drop one."
        )


def _check_mirror(method: Any) -> None:
    if method.k != 2:
        raise ParameterError(
            f"heuristic=mirror makes everybody like one other, not k={method.k}. Use auto, or k=2."
        )
    if method.edits != "delete" or isinstance(method.goal, Budget):
        raise ParameterError(
            "heuristic=mirror deletes edges for a full or partial goal. Use search."
        )


def check_ties(network: Network, measure: str) -> None:
    """Refuse ties that the measure does not see, or of several kinds.

    Raises
    ------
    DataError
        Where they are such; the message says the way out.

    Examples
    --------
    >>> from graphveil import Layer
    >>> check_ties(Network((Layer.from_arcs([0], [1], n=2),)), "directed-count")
    """
    layers = network.layers
    if len(layers) == 1 and layers[0].directed and measure != DIRECTED_COUNT:
        raise DataError(
            f"the ties {layers[0].name!r} are directed, and measure={measure} does not see that. "
            f"Take measure={DIRECTED_COUNT} or the method profile, or forget directions with "
            f"{option('directed', 'symmetrize')}."
        )
    if len(layers) == 1 and not layers[0].directed and measure == DIRECTED_COUNT:
        raise DataError(
            f"ties have no direction, and measure={measure} is of directed ones. Read them with "
            f"{option('directed', 'keep')}, or take measure=count."
        )
    if measure != DIRECTED_COUNT or len(layers) > 1:
        network.only_layer()
