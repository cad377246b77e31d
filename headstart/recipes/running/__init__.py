"""What every training recipe shares: its run file, its folder, its end, its life."""
