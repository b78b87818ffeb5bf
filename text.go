package aai

import "github.com/gybob/aai-gateway/internal/sanitize"

// CleanLabel makes one harmless line of text that came from outside, of at most max
// bytes with the "…" at its end where it was cut; max is at least 3. See
// [sanitize.Label].
func CleanLabel(s string, max int) string { return sanitize.Label(s, max) }

// CleanText is CleanLabel for text of several lines: it keeps line breaks and
// tabs.
func CleanText(s string, max int) string { return sanitize.Text(s, max) }
