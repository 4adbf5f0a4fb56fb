"""Folding: text as it is compared, whatever letters, marks and invisible characters spell it. Pure.

Every step works on one character, so that a place in the folded text has a place in the original.
"""

from __future__ import annotations

import re
import unicodedata

# Characters that look like Latin letters and are not; Unicode's compatibility forms fold by themselves.
# One row per Latin letter: what stands for it in Cyrillic, Greek, Armenian, Cherokee, phonetic and squared letters.
LOOK_ALIKES = {
    "a": "аαɑᴀ🅰🅐🄰",
    "b": "ьʙвβ🅱🅑🄱",
    "c": "сϲᴄ🅲🅒🄲",
    "d": "ԁɗᴅ🅳🅓🄳",
    "e": "еєҽεᴇɛ🅴🅔🄴",
    "f": "ғſϝ🅵🅕🄵",
    "g": "ɡɢցԍ🅶🅖🄶",
    "h": "һհнʜ🅷🅗🄷",
    "i": "іιıɪⲓ🅸🅘🄸",
    "j": "јϳᴊ🅹🅙🄹",
    "k": "кκᴋқ🅺🅚🄺",
    "l": "ⅼʟӏ🅻🅛🄻",
    "m": "мᴍ🅼🅜🄼",
    "n": "ոпηɴп🅽🅝🄽",
    "o": "оοօᴏσ🅾🅞🄾",
    "p": "рρᴘ🅿🅟🄿",
    "q": "ԛգ🆀🅠🅀",
    "r": "гʀᴦ🆁🅡🅁",
    "s": "ѕꜱ🆂🅢🅂",
    "t": "тτᴛ🆃🅣🅃",
    "u": "υսᴜ🆄🅤🅄",
    "v": "ѵνᴠ🆅🅥🅅",
    "w": "ԝѡωᴡ🆆🅦🅆",
    "x": "хχ🆇🅧🅇",
    "y": "уүγʏ🆈🅨🅈",
    "z": "ᴢ🆉🅩🅉",
}
JAMO = re.compile("[\u1100-\u11ff]{2,}")
LATIN = str.maketrans({other: letter for letter, others in LOOK_ALIKES.items() for other in others})
# Squared and circled letters stand for nothing else, so they fold at once; real letters only inside a mixed word.
SQUARED = {ord(other): letter for letter, others in LOOK_ALIKES.items() for other in others if ord(other) > 0x1F000}
LEET = str.maketrans("01345789@$!|", "oieastbgasil")
MARKS = frozenset({"Mn", "Mc", "Me"})
# One sign can stand for a whole phrase (U+FDFA for 18 letters): such a one stays, or a text would grow without bound.
LONGEST_FOLD = 4
# How many characters the table remembers: a text of nothing but rare ones must not fill the memory.
MOST_KNOWN = 100_000
APOSTROPHES = "'’‘`´ʼ"


def is_invisible(character: str) -> bool:
    """Whether a reader sees nothing of it: joiners, direction marks, tags, selectors, fillers, controls."""
    code = ord(character)
    if code < 0x20:
        return character not in "\t\n\r\x0b\x0c"
    return (
        unicodedata.category(character) in {"Cf", "Cn"}
        or 0x7F <= code < 0xA0
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
        or code in {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x2800, 0x3164, 0xFFA0}
    )


class Folding(dict[int, str]):
    """A table for `str.translate` that works out what it does not know yet."""

    def __missing__(self, code: int) -> str:
        if len(self) >= MOST_KNOWN:
            self.clear()
        self[code] = folded = fold_character(code)
        return folded


def fold_character(code: int) -> str:
    """One character in its plainest form: no case, no marks, no compatibility forms; "" for an invisible one."""
    character = chr(code)
    if code >= 0xE0000:
        return ""  # tags, selectors, private planes
    if 0x3400 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7A3 or code >= 0x20000:
        return character  # Chinese, Japanese and Korean have neither case nor marks
    if is_invisible(character) or unicodedata.category(character) in MARKS or character in APOSTROPHES:
        return ""
    if code in SQUARED:
        return SQUARED[code]
    lowered = character.casefold()
    if not unicodedata.decomposition(character) and lowered == character:
        return character
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", lowered).casefold())
    folded = "".join(part for part in plain if unicodedata.category(part) not in MARKS and part not in APOSTROPHES)
    return folded if len(folded) <= LONGEST_FOLD else character


