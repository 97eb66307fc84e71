"""Whether an id of the original is published: in a parameter's text, or as a name in the data.

Claim checked: no original id appears in the manifest or the published names.

What the files cannot show: integers cannot be distinguished from other numbers, and an id that is
also the name of an item or the value of a column may be there by the owner's choice. Both are
*not checked*.

Cost: one pass over the texts of the manifest per original id, O(n) in the number of ids.
"""

from __future__ import annotations

import re

from graphveil.data import Data
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import Check, fails, holds, not_checked, shown

_BY_CHOICE = "the owner chose to leave open whether they are people there"
_DIGIT = re.compile(r"[0-9]")
_CHOICE = re.compile(r"[a-z-]{1,30}|([a-z-]{1,20}:)?[0-9./e-]{1,40}[a-z]{0,8}")
"""A parameter's value that is one lower-case word, or a number with a word before or behind it:
what a choice of an option looks like. Anything longer could be an id and is searched for ids."""


def no_original_ids(evidence: Evidence, original: Data) -> Check:
    """Whether no id of the original is published: as a word of a parameter, or as a name.

    Other texts are compared: what a method says of itself where the method is known, and the
    version is made of numbers. Choices of one lower-case word say nothing of the data. That an id
    is the name of an item or a value of a column is the owner's choice: whether it is a person
    there, nobody can say. Integers cannot be distinguished from other numbers: they pass where
    there is no other number.
    """
    # Texts of parameters that are more than one lower-case word could quote an id.
    n, stated = original.size, evidence.manifest.method.parameters.values()
    texts = [text for text in stated if isinstance(text, str) and not _CHOICE.fullmatch(text)]
    numbers = original.labels().dtype.kind == "i"
    problems = []
    hits = ids_in(original, "\n".join(texts))
    if hits:
        text = next(text for text in texts if hits[0] in text)
        problems.append(f"{len(hits)} of {n} original ids are in {shown(text)}")
    # Names of items, values and layers that are ids: an error only if the original has no such
    # name, since then the id must have come from the list of people.
    among = evidence.kind.ids_among_names(evidence, original)
    problems += [
        f"{len(each.ids)} of {n} original ids are {each.published_as}; {each.strange} of "
        f"them {'names' if each.strange == 1 else 'name'} no feature of the original"
        for each in among
        if each.strange and not numbers
    ]
    if problems:
        return fails("; ".join(problems))
    # What is left undecided: integers look like other numbers, and a name may be there by choice.
    with_digits = next((text for text in texts if _DIGIT.search(text)), None)
    if numbers and with_digits is not None:
        alike = f"integers cannot be distinguished from other numbers in {shown(with_digits)}"
        return not_checked(alike)
    if among:
        ids, published_as, _ = among[0]
        open_ = "integers cannot be distinguished from other numbers" if numbers else _BY_CHOICE
        return not_checked(f"{len(ids)} of {n} original ids are {published_as}, and {open_}")
    if numbers:
        return holds(f"no text parameter could hold one of {n} original ids")
    return holds(f"none of {n} original ids is in a parameter or a published name")


def ids_in(original: Data, text: str) -> list[str]:
    """Return the text ids of the original that appear in a text as complete words."""
    labels = original.labels()
    if labels.dtype.kind == "i":
        return []
    # A cheap substring test first; the regular expression then asks for whole words.
    found = [label for label in labels.tolist() if label and label in text]
    return [one for one in found if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)]
