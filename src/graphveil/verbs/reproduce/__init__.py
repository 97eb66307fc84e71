"""The verb reproduce: tables and figures of the papers, run again on data that is at hand."""

from graphveil.verbs.reproduce.reproduce import Reproduced, Reproduction, reproduce

__all__ = ["Reproduced", "Reproduction", "reproduce"]
