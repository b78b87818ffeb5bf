package main

import (
	"fmt"
	"math"
	"strconv"
)

// journalConfig is how much the journal keeps.
type journalConfig struct {
	MaxAge     int // days
	MaxSize    int // megabytes, of all files
	RotateSize int // megabytes, of one
	KeepFull   bool
}

func defaultJournal() journalConfig { return journalConfig{MaxAge: 30, MaxSize: 500, RotateSize: 64} }

// journalSettings are the settings that begin with "journal.".
func journalSettings() []setting {
	return []setting{
		{"journal.maxAge", []string{"AAI_JOURNAL_MAX_AGE"}, func(c *config) any { return c.Journal.MaxAge },
			count("days", 3650, func(c *config, n int) { c.Journal.MaxAge = n })},
		{"journal.maxSize", []string{"AAI_JOURNAL_MAX_SIZE"}, func(c *config) any { return c.Journal.MaxSize },
			count("megabytes", 100_000, func(c *config, n int) { c.Journal.MaxSize = n })},
		{"journal.rotateSize", []string{"AAI_JOURNAL_ROTATE_SIZE"}, func(c *config) any { return c.Journal.RotateSize },
			count("megabytes", 1000, func(c *config, n int) { c.Journal.RotateSize = n })},
		{"journal.keepFull", []string{"AAI_JOURNAL_KEEP_FULL"}, func(c *config) any { return c.Journal.KeepFull },
			boolean(func(c *config, b bool) { c.Journal.KeepFull = b })},
	}
}

// count reads a whole number from 1 up.
func count(unit string, most int, put func(*config, int)) func(*config, string, any) error {
	return func(c *config, _ string, value any) error {
		n, ok := value.(float64)
		if s, isText := value.(string); isText {
			parsed, err := strconv.Atoi(s)
			n, ok = float64(parsed), err == nil
		}
		if !ok || n != math.Trunc(n) || n < 1 || n > float64(most) {
			return fmt.Errorf("expected a number of %s from 1 to %d", unit, most)
		}
		put(c, int(n))
		return nil
	}
}
