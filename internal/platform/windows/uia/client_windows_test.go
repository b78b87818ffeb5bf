package uia

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/windows"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/comwindow"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/uiaprovider"
)

var _ wintree.Source = (*Source)(nil)

// inMemory returns a tree around a client with the patterns of Windows, whose objects are Go's. With caches, a request reads a window.
func inMemory(t *testing.T, fault string, caches bool) (*comwindow.Program, *Source, *comwindow.Tree) {
	t.Helper()
	p := comwindow.New("in memory", fault)
	window := uintptr(windows.GetDesktopWindow()) // any window that exists
	c := newClient(uiaprovider.NewClient(p, window, caches))
	assert.Assert(t, c != nil)
	assert.Equal(t, c.all != nil, caches)
	p.Live.Store(0) // the client's own objects stay
	source := &Source{client: func() *client { return c }}
	return p, source, &comwindow.Tree{Source: source, PID: 1, Title: "in memory", Window: win32.Window(window), Gone: func() bool { return len(p.Elements()) == 0 }}
}

// TestSuiteInMemory runs the suite against vtables made in Go, with a cached tree as on Windows.
func TestSuiteInMemory(t *testing.T) {
	p, _, tr := inMemory(t, "", true)
	desktoptest.Run(t, desktoptest.Subject{
		Backend: desktop.Backend{Tree: tr, Actor: tr}, PID: 1, Title: tr.Title,
		State: func(testing.TB) map[string]any { return p.Fixture.State() },
		Stop:  func(testing.TB) { p.Hang() }, Continue: func(testing.TB) { p.Continue() },
		Kill: func(testing.TB) { p.Fixture.Quit() },
	})
	assert.Equal(t, p.Secrets.Load(), int64(0))
}

// TestWalk checks that a walk as on Wine finds the same elements as a request.
func TestWalk(t *testing.T) {
	p, _, walking := inMemory(t, "", false)
	_, _, requesting := inMemory(t, "", true)
	assert.DeepEqual(t, walking.Elements(t), requesting.Elements(t))
	assert.Equal(t, p.Secrets.Load(), int64(0))
}

// TestReferences checks that reads, single reads, acts and failures give all references back but those of the last read.
func TestReferences(t *testing.T) {
	for name, caches := range map[string]bool{"request": true, "walk": false} {
		t.Run(name, func(t *testing.T) {
			p, source, tr := inMemory(t, "", caches)
			elements := tr.Elements(t)
			held := p.Live.Load()
			assert.Equal(t, held, int64(len(elements)))
			agree := comwindow.Named(t, elements, "Agree", desktop.Checkbox)
			colour := comwindow.Named(t, elements, "Colour", desktop.Combobox)
			reads := 200
			if !caches {
				reads = 20
			}
			for range reads {
				tr.Elements(t)
			}
			for range 50 {
				_, err := tr.Read(t.Context(), tr.App(), agree.ID)
				assert.NilError(t, err)
				_, err = tr.Children(t.Context(), tr.App(), colour.ID, 1, 1)
				assert.NilError(t, err)
				assert.NilError(t, tr.Execute(t.Context(), tr.App(), agree.ID, desktop.Act{Verb: desktop.Press}))
				err = tr.Execute(t.Context(), tr.App(), agree.ID, desktop.Act{Verb: desktop.SetText, Text: "x"})
				assert.Equal(t, aai.AsError(err).Code, aai.AutomationNotSupported)
			}
			source.held.replace(uintptr(tr.Window), nil)
			_, err := tr.Read(t.Context(), tr.App(), agree.ID) // by a search
			assert.NilError(t, err)
			assert.Equal(t, p.Live.Load(), int64(0))
		})
	}
}

// TestBadProviders checks that faulty programs cannot crash or hang a read.
func TestBadProviders(t *testing.T) {
	for fault, check := range map[string]func(t *testing.T, elements []desktop.Element){
		uiaprovider.NoNames: func(t *testing.T, elements []desktop.Element) {
			for _, e := range elements {
				assert.Equal(t, e.Name, "")
			}
		},
		uiaprovider.Cycle:    hasOnePress,
		uiaprovider.OwnChild: hasOnePress,
		uiaprovider.Endless: func(t *testing.T, elements []desktop.Element) {
			most := 0
			for _, e := range elements {
				most = max(most, e.UnreadChildren)
			}
			assert.Assert(t, most > 0)
		},
		uiaprovider.Long: func(t *testing.T, elements []desktop.Element) {
			longest := 0
			for _, e := range elements {
				longest = max(longest, len(e.Name))
			}
			assert.Equal(t, longest, maxName)
		},
		uiaprovider.Broken: func(t *testing.T, elements []desktop.Element) {
			for _, e := range elements {
				assert.Assert(t, utf8.ValidString(e.Name) && strings.Contains(e.Name, "x"), "%q", e.Name)
			}
		},
	} {
		for name, caches := range map[string]bool{"request": true, "walk": false} {
			if caches && (fault == uiaprovider.Cycle || fault == uiaprovider.OwnChild || fault == uiaprovider.Endless) {
				continue // a cached tree has an end
			}
			t.Run(fault+" "+name, func(t *testing.T) {
				_, _, tr := inMemory(t, fault, caches)
				check(t, tr.Elements(t))
			})
		}
	}
}

func hasOnePress(t *testing.T, elements []desktop.Element) {
	comwindow.Named(t, elements, "Press", desktop.Button)
}

// TestModal checks that a press ends although the program answers it only when its dialog is closed.
func TestModal(t *testing.T) {
	p, _, tr := inMemory(t, "", true)
	press := comwindow.Named(t, tr.Elements(t), "Press", desktop.Button)
	p.Modal = make(chan struct{})
	assert.NilError(t, tr.Execute(t.Context(), tr.App(), press.ID, desktop.Act{Verb: desktop.Press}))
	assert.Equal(t, p.Fixture.State()["presses"], 1.0)
	tr.Elements(t) // the program is read meanwhile
	close(p.Modal)
}

// TestHangInMidRead checks that a deadline ends the call, and that the abandoned read leaves no references behind.
func TestHangInMidRead(t *testing.T) {
	p, _, tr := inMemory(t, "", false)
	before := len(tr.Elements(t))
	p.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := tr.Snapshot(ctx, tr.App())
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	p.Continue()
	assert.Equal(t, len(tr.Elements(t)), before)
	for end := time.Now().Add(time.Minute); p.Live.Load() != int64(before); time.Sleep(10 * time.Millisecond) {
		assert.Assert(t, time.Now().Before(end), "%d objects have references, want %d", p.Live.Load(), before)
	}
}
