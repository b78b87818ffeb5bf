package config

// Journal is how much the journal keeps.
type Journal struct {
	MaxAge      int // days
	MaxSize     int // megabytes, of all files
	RotateSize  int // megabytes, of one
	KeepFull    bool
	Answers     []string // apps of whose calls what they answered is kept beside the journal
	AnswersDays int
	Pictures    []string // apps of which is kept for a day what a window looked like after an act
}

func defaultJournal() Journal {
	return Journal{MaxAge: 30, MaxSize: 500, RotateSize: 64, Answers: []string{}, AnswersDays: 1, Pictures: []string{}}
}

// journalSettings are the settings that begin with "journal.".
func journalSettings() []row {
	return []row{
		{"journal.maxAge", whenLess, []string{"AAI_JOURNAL_MAX_AGE"}, func(c *Config) any { return c.Journal.MaxAge },
			count("days", 3650, func(c *Config, n int) { c.Journal.MaxAge = n })},
		{"journal.maxSize", whenLess, []string{"AAI_JOURNAL_MAX_SIZE"}, func(c *Config) any { return c.Journal.MaxSize },
			count("megabytes", 100_000, func(c *Config, n int) { c.Journal.MaxSize = n })},
		{"journal.rotateSize", never, []string{"AAI_JOURNAL_ROTATE_SIZE"}, func(c *Config) any { return c.Journal.RotateSize },
			count("megabytes", 1000, func(c *Config, n int) { c.Journal.RotateSize = n })},
		{"journal.keepFull", never, []string{"AAI_JOURNAL_KEEP_FULL"}, func(c *Config) any { return c.Journal.KeepFull },
			boolean(func(c *Config, b bool) { c.Journal.KeepFull = b })},
		{"journal.answers", otherwise, nil, func(c *Config) any { return c.Journal.Answers },
			func(c *Config, _ string, v any) error { return setTexts(&c.Journal.Answers, "apps", v) }},
		{"journal.pictures", otherwise, nil, func(c *Config) any { return c.Journal.Pictures },
			func(c *Config, _ string, v any) error { return setTexts(&c.Journal.Pictures, "apps", v) }},
		{"journal.answersDays", whenMore, nil, func(c *Config) any { return c.Journal.AnswersDays },
			count("days", 30, func(c *Config, n int) { c.Journal.AnswersDays = n })},
	}
}
