package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parseSpan parses a duration: Go's "1h30m", or days and weeks, such as "30d" or "2w".
func parseSpan(text string) (time.Duration, bool) {
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		count, found := strings.CutSuffix(text, suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(count, 10, 13) // 13 bits: no product overflows
		return time.Duration(n) * unit, err == nil && n > 0
	}
	span, err := time.ParseDuration(text)
	return span, err == nil && span > 0
}

// parseInstant parses a point in time: RFC 3339, or a span that direction (1 or -1) puts
// after or before now. The result is RFC 3339 in UTC. Empty stays empty.
func parseInstant(flag, text string, direction time.Duration) (string, error) {
	if text == "" {
		return "", nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Format(time.RFC3339), nil
	}
	span, ok := parseSpan(text)
	if !ok {
		return "", fmt.Errorf("--%s %q: expected a span such as 90m, 12h or 30d, or a time such as 2027-01-31T12:00:00Z", flag, text)
	}
	return time.Now().Add(direction * span).UTC().Format(time.RFC3339), nil
}

// shownTime formats an RFC 3339 time of the gateway's tools for the reader: local and short
// on a terminal, unchanged in a pipe. The zero time, which means never, becomes "".
func (o *output) shownTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err == nil && at.IsZero():
		return ""
	case err != nil || !o.terminal.Out:
		return text
	}
	return at.Local().Format("2006-01-02 15:04:05")
}