FOLDING = Folding()
_ASCII_MARKS = str.maketrans(
    "", "", "'`" + "".join(chr(code) for code in range(0x20) if code not in (9, 10, 11, 12, 13))
)


def fold(text: str) -> str:
    """The text as it is compared."""
    if text.isascii():
        return text.translate(_ASCII_MARKS).lower()
    return text.translate(FOLDING)


def composed(text: str) -> str:
    """The text with Korean syllables in one piece: taken apart they would not be found again.

    Only they are composed, because sorting marks (as normalising the whole does) takes quadratic time in long runs.
    """
    return JAMO.sub(lambda run: unicodedata.normalize("NFC", run[0]), text)


def latin(word: str) -> str:
    """A folded word with every look-alike as the Latin letter that it stands for."""
    return word.translate(LATIN)


def plain_leet(word: str) -> str:
    """A folded word with digits and signs as the letters that they stand for."""
    return word.translate(LEET)


# ------------------------------------------------------------------------- for people


def visible(text: str) -> str:
    """The text with each invisible character as its code (`⟨U+200B⟩`), except where it is ordinary."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(text, position) for position in range(len(text)))


def _shown(text: str, position: int) -> str:
    character = text[position]
    if not is_invisible(character) or is_ordinary(text, position):
        return character
    return f"⟨U+{ord(character):04X}⟩"


def is_ordinary(text: str, position: int) -> bool:
    """Whether an invisible character belongs where it stands.

    In an emoji, between letters that need a joiner, as a leading byte order mark, a soft hyphen, a selector after a
    symbol, or a mark of text that is written right to left.
    """
    character = text[position]
    before = text[position - 1] if position else ""
    after = text[position + 1] if position + 1 < len(text) else ""
    if character == "\ufeff":
        return position == 0
    if character in "\u200c\u200d":
        return _needs_joiner(before) and (_needs_joiner(after) or not after.isascii() or after.isspace() or not after)
    if character in "\ufe0e\ufe0f":
        return unicodedata.category(before or "a") in {"So", "Sm", "Po", "Nd", "Sk", "Mn"} or before in "#*‼⁉™ℹ"
    if character in "\u200e\u200f\u061c\u2066\u2067\u2068\u2069\u202a\u202b\u202c":
        return any(
            unicodedata.bidirectional(other) in {"R", "AL"} for other in text[max(0, position - 40) : position + 40]
        )
    if 0xE0020 <= ord(character) <= 0xE007F:
        return in_flag(text, position)
    return character in "\xad\u2060"


def in_flag(text: str, position: int) -> bool:
    """Whether a tag character is part of a flag: a black flag, at most six tags, a cancel tag."""
    start = text.rfind("\U0001f3f4", max(0, position - 8), position)
    end = text.find("\U000e007f", position, position + 8)
    return start >= 0 and end >= 0 and end - start <= 8


def _needs_joiner(character: str) -> bool:
    """Whether the character is of an emoji or of a script whose letters are joined by these marks."""
    if not character:
        return False
    code = ord(character)
    return (
        0x0600 <= code <= 0x07BF  # Arabic and its neighbours
        or 0x0860 <= code <= 0x0DFF  # Arabic extended, Indic scripts
        or 0x0F00 <= code <= 0x109F  # Tibetan, Myanmar
        or 0x1780 <= code <= 0x18AF  # Khmer, Mongolian
        or 0xFE00 <= code <= 0xFE0F
        or 0xFB50 <= code <= 0xFDFF
        or 0x1F000 <= code <= 0x1FAFF
        or unicodedata.category(character) == "So"
        or character == "\u200d"
    )
