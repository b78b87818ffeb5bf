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
	return Journal{MaxAgeDays: 30, MaxSizeMB: 500, RotateSizeMB: 64, KeepResultsOf: []string{}, KeepResultsDays: 1,
		KeepScreenshotsOf: []string{}}
}

// journalSettings returns the settings that begin with "journal.".
func journalSettings() []settingSpec {
	return []settingSpec{
		{"journal.maxAge", "for how many days the journal is kept, 1 to 3650", widensIfLess, []string{"AAI_JOURNAL_MAX_AGE"},
			integerAt("a number of days", 1, 3650, func(c *Config) *int { return &c.Journal.MaxAgeDays })},
		{"journal.maxSize", "how many megabytes the journal keeps, 1 to 100000", widensIfLess,
			[]string{"AAI_JOURNAL_MAX_SIZE"},
			integerAt("a number of megabytes", 1, 100_000, func(c *Config) *int { return &c.Journal.MaxSizeMB })},
		{"journal.rotateSize", "megabytes after which a file of the journal is put aside, 1 to 1000", widensNever,
			[]string{"AAI_JOURNAL_ROTATE_SIZE"},
			integerAt("a number of megabytes", 1, 1000, func(c *Config) *int { return &c.Journal.RotateSizeMB })},
		{"journal.keepFull", "also keep what calls answered, and longer arguments", widensNever,
			[]string{"AAI_JOURNAL_KEEP_FULL"}, boolAt(func(c *Config) *bool { return &c.Journal.KeepFull })},
		{"journal.answers", "apps of whose calls what they answered is kept beside the record", widensUnlessDefault, nil,
			textsAt("apps", func(c *Config) *[]string { return &c.Journal.KeepResultsOf })},
		{"journal.pictures",
			"apps, such as desktop/mousepad, of which is kept for a day what a window looked like after a call acted on it; * " +
				"for all",
			widensUnlessDefault, nil, textsAt("apps", func(c *Config) *[]string { return &c.Journal.KeepScreenshotsOf })},
		{"journal.answersDays", "for how many days that is kept, 1 to 30", widensIfMore, nil,
			integerAt("a number of days", 1, 30, func(c *Config) *int { return &c.Journal.KeepResultsDays })},
	}
}
