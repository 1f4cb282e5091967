"""First names, surnames and nothing else. Several begin alike, but no two people in a story share an initial."""

from __future__ import annotations

FEMALE_NAMES = tuple(
    "Anna Alice Bella Beth Clara Carla Doris Diana Emma Elsa Fiona Greta Grace Hannah Helen Iris Ivy Julia Jane "
    "Karen Kate Laura Lucy Maria Mia Nina Nora Olivia Paula Rosa Ruth Sara Sofia Tina Vera Wendy Yara Zoe".split()
)

MALE_NAMES = tuple(
    "Adam Alex Ben Boris Carlos Chris Daniel David Eric Emil Felix Frank George Gus Henry Hugo Ivan James Jonas "
    "Karl Kevin Leo Lucas Marcus Max Nick Noah Oscar Otto Paul Peter Robert Sam Simon Thomas Tom Victor Walter".split()
)

FEMALE_PETS = ("Daisy", "Fluffy", "Ginger", "Luna", "Molly", "Pepper")

MALE_PETS = ("Bruno", "Buddy", "Milo", "Rex", "Rusty", "Whiskey")

SURNAMES = tuple(
    "Adams Baker Brooks Carter Collins Davis Evans Fisher Garcia Hughes Jones Keller Lopez Miller Morgan Nolan "
    "Parker Reed Rossi Santos Sharma Taylor Turner Walsh Weber Wilson Wong Young".split()
)
