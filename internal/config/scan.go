package config

import (
	"fmt"
	"time"
)

// The interval of scans is long: each asks every program of the session.
const (
	minScan = time.Minute
	maxScan = 7 * 24 * time.Hour
)

// scanSettings are the settings that begin with "scan.". A scan looks only at what discover
// shows, and switches nothing on: it widens nothing.
func scanSettings() []settingSpec {
	return []settingSpec{
		{"scan.interval", widensNever, []string{"AAI_SCAN_INTERVAL"}, func(c *Config) any { return c.ScanInterval.Seconds() }, setScanInterval},
	}
}

func setScanInterval(c *Config, _ string, value any) error {
	n, ok := parseNumber(value)
	if !ok || n != 0 && !(minScan.Seconds() <= n && n <= maxScan.Seconds()) {
		return fmt.Errorf("expected 0 for never, or a number of seconds from %g to %g", minScan.Seconds(), maxScan.Seconds())
	}
	c.ScanInterval = time.Duration(n * float64(time.Second))
	return nil
}
