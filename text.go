package aai

import "github.com/gybob/aai-gateway/internal/sanitize"

// CleanLabel returns external text as one harmless line of at most max bytes, including the "…"
// that marks a cut; max is at least 3. See [sanitize.Label].
func CleanLabel(s string, max int) string { return sanitize.Label(s, max) }

// CleanText is CleanLabel for text of several lines: it keeps line breaks and tabs.
func CleanText(s string, max int) string { return sanitize.Text(s, max) }
