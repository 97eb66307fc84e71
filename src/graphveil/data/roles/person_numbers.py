"""Numbers by which people, accounts and devices are known, recognized by their check digits.

Plain code knows the commonest ones. With the extra ``roles``, `python-stdnum` knows those of many
more countries, and `phonenumbers` the phone numbers of all.

Sources: ISO 13616 (IBAN, mod 97), ISO/IEC 7812 (cards, Luhn), and the rules that the countries
publish for their numbers, as python-stdnum states them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

LEAST, SHARE = 10, 0.9
"""So many different values, of which so large a share is valid, speak for a kind of number. One
check digit is right by chance for one value in ten: for nine of ten with odds of 10^-7."""

Check = Callable[[str], bool]


def is_iban(text: str) -> bool:
    """Whether a text is an IBAN by its form and its check digits.

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88370400440532013000")
    (True, False)
    """
    plain = re.sub(r"\s", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}", plain):
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Whether a text has the 13 to 19 digits of a card, and Luhn's check digit.

    >>> is_card("4111 1111 1111 1111"), is_card("4111111111111112")
    (True, False)
    """
    digits = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"\d{13,19}", digits):
        return False
    doubled = [int(d) * (2 if at % 2 else 1) for at, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def is_ip(text: str) -> bool:
    """Whether a text is an address of a computer, by IPv4 or IPv6."""
    try:
        ip_address(text.strip())
    except ValueError:
        return False
    return True


def _weighted(text: str, pattern: str, weights: Sequence[int], modulus: int) -> int | None:
    """Return the sum of digits times weights modulo a number; None if the form is different."""
    digits = re.sub(r"[ .\-/]", "", text)
    if not re.fullmatch(pattern, digits):
        return None
    return sum(int(d) * w for d, w in zip(digits, weights, strict=True)) % modulus


def _is_us_ssn(text: str) -> bool:
    # No check digit: the dashes and the groups that are never given must do.
    return bool(re.fullmatch(r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}", text)) or bool(
        re.fullmatch(r"9\d\d-(5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])-\d{4}", text)
    )


def _is_french(text: str) -> bool:
    digits = re.sub(r"\s", "", text).upper().replace("2A", "19").replace("2B", "18")
    if not re.fullmatch(r"[1-478]\d{14}", digits):
        return False
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


def _is_italian(text: str) -> bool:
    return bool(re.fullmatch(r"(?i)[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", text.strip()))


def _is_spanish(text: str) -> bool:
    plain = re.sub(r"[ .-]", "", text).upper()
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", plain):
        return False
    first = {"X": "0", "Y": "1", "Z": "2"}.get(plain[0], plain[0])
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(first + plain[1:8]) % 23] == plain[8]


def _is_dutch(text: str) -> bool:
    return _weighted(text, r"\d{9}", (9, 8, 7, 6, 5, 4, 3, 2, -1), 11) == 0


def _is_polish(text: str) -> bool:
    return _weighted(text, r"\d{11}", (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), 10) == 0


def _is_portuguese(text: str) -> bool:
    rest = _weighted(text, r"[1-9]\d{8}", (9, 8, 7, 6, 5, 4, 3, 2, 0), 11)
    digits = re.sub(r"[ .\-/]", "", text)
    return rest is not None and (0 if rest < 2 else 11 - rest) == int(digits[-1])


def _is_british(text: str) -> bool:
    rest = _weighted(text, r"\d{10}", (10, 9, 8, 7, 6, 5, 4, 3, 2, 1), 11)
    nino = r"(?i)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
    return rest == 0 or bool(re.fullmatch(nino, text.strip()))


def _is_swiss(text: str) -> bool:
    return _weighted(text, r"756\d{10}", (1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1), 10) == 0


def _is_german(text: str) -> bool:
    digits = re.sub(r"\s", "", text)
    if not re.fullmatch(r"[1-9]\d{10}", digits):
        return False
    product = 10  # ISO 7064, mod 11, 10
    for digit in digits[:10]:
        product = (((int(digit) + product) % 10 or 10) * 2) % 11
    return (11 - product) % 10 == int(digits[10])


