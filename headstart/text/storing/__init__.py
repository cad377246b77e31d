"""How a corpus becomes a token store: chunks in order, words remembered, a part held out, stops survived."""
