"""A user's files, in all their forms, to checked lines, documents, rows and pairs."""