CHECKS: dict[str, Check] = {
    "an IBAN": is_iban,
    "an IP address": is_ip,
    "a social security number of the United States": _is_us_ssn,
    "a social security number of France": _is_french,
    "a tax code of Italy": _is_italian,
    "an identity number of Spain": _is_spanish,
    "a PESEL number of Poland": _is_polish,
    "a citizen service number of the Netherlands": _is_dutch,
    "a tax number of Portugal": _is_portuguese,
    "an NHS or insurance number of the United Kingdom": _is_british,
    "an insurance number of Switzerland": _is_swiss,
    "a tax number of Germany": _is_german,
    "a number of a card": is_card,
}
"""What plain code recognizes. Numbers of few possible forms come first."""

MORE = {
    "be.nn": "Belgium",
    "br.cpf": "Brazil",
    "bg.egn": "Bulgaria",
    "cl.rut": "Chile",
    "cz.rc": "the Czech Republic",
    "dk.cpr": "Denmark",
    "ee.ik": "Estonia",
    "fi.hetu": "Finland",
    "gr.amka": "Greece",
    "hr.oib": "Croatia",
    "ie.pps": "Ireland",
    "lv.pk": "Latvia",
    "mx.curp": "Mexico",
    "no.fodselsnummer": "Norway",
    "ro.cnp": "Romania",
    "si.emso": "Slovenia",
    "se.personnummer": "Sweden",
    "tr.tckimlik": "Turkey",
    "za.idnr": "South Africa",
}
"""Modules of python-stdnum that recognize numbers of people, and their countries."""

DIGITS = re.compile(r"\d")


@cache
def _checks() -> dict[str, Check]:
    """Return the checks, with those of python-stdnum if it is installed."""
    found = dict(CHECKS)
    for module, country in MORE.items():
        try:
            known: Any = importlib.import_module(f"stdnum.{module}")
        except ImportError:
            return found
        found[f"a number of a person of {country}"] = known.is_valid
    return found


def number_kind(values: Sequence[str]) -> str:
    """Return which numbers of people these different values are; empty if they are not.

    Parameters
    ----------
    values
        Different values of a column, without words for missing ones.

    Returns
    -------
    str
        Words for it, such as ``an IBAN``; empty if fewer than `LEAST` values or less than `SHARE`
        of them are valid.

    Examples
    --------
    >>> number_kind([f"192.168.0.{i}" for i in range(20)])
    'an IP address'
    """
    if len(values) < LEAST or not all(map(DIGITS.search, values[:LEAST])):
        return ""
    for words, is_valid in _checks().items():
        if not any(map(is_valid, values[:3])):
            continue
        if sum(map(is_valid, values)) >= SHARE * len(values):
            return words
    return ""


_PHONE = re.compile(
    r"(?:\+|00)?[\d(][\d()./ \-]{6,20}\d(?: ?(?:x|ext\.?) ?\d{1,6})?", re.IGNORECASE
)
_MARKS = re.compile(r"^(?:\+|0\d|\(0?\d)|[ ()/.-]")


def are_phones(values: Sequence[str]) -> bool:
    """Whether different values are phone numbers.

    They have 8 to 15 digits. Most begin with +, 0 or a bracket, or have marks between digits. A
    number that phonenumbers reads as a possible one with its country is one whatever its marks.

    >>> are_phones([f"+49 30 1234 {i:04}" for i in range(20)]), are_phones(["19900101"] * 20)
    (True, False)
    """
    if len(values) < LEAST:
        return False
    fits = [text for text in map(str.strip, values) if _PHONE.fullmatch(text)]
    fits = [text for text in fits if 8 <= sum(map(str.isdigit, re.split("(?i)x|e", text)[0])) <= 15]
    if len(fits) < SHARE * len(values):
        return False
    if sum(bool(_MARKS.search(text)) for text in fits) >= SHARE * len(fits):
        return True
    try:
        phonenumbers: Any = importlib.import_module("phonenumbers")
    except ImportError:
        return False
    known = 0
    for text in fits:
        try:
            known += phonenumbers.is_valid_number(phonenumbers.parse(f"+{text.lstrip('+0')}"))
        except phonenumbers.NumberParseException:
            continue
    return known >= SHARE * len(fits)
