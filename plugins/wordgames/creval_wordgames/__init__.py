"""Word games as tasks of creval: Connections, clues to boards of words, words far apart."""
