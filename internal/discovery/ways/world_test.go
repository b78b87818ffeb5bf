package ways_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"aai/internal/discovery/ways"
)

// ample is a clock that a busy computer keeps too.
const ample = time.Minute

// find returns the way of the kind into the app.
func find(t *testing.T, report *ways.Report, kind, app string) ways.Way {
	t.Helper()
	for _, w := range report.Ways {
		if w.Kind == kind && w.App == app {
			return w
		}
	}
	t.Fatalf("no way %q into %s among %+v; silent: %q; notes: %q", kind, app, report.Ways, report.Silent, report.Notes)
	return ways.Way{}
}

// apps are those of the ways in a state, each once, sorted.
func apps(report *ways.Report, state string) []string {
	var all []string
	for _, w := range report.Ways {
		if w.State == state {
			all = append(all, w.App)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// harmless fails the test where a report has characters in it that do not show, or texts
// that are too long to be read.
func harmless(t *testing.T, report *ways.Report) {
	t.Helper()
	for _, w := range report.Ways {
		texts := slices.Concat([]string{w.ID, w.Kind, w.App, w.State, w.Gains, w.Get}, w.Where, w.Variables)
		for _, text := range slices.Concat(texts, report.Silent, report.Notes) {
			if len(text) > 700 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e || r == 0x200b }) {
				t.Errorf("%q is no text for people", text)
			}
		}
	}
}

func look(t *testing.T, cfg ways.Config) *ways.Report {
	t.Helper()
	report := ways.New(cfg).Look(t.Context())
	harmless(t, report)
	return report
}

// at is the address of a bus.
func at(address string) func() (string, error) {
	return func() (string, error) { return address, nil }
}

// none is a look at nothing.
func none(context.Context) []ways.App { return nil }
