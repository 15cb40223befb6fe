"""Text primitives that several validators share; where Python and the contract differ, the contract wins."""

import re
import unicodedata

# str.strip() and str.split() also take U+001C..U+001F, which are no white space in Unicode.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"

_RUNS = re.compile(f"[{WHITE_SPACE}]+")
_PLAIN_RUNS = re.compile(r"[\t\n\f\r ]+")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.ASCII)
_CURRENCY = re.compile(r"[$€£¥₹]|USD|EUR|GBP|JPY|INR")
_FORMATTING = str.maketrans("", "", ",()[]")


def trim(text: str) -> str:
    """The text without white space at both ends."""
    return text.strip(WHITE_SPACE)


def is_blank(text: str) -> bool:
    """Whether nothing is left of a text after trimming."""
    return not trim(text)


def fields(text: str) -> list[str]:
    """The words of a text: what stands between runs of white space."""
    return [word for word in _RUNS.split(text) if word]


def collapse(text: str) -> str:
    """Each run of plain white space made one space."""
    return _PLAIN_RUNS.sub(" ", text)


def squeeze(text: str) -> str:
    """The text without any white space."""
    return _RUNS.sub("", text)


def strip_punctuation(text: str) -> str:
    """The text without punctuation and symbols."""
    return "".join(char for char in text if unicodedata.category(char)[0] not in "PS")


def remove_articles(text: str) -> str:
    """Lower-case English articles made one space each."""
    return _ARTICLES.sub(" ", text)


def strip_currency(text: str) -> str:
    """The text without currency symbols and upper-case currency codes."""
    return _CURRENCY.sub("", text)


def strip_formatting(text: str) -> str:
    """The text without commas, round and square brackets."""
    return text.translate(_FORMATTING)


def well_formed(text: str) -> str:
    """The text with every lone surrogate replaced, so that it can be encoded."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text
