package msaa

import (
	"context"
	"os"
	"testing"
	"time"
	"unicode/utf8"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/comwindow"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/msaaprovider"
)

var _ wintree.Source = (*Source)(nil)

// TestMain runs the tests, or is a program with a provider, or without one.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "msaa-provider" {
		comwindow.Serve(os.Args[2], os.Args[3], msaaprovider.New)
	}
	if len(os.Args) == 4 && os.Args[1] == "no-provider" {
		comwindow.Serve(os.Args[2], os.Args[3], func(*comwindow.Program) comwindow.Answer {
			return func(*comwindow.Program, uintptr, uintptr) (uintptr, bool) { return 0, false }
		})
	}
	os.Exit(m.Run())
}

func start(t *testing.T, fault string) (*comwindow.Process, *comwindow.Tree) {
	t.Helper()
	p := comwindow.Start(t, "msaa-provider", fault)
	return p, p.Tree(New())
}

// inProcess returns a program whose window is this process's own, where calls take microseconds and not milliseconds.
func inProcess(t *testing.T, fault string) (*comwindow.Program, *comwindow.Tree) {
	t.Helper()
	p, err := comwindow.Open(t.Name(), fault, msaaprovider.New)
	assert.NilError(t, err)
	return p, &comwindow.Tree{Source: New(), PID: os.Getpid(), Title: t.Name(), Window: win32.Window(p.Window), Gone: func() bool { return false }}
}

// TestSuite runs the suite against a provider in the same process.
func TestSuite(t *testing.T) {
	p, tr := inProcess(t, "")
	desktoptest.Run(t, desktoptest.Subject{
		Backend: desktop.Backend{Tree: tr, Actor: tr}, PID: tr.PID, Title: tr.Title,
		State: func(testing.TB) map[string]any { return p.Fixture.State() },
		Stop:  func(testing.TB) { p.Hang() }, Continue: func(testing.TB) { p.Continue() },
		// MSAA has neither bounds of numbers nor states for these.
		Unreported: []string{"bounds Volume", "bounds Count", "multiline Notes", "modal Really?"},
	})
	assert.Equal(t, p.Secrets.Load(), int64(0))
}

// TestReferences checks that reads, single reads and acts give all references back.
func TestReferences(t *testing.T) {
	p, tr := inProcess(t, comwindow.Few)
	agree := comwindow.Named(t, tr.Elements(t), "Agree", desktop.Checkbox)
	for range 200 {
		_, err := tr.Snapshot(t.Context(), tr.App())
		assert.NilError(t, err)
	}
	for range 20 {
		_, err := tr.Read(t.Context(), tr.App(), agree.ID)
		assert.NilError(t, err)
		assert.NilError(t, tr.Execute(t.Context(), tr.App(), agree.ID, desktop.Act{Verb: desktop.Press}))
		err = tr.Execute(t.Context(), tr.App(), agree.ID, desktop.Act{Verb: desktop.SetText, Text: "x"})
		assert.Equal(t, aai.AsError(err).Code, aai.AutomationNotSupported)
	}
	assert.Equal(t, p.Live.Load(), int64(0))
}

// TestModal checks that a press ends although the program answers it only when its dialog is closed.
func TestModal(t *testing.T) {
	p, tr := inProcess(t, comwindow.Few)
	press := comwindow.Named(t, tr.Elements(t), "Press", desktop.Button)
	p.Modal = make(chan struct{})
	assert.NilError(t, tr.Execute(t.Context(), tr.App(), press.ID, desktop.Act{Verb: desktop.Press}))
	assert.Equal(t, p.Fixture.State()["presses"], 1.0)
	tr.Elements(t) // the program is read meanwhile
	close(p.Modal)
}

