"""The part `quick` of the study of WATOS, simulated: the page says what the program does."""

import os
import unittest

from _parts import summary
from _runs import ROOT, Simulator
from _watos import quick

PAGE = ROOT / "docs" / "validation" / "watos.md"


class Quick(unittest.TestCase):
    def test_the_page_has_what_the_program_prints(self):
        outcome = quick.study(Simulator(os.environ["TESSERA"], 1))
        text = PAGE.read_text()
        self.assertIn(outcome.tables["quick"], text)
        self.assertIn(summary("watos", outcome, "quick"), text)


if __name__ == "__main__":
    unittest.main()
