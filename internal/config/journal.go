package config

// Journal configures the journal's retention.
type Journal struct {
	MaxAgeDays        int // days
	MaxSizeMB         int // megabytes, of all files
	RotateSizeMB      int // megabytes, of one file
	KeepFull          bool
	KeepResultsOf     []string // apps with kept results, stored beside the journal
	KeepResultsDays   int
	KeepScreenshotsOf []string // apps with screenshots after each action, kept for a day
}

func defaultJournal() Journal {
	return Journal{MaxAgeDays: 30, MaxSizeMB: 500, RotateSizeMB: 64, KeepResultsOf: []string{}, KeepResultsDays: 1, KeepScreenshotsOf: []string{}}
}

// journalSettings returns the settings that begin with "journal.".
func journalSettings() []settingSpec {
	return []settingSpec{
		{"journal.maxAge", widensIfLess, []string{"AAI_JOURNAL_MAX_AGE"}, func(c *Config) any { return c.Journal.MaxAgeDays },
			integerSetter("days", 3650, func(c *Config, n int) { c.Journal.MaxAgeDays = n })},
		{"journal.maxSize", widensIfLess, []string{"AAI_JOURNAL_MAX_SIZE"}, func(c *Config) any { return c.Journal.MaxSizeMB },
			integerSetter("megabytes", 100_000, func(c *Config, n int) { c.Journal.MaxSizeMB = n })},
		{"journal.rotateSize", widensNever, []string{"AAI_JOURNAL_ROTATE_SIZE"}, func(c *Config) any { return c.Journal.RotateSizeMB },
			integerSetter("megabytes", 1000, func(c *Config, n int) { c.Journal.RotateSizeMB = n })},
		{"journal.keepFull", widensNever, []string{"AAI_JOURNAL_KEEP_FULL"}, func(c *Config) any { return c.Journal.KeepFull },
			boolSetter(func(c *Config, b bool) { c.Journal.KeepFull = b })},
		{"journal.answers", widensUnlessDefault, nil, func(c *Config) any { return c.Journal.KeepResultsOf },
			func(c *Config, _ string, v any) error { return setTexts(&c.Journal.KeepResultsOf, "apps", v) }},
		{"journal.pictures", widensUnlessDefault, nil, func(c *Config) any { return c.Journal.KeepScreenshotsOf },
			func(c *Config, _ string, v any) error { return setTexts(&c.Journal.KeepScreenshotsOf, "apps", v) }},
		{"journal.answersDays", widensIfMore, nil, func(c *Config) any { return c.Journal.KeepResultsDays },
			integerSetter("days", 30, func(c *Config, n int) { c.Journal.KeepResultsDays = n })},
	}
}