// TestProvider reads and operates a program in another process.
func TestProvider(t *testing.T) {
	p, tr := start(t, comwindow.Few)
	begun := time.Now()
	elements := tr.Elements(t)
	t.Logf("%d elements in %v", len(elements), time.Since(begun))
	for _, c := range []struct {
		name string
		role desktop.Role
		act  desktop.Act
		key  string
		want any
	}{
		{"Press", desktop.Button, desktop.Act{Verb: desktop.Press}, "presses", 1.0},
		{"Agree", desktop.Checkbox, desktop.Act{Verb: desktop.Press}, "agree", true},
		{"Full name", desktop.Textbox, desktop.Act{Verb: desktop.SetText, Text: "Grüße, 日本 🙂"}, "name", "Grüße, 日本 🙂"},
		{"Password", desktop.Textbox, desktop.Act{Verb: desktop.SetText, Text: "xK9-nobody-sees"}, "password", "xK9-nobody-sees"},
		{"Notes", desktop.Textbox, desktop.Act{Verb: desktop.SetText, Text: "one\ntwo"}, "notes", "one\ntwo"},
		{"Volume", desktop.Slider, desktop.Act{Verb: desktop.SetNumber, Number: 55}, "volume", 55.0},
		{"Fruit 40", desktop.Option, desktop.Act{Verb: desktop.SelectItem, Name: "Fruit 40"}, "fruit", "Fruit 40"},
		{"Blue", desktop.Option, desktop.Act{Verb: desktop.SelectItem}, "colour", "Blue"},
		{"Quit-not", desktop.MenuItem, desktop.Act{Verb: desktop.Press, AllowClosedMenu: true}, "menu", "Quit-not"},
	} {
		e := comwindow.Named(t, elements, c.name, c.role)
		assert.NilError(t, tr.Execute(t.Context(), tr.App(), e.ID, c.act), c.name)
		assert.Equal(t, p.State(t)[c.key], c.want)
	}
	notes, err := tr.Read(t.Context(), tr.App(), comwindow.Named(t, elements, "Notes", desktop.Textbox).ID)
	assert.NilError(t, err)
	assert.Equal(t, notes.Value, "one\ntwo")
	assert.Equal(t, p.Secrets(t), 0)
	for end := time.Now().Add(time.Minute); p.Live(t) > 0; time.Sleep(20 * time.Millisecond) {
		assert.Assert(t, time.Now().Before(end), "%d objects have references", p.Live(t))
	}
	p.Hang(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = tr.Snapshot(ctx, tr.App())
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	p.Continue(t)
}

// TestBadProviders checks that faulty programs cannot crash or hang a read.
func TestBadProviders(t *testing.T) {
	for fault, check := range map[string]func(t *testing.T, elements []desktop.Element){
		msaaprovider.NoNames: func(t *testing.T, elements []desktop.Element) {
			for _, e := range elements {
				assert.Equal(t, e.Name, "")
			}
		},
		msaaprovider.Cycle: func(t *testing.T, elements []desktop.Element) {
			assert.Assert(t, len(elements) <= maxElements)
		},
		msaaprovider.Self:    func(t *testing.T, elements []desktop.Element) { comwindow.Named(t, elements, "Press", desktop.Button) },
		msaaprovider.Endless: func(*testing.T, []desktop.Element) {}, // the system reads no children then
		msaaprovider.Long: func(t *testing.T, elements []desktop.Element) {
			longest := 0
			for _, e := range elements {
				longest = max(longest, len(e.Name))
			}
			assert.Equal(t, longest, maxName)
		},
		msaaprovider.Broken: func(t *testing.T, elements []desktop.Element) {
			for _, e := range elements {
				assert.Assert(t, utf8.ValidString(e.Name), "%q", e.Name)
			}
		},
	} {
		t.Run(fault, func(t *testing.T) {
			_, tr := inProcess(t, fault)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			shot, err := tr.Snapshot(ctx, tr.App())
			assert.NilError(t, err)
			desktoptest.WellFormed(t, shot)
			check(t, shot.Elements)
		})
	}
}

// TestProviderDies checks that a program may end in the middle of a read.
func TestProviderDies(t *testing.T) {
	_, tr := start(t, msaaprovider.Dies)
	_, err := tr.Snapshot(t.Context(), tr.App())
	assert.Equal(t, aai.AsError(err).Code, aai.AppNotRunning)
}

// TestNoProvider checks that a window without a provider is left to the other sources.
func TestNoProvider(t *testing.T) {
	p := comwindow.Start(t, "no-provider", "")
	tr := p.Tree(New())
	elements, err := comwindow.OnThread(t.Context(), func() ([]desktop.Element, error) { return tr.Source.Read(t.Context(), tr.Window) })
	assert.NilError(t, err)
	assert.Equal(t, len(elements), 0)
}
