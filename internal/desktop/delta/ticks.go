package delta

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// These patterns identify a clock or a memory figure at first sight, before it was seen to change by
// itself.

// tickPatterns match times of the day, and amounts of memory.
type tickPatterns struct{ clock, memory, tab *regexp.Regexp }

func newTickPatterns() tickPatterns {
	return tickPatterns{
		clock:  regexp.MustCompile(`\b(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\b`),
		tab:    regexp.MustCompile(`^ - [^-]+ - \d+(?:[.,]\d+)? ?[kKMG]i?B$`),
		memory: regexp.MustCompile(`\b\d+(?:[.,]\d+)? ?(?:bytes|[kKMG]i?B|B)\b`),
	}
}

// isTick reports whether the texts of an element in two snapshots differ only in times of the day and
// amounts of memory. A browser's tab may start to show its memory at any moment.
func (c *comparison) isTick(old, now *desktop.Element) bool {
	if now.Role == desktop.Tab && old.Value == now.Value {
		tab := newTickPatterns().tab
		if more, is := strings.CutPrefix(now.Name, old.Name); is && tab.MatchString(more) {
			return true
		}
		if less, is := strings.CutPrefix(old.Name, now.Name); is && tab.MatchString(less) {
			return true
		}
	}
	if !onlyDigits(old.Name+" "+old.Value, now.Name+" "+now.Value) {
		return false
	}
	return c.isTextTick(old.Name, now.Name) && c.isTextTick(old.Value, now.Value)
}

func (c *comparison) isTextTick(was, is string) bool {
	if was == is {
		return true
	}
	f := newTickPatterns()
	was, is = f.memory.ReplaceAllString(was, "?"), f.memory.ReplaceAllString(is, "?")
	if f.clock.ReplaceAllString(was, "?") != f.clock.ReplaceAllString(is, "?") {
		return false
	}
	then, now := f.clock.FindAllString(was, -1), f.clock.FindAllString(is, -1)
	for i := range then {
		if then[i] != now[i] && !f.advancesWithClock(then[i], c.before.Taken, now[i], c.after.Taken) {
			return false
		}
	}
	return true
}

// advancesWithClock reports whether two texts show the time of the two moments in the same time zone. A
// clock that an action has set shows another time.
func (f tickPatterns) advancesWithClock(was string, then time.Time, is string, now time.Time) bool {
	const zones = 15 * time.Minute // granularity of time zones
	before, rough := f.clockLag(was, then)
	after, _ := f.clockLag(is, now)
	const slow = 2 * time.Second
	most := slow
	if rough {
		most += time.Minute
	}
	const half = 12 * time.Hour // after which a clock may show the same
	apart := (after - before + 20*half) % half
	return (before%zones <= most || before%zones >= zones-slow) && (apart <= most || apart >= half-most)
}

// clockLag returns how far the time in the text lags behind UTC at that moment, plus 120 hours, and whether the text
// omits the seconds.
func (f tickPatterns) clockLag(text string, at time.Time) (late time.Duration, rough bool) {
	parts := f.clock.FindStringSubmatch(text)
	hour, _ := strconv.Atoi(parts[1])
	minute, _ := strconv.Atoi(parts[2])
	second, _ := strconv.Atoi(parts[3]) // 0 without seconds
	shown := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	at = at.UTC()
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	const longest = 100 * time.Hour // more than two digits can show, so that it is never negative
	return at.Sub(midnight) - shown + longest + 20*time.Hour, parts[3] == ""
}
