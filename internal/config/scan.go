package config

import (
	"fmt"
	"time"
)

// Bounds of the scan interval. The minimum is long because a scan queries every program of the session.
const (
	minScan = time.Minute
	maxScan = 7 * 24 * time.Hour
)

// scanSettings returns the settings that begin with "scan.". They widen nothing: a scan reads
// only data that discover shows, and enables nothing.
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
