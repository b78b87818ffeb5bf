package config

import "time"

// Bounds of the scan interval. The minimum is long because a scan queries every program of the session.
const (
	minScan = time.Minute
	maxScan = 7 * 24 * time.Hour
)

// scanSettings returns the settings that begin with "scan.". They widen nothing: a scan reads
// only data that discover shows, and enables nothing.
func scanSettings() []settingSpec {
	return []settingSpec{{
		"scan.interval",
		"seconds between looks of a running gateway for new ways into apps, 60 to 604800; 0: never. What is found is said, " +
			"and never switched on",
		widensNever, []string{"AAI_SCAN_INTERVAL"},
		secondsAt(minScan.Seconds(), maxScan.Seconds(), true, func(c *Config) *time.Duration { return &c.ScanInterval }),
	}}
}
