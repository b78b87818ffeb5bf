package uia

import (
	"context"
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/comwindow"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/uiaprovider"
)

// TestMain runs the tests, or is a program with a provider, or without one.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "uia-provider" {
		comwindow.Serve(os.Args[2], os.Args[3], uiaprovider.New)
	}
	if len(os.Args) == 4 && os.Args[1] == "no-provider" {
		comwindow.Serve(os.Args[2], os.Args[3], func(*comwindow.Program) comwindow.Answer {
			return func(*comwindow.Program, uintptr, uintptr) (uintptr, bool) { return 0, false }
		})
	}
	os.Exit(m.Run())
}

func start(t *testing.T, role, fault string) (*comwindow.Process, *Source, *comwindow.Tree) {
	t.Helper()
	p := comwindow.Start(t, role, fault)
	source := New()
	return p, source, p.Tree(source)
}

// TestProvider reads a program in another process through the system's own client. Wine serves no properties of patterns but whether a
// value is read-only, and no patterns, so there values and acts are missing.
func TestProvider(t *testing.T) {
	p, source, tr := start(t, "uia-provider", comwindow.Few)
	begun := time.Now()
	elements := tr.Elements(t)
	t.Logf("%d elements in %v", len(elements), time.Since(begun))
	assert.Equal(t, elements[0].Name, p.Title)
	assert.Equal(t, elements[0].Role, desktop.Window)
	for name, role := range map[string]desktop.Role{
		"Press": desktop.Button, "Agree": desktop.Checkbox, "Full name": desktop.Textbox, "Password": desktop.Textbox, "Notes": desktop.Textbox,
		"Volume": desktop.Slider, "Count": desktop.Spinbutton, "Colour": desktop.Combobox, "First": desktop.Tab, "Fruit 40": desktop.ListItem,
		"Status: ready": desktop.Text,
	} {
		if source.client().all == nil {
			comwindow.Named(t, elements, name, role)
		}
	}
	press := comwindow.Named(t, elements, "Press", desktop.Button)
	assert.Assert(t, press.States.Has(desktop.Showing|desktop.Enabled|desktop.Focusable))
	assert.Assert(t, press.Frame.W > 0)
	disabled := comwindow.Named(t, elements, "Disabled", desktop.Button)
	assert.Assert(t, !disabled.States.Has(desktop.Enabled))
	password := comwindow.Named(t, elements, "Password", desktop.Textbox)
	assert.Assert(t, password.States.Has(desktop.Protected))
	notes := comwindow.Named(t, elements, "Notes", desktop.Textbox)
	assert.Assert(t, notes.States.Has(desktop.Editable|desktop.Multiline))

	press.Parent, press.End = 0, 0
	again, err := tr.Read(t.Context(), tr.App(), press.ID)
	assert.NilError(t, err)
	assert.DeepEqual(t, again, press)
	source.held.replace(p.Window, nil)
	again, err = tr.Read(t.Context(), tr.App(), press.ID)
	assert.NilError(t, err)
	assert.DeepEqual(t, again, press)
	_, err = tr.Read(t.Context(), tr.App(), press.ID+"9")
	assert.Equal(t, aai.AsError(err).Code, aai.StaleRef)

	if source.client().all == nil {
		err = tr.Execute(t.Context(), tr.App(), press.ID, desktop.Act{Verb: desktop.Press})
		assert.Equal(t, aai.AsError(err).Code, aai.AutomationNotSupported)
		assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered)
		assert.Equal(t, p.State(t)["presses"], 0.0)
	}
	assert.Equal(t, p.Secrets(t), 0)
	t.Logf("%d objects of the provider have references", p.Live(t))
	_, _ = comwindow.OnThread(t.Context(), func() (bool, error) { source.held.replace(p.Window, nil); return true, nil })
	for end := time.Now().Add(time.Minute); p.Live(t) > 0; time.Sleep(50 * time.Millisecond) {
		assert.Assert(t, time.Now().Before(end), "%d objects have references", p.Live(t))
	}
}

// TestProviderEnds checks that a program can hang, or end in mid-read.
func TestProviderEnds(t *testing.T) {
	p, _, tr := start(t, "uia-provider", uiaprovider.Dies)
	p.Hang(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := tr.Snapshot(ctx, tr.App())
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	p.Continue(t)
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = tr.Snapshot(ctx, tr.App())
	assert.Equal(t, aai.AsError(err).Code, aai.AppNotRunning)
}

// TestNoProvider checks that a window without a provider is left to the other sources.
func TestNoProvider(t *testing.T) {
	_, source, tr := start(t, "no-provider", "")
	elements, err := comwindow.OnThread(t.Context(), func() ([]desktop.Element, error) { return source.Read(t.Context(), tr.Window) })
	assert.NilError(t, err)
	assert.Assert(t, elements == nil || source.client().all != nil) // Windows knows the title bar and the like
}
