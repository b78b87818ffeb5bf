package discovery_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

func TestClassesOfCOM(t *testing.T) {
	report := look(t, discovery.ScannerConfig{
		Classes: func(context.Context) ([]discovery.COMClass, error) {
			return []discovery.COMClass{
				{ProgID: "Example.Notes", Name: "Notes", Command: `C:\notes.exe`, HasLibrary: true},
				{ProgID: "Example.Mail", Name: "Mail"},
				{ProgID: "Example.Secret", Name: "Secret"},
				{ProgID: "MMC20.Application"},
				{ProgID: "Odd\u202e.App\n"},
			}, errors.New("access denied")
		},
		Apps: func(context.Context) []discovery.DescribedApp {
			return []discovery.DescribedApp{{ID: "com.example.mail", Services: []string{"Example.Mail"}}}
		},
		Denied: func(names []string) bool { return slices.Contains(names, "Secret") },
	})
	notes := find(t, report, "com", "Example.Notes")
	assert.Check(t, is.Equal(notes.HowTo, "aai-gateway generate --start Example.Notes makes tools of it."))
	assert.Check(t, is.DeepEqual(notes.Locations, []string{`C:\notes.exe`}))
	assert.Check(t, is.Equal(find(t, report, "com", "Example.Mail").CoveredBy, "com.example.mail"))
	assert.Check(t, is.Equal(find(t, report, "com", "Example.Secret").HowTo, discovery.DeniedHowTo))
	assert.Check(t, is.Contains(find(t, report, "com", "MMC20.Application").Benefit, "can run any program"))
	assert.Check(t, is.DeepEqual(report.Notes, []string{"not all classes of COM were read: access denied"}))
}
