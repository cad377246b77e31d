"""One readable page per job; a recipe returns what it found and prints nothing."""
