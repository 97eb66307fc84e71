"""Numbers as a page shows them: three digits at most, never in powers of ten."""

from __future__ import annotations

NONE = "–"
"""What stands where a figure does not apply."""


def percent(share: float) -> str:
    """Return a share in percent: below 1 to two places, above to one, whole where it is 100.

    Examples
    --------
    >>> percent(0.00093), percent(0.0335), percent(0.313), percent(1.0), percent(1e-9)
    ('0.09 %', '3.4 %', '31.3 %', '100 %', '< 0.01 %')
    """
    value = 100 * share
    if value == 0:
        return "0 %"
    if abs(value) < 0.005:
        return "< 0.01 %" if value > 0 else "> -0.01 %"
    text = f"{value:.2f}" if abs(value) < 0.995 else f"{value:.1f}"
    if text.endswith("100.0") and value == 100:
        text = text.removesuffix(".0")
    elif text == "100.0" and value < 100:
        text = "> 99.9"
    return f"{text} %"


def count(number: float) -> str:
    """Return a count with commas.

    Examples
    --------
    >>> count(1133), count(5)
    ('1,133', '5')
    """
    return f"{round(number):,}"


def plain(value: float) -> str:
    """Return a number with about three digits.

    Examples
    --------
    >>> plain(0.21987), plain(3.5712), plain(71.0), plain(12345.6), plain(0.00001)
    ('0.22', '3.57', '71', '12,346', '0.00001')
    """
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    places = 2 if abs(value) >= 1 else 3
    if 0 < abs(value) < 0.001:
        places = 6
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def of_hundred(share: float) -> str:
    """Return how many of 100 a share is, in words.

    Examples
    --------
    >>> of_hundred(0.313), of_hundred(0.004), of_hundred(0.999), of_hundred(0.01)
    ('31 of 100', 'fewer than 1 of 100', 'more than 99 of 100', '1 of 100')
    """
    whole = round(100 * share)
    if share > 0 and whole == 0:
        return "fewer than 1 of 100"
    if share < 1 and whole == 100:
        return "more than 99 of 100"
    return f"{whole} of 100"


def odds_of_hundred(odds: float) -> str:
    """Return how sure somebody is at these odds against 1, of 100.

    Examples
    --------
    >>> odds_of_hundred(1.0), odds_of_hundred(2.718)
    ('50 of 100', '73 of 100')
    """
    return of_hundred(1.0 if odds > 1e15 else odds / (1 + odds))
