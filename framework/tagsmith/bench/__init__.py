"""The benchmark behind `tagsmith bench`: what reading a family's output costs, and its tags.

Everything is measured in one run, in turns, beside the least that reading can cost and beside other
parsers; so its ratios hold on any machine, whatever its figures are.
"""
