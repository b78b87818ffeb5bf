package aai

import "aai/internal/hygiene"

// CleanLabel makes one harmless line of text that came from outside, of at most max
// bytes with the "…" at its end where it was cut; max is at least 3. See
// [hygiene.Label].
func CleanLabel(s string, max int) string { return hygiene.Label(s, max) }

// CleanText is CleanLabel for text of several lines: it keeps line breaks and
// tabs.
func CleanText(s string, max int) string { return hygiene.Text(s, max) }
