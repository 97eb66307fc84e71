"""What stands in a cell of which nothing is known: words in eight languages, and marks.

Diversity does not count such cells (`claims.conditions.Diverse`); readers ask about the words.
"""

from __future__ import annotations

import re
import unicodedata

UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0]"
)
"""Characters that no eye sees: of Unicode's default ignorable ones those that change no neighbor's
form. Joiners and selectors of variants do, in emoji and in Persian."""

WORDS = frozenset(
    {
        *("n.a.", "n. a.", "n.a", "unknown", "not known", "refused", "don't know", "dont know"),
        *("no answer", "not stated", "missing", "dk", "k.a.", "k. a.", "keine angabe"),
        *("keine angaben", "weiss nicht", "weiß nicht", "keine antwort", "unbekannt", "nsp"),
        *("ne sait pas", "nrp", "non réponse", "non reponse", "inconnu", "non renseigné"),
        *("non renseigne", "ns/nc", "nsnc", "no sabe", "no contesta", "desconocido", "n.d."),
        *("n. d.", "n/d", "non so", "non risponde", "sconosciuto", "non noto", "onbekend"),
        *("weet niet", "geen antwoord", "b.d.", "b. d.", "brak danych", "nie wiem", "odmowa"),
        *("ns/nr", "não sabe", "nao sabe", "sem resposta", "desconhecido", "não respondeu"),
    }
)
"""What offices write in eight languages for an answer that they do not have, in lower case."""

MARKS = frozenset({"", "*", "?", "-", "--", ".", "na", "n/a", "nan", "null"})
"""What files have in a cell of which nothing is known."""


def plain(text: str) -> str:
    """Return a cell as it is compared with words for missing: without case and blanks at its ends.

    Characters without width are removed and accents composed (NFC).

    >>> plain(" Unbekannt\u200b"), plain("Wei\u00df nicht")
    ('unbekannt', 'weiss nicht')
    """
    seen = re.sub(UNSEEN, "", unicodedata.normalize("NFC", text))
    return seen.strip().casefold()


UNKNOWN = tuple(sorted({plain(word) for word in WORDS | MARKS}))
"""The cells that say nothing of a person, as `plain` gives them: no value of any column."""
