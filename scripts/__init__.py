"""Tokens & Time: from raw corpora to the printed paper, one folder per stage and per benchmark."""
