"""The words that rules are made of: per language and idea, separated by spaces.

A star ends a stem, for languages that put endings on their words. Words are written as people write them and folded
like the texts that they are looked up in. Ideas are the same in every language; `...end` are verbs that come last.
"""

from memory.threats.words import eastern, english, further, germanic, romance, slavic

LANGUAGES = (
    english.ENGLISH,
    germanic.GERMAN,
    germanic.DUTCH,
    romance.FRENCH,
    romance.SPANISH,
    romance.ITALIAN,
    romance.PORTUGUESE,
    slavic.RUSSIAN,
    slavic.UKRAINIAN,
    slavic.POLISH,
    eastern.TURKISH,
    eastern.ARABIC,
    eastern.HINDI,
    eastern.CHINESE,
    eastern.JAPANESE,
    eastern.KOREAN,
    further.GREEK,
    further.SWEDISH,
    further.CZECH,
    further.INDONESIAN,
    further.VIETNAMESE,
    further.HEBREW,
    further.PERSIAN,
)
