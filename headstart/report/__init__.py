"""Numbers and run folders to pictures; reads files and never imports torch."""
