"""Tables, figures, numbers and captions, from statistics to LaTeX."""
