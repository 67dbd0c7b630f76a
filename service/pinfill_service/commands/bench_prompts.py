"""Prompts of a wanted number of tokens, made of ordinary words."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

_COMMON = (
    "about above across after again against almost along already also always among another answer area around back "
    "become before begin behind below between book both bread bridge bring build call came carry change city clear "
    "close cold come could country cover cross dark deep door down draw dry early earth east eight even ever every "
    "face fall family far farm fast father feel feet field find fire first fish five follow food foot force form "
    "found four free friend from front full garden gave girl give glass gold good great green ground group grow half "
    "hand hard head hear heart heat help here high hill hold home horse hour house idea inch into iron island just "
    "keep kind king knew know land large last late laugh lead learn leave left letter life light line list little "
    "live long look love machine make many map mark market mean measure might mile milk mind minute money month moon "
    "more morning most mother mountain move much music must name near need never new next night north nothing notice "
    "number ocean often old once only open order other over own page paper part pass past people perhaps person piece "
    "place plain plan plant play point poor power problem pull push question quick quiet rain reach read ready real "
    "rest rich ride right river road rock room round rule run sail salt same sand school sea season second seem seven "
    "shape ship short should show side simple since sing six sleep slow small snow some song soon south space stand "
    "star start state stay step still stone stop story street strong study such summer sun sure table take talk tell "
    "ten test than then there thing think thought three through time today together took town train travel tree true "
    "turn two under until upon use very voice wait walk wall want warm watch water way week well went west wheel when "
    "white whole wide wind window winter wish with wood word work world would write year yellow young"
)
_WORDS = _COMMON.split()
_FILLER = " a"  # one token in every vocabulary worth measuring


@dataclass(frozen=True, slots=True)
class Text:
    """A text and its number of tokens by itself; at a seam with another text it can be one more or less."""

    text: str
    tokens: int


class PromptMaker:
    """Makes texts that begin differently from each other, so that none shares a prefix with an earlier one.

    The same seed and the same tokenizer (`count` tells the tokens of a text) give the same texts in the same order.
    """

    def __init__(self, count: Callable[[str], int], seed: int) -> None:
        self._count = count
        self._random = random.Random(seed)
        self._first_words = self._random.sample(_WORDS, len(_WORDS))
        self._made = 0

    def make(self, tokens: int) -> Text:
        """A text of exactly that many tokens where words and fillers can give it; its real number is returned."""
        words = [self._first_word(), *self._random.choices(_WORDS, k=tokens - 1)]
        low, high = 1, len(words)  # of words; each is a token at least
        while low < high:
            middle = (low + high + 1) // 2
            if self._count(" ".join(words[:middle])) <= tokens:
                low = middle
            else:
                high = middle - 1
        text = " ".join(words[:low])
        text += _FILLER * max(0, tokens - self._count(text))
        return Text(text, self._count(text))

    def _first_word(self) -> str:
        rounds, place = divmod(self._made, len(self._first_words))
        self._made += 1
        return self._first_words[place] if rounds == 0 else f"{rounds} {self._first_words[place]}"
