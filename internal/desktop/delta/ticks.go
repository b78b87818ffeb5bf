package delta

import (
	"regexp"
	"strconv"
	"time"

	"aai/internal/desktop"
)

// What is known for a clock or a memory figure at first sight, before anybody has seen it
// change by itself.

// figures finds times of the day, and amounts of memory.
type figures struct{ clock, memory *regexp.Regexp }

func newFigures() figures {
	return figures{
		clock:  regexp.MustCompile(`\b(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\b`),
		memory: regexp.MustCompile(`\b\d+(?:[.,]\d+)? ?(?:bytes|[kKMG]i?B|B)\b`),
	}
}

// ticks reports whether the words of two looks at an element differ in nothing but the
// time of the day and amounts of memory.
func (c *comparison) ticks(old, now *desktop.Element) bool {
	if !onlyDigits(old.Name+" "+old.Value, now.Name+" "+now.Value) {
		return false
	}
	return c.tick(old.Name, now.Name) && c.tick(old.Value, now.Value)
}

func (c *comparison) tick(was, is string) bool {
	if was == is {
		return true
	}
	f := newFigures()
	was, is = f.memory.ReplaceAllString(was, "?"), f.memory.ReplaceAllString(is, "?")
	return f.clock.ReplaceAllStringFunc(was, f.timeless(c.before.Taken)) == f.clock.ReplaceAllStringFunc(is, f.timeless(c.after.Taken))
}

// timeless takes what says the time, whatever the zone, out of a text of that moment: a
// clock that was wound up by an action shows another.
func (f figures) timeless(at time.Time) func(string) string {
	const slow = 2 * time.Second
	return func(text string) string {
		parts := f.clock.FindStringSubmatch(text)
		minute, _ := strconv.Atoi(parts[2])
		second, _ := strconv.Atoi(parts[3]) // 0 where it shows none
		shown := time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
		const zones = 15 * time.Minute
		late := (time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second - shown + time.Hour) % zones
		if late <= slow || late >= zones-slow || parts[3] == "" && late < time.Minute+slow {
			return "?"
		}
		return text
	}
}
