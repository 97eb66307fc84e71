"""What people read and look at: reports, the page of advice, pages of sweeps, pictures, sentences.

Pages are made of rows, verdicts, manifests and sweeps that verbs return. Nothing below imports
this room; terminal and browser app take their sentences from `answers`.
"""
