package discovery_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

// generousTimeout is a timeout that suffices on a busy computer.
const generousTimeout = time.Minute

// find returns the app's integration of that kind.
func find(t *testing.T, report *discovery.ScanReport, kind, app string) discovery.Integration {
	t.Helper()
	for _, w := range report.Integrations {
		if w.Kind == kind && w.App == app {
			return w
		}
	}
	t.Fatalf("no way %q into %s among %+v; silent: %q; notes: %q", kind, app, report.Integrations, report.Unresponsive, report.Notes)
	return discovery.Integration{}
}

// apps returns the apps with integrations in a state, sorted, without duplicates.
func apps(report *discovery.ScanReport, state string) []string {
	var all []string
	for _, w := range report.Integrations {
		if w.State == state {
			all = append(all, w.App)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// harmless fails the test if a report has invisible characters or overlong texts.
func harmless(t *testing.T, report *discovery.ScanReport) {
	t.Helper()
	for _, w := range report.Integrations {
		texts := slices.Concat([]string{w.ID, w.Kind, w.App, w.State, w.Benefit, w.HowTo}, w.Locations, w.Variables)
		for _, text := range slices.Concat(texts, report.Unresponsive, report.Notes) {
			assert.Assert(t, len(text) <= 700, "%q is no text for people", text)
			assert.Assert(t, !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e || r == 0x200b }), "%q is no text for people", text)
		}
	}
}

func look(t *testing.T, cfg discovery.ScannerConfig) *discovery.ScanReport {
	t.Helper()
	report := discovery.NewScanner(cfg).Scan(t.Context())
	harmless(t, report)
	return report
}

// at returns the address of a bus.
func at(address string) func() (string, error) {
	return func() (string, error) { return address, nil }
}

// none returns no apps.
func none(context.Context) []discovery.DescribedApp { return nil }
