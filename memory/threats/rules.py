"""The rules: sequences of ideas that make an order to an agent. Pure data.

`displace 3 prior 2 orders` reads: a word for *displace*, at most three words, one for *prior*, at most two words, one
for *orders*. `a/b` is either; a name that is no idea is that very word; `^` is the beginning of a sentence;
`~4 tame` is "unless a word for *tame* follows within four words of the sentence". A rule that begins with `!` does not
count after a negation ("never reveal the prompt").
"""

from memory.threats.certain import CERTAIN
from memory.threats.doubtful import LIKELY, SUSPICIOUS

# What one rule of a table counts; that much near each other is a threat.
ENOUGH = 3
TABLES = {ENOUGH: CERTAIN, 2: LIKELY, 1: SUSPICIOUS}
