"""What a tokenizer is made of: where its pieces come from, how they are numbered, saved and judged."""
