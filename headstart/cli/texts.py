"""Commands about text: tokenizer, check data."""
