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
func inMemory(t *testing.T, fault string, caches bool) (*comwindow.Program, *tree) {
	t.Helper()
	p := comwindow.New("in memory", fault)
	window := uintptr(windows.GetDesktopWindow()) // any window that exists
	c := newClient(uiaprovider.NewClient(p, window, caches))
	assert.Assert(t, c != nil)
	assert.Equal(t, c.all != nil, caches)
	p.Live.Store(0) // the client's own objects stay
	source := &Source{client: func() *client { return c }}
	return p, &tree{source: source, pid: 1, title: "in memory", window: win32.Window(window), gone: func() bool { return len(p.Elements()) == 0 }}
}

// TestSuiteInMemory runs the suite against vtables made in Go, with a cached tree as on Windows.
func TestSuiteInMemory(t *testing.T) {
	p, tr := inMemory(t, "", true)
	desktoptest.Run(t, desktoptest.Subject{
		Backend: desktop.Backend{Tree: tr, Actor: tr}, PID: 1, Title: tr.title,
		State: func(testing.TB) map[string]any { return p.Fixture.State() },
		Stop:  func(testing.TB) { p.Hang() }, Continue: func(testing.TB) { p.Continue() },
		Kill: func(testing.TB) { p.Fixture.Quit() },
	})
	assert.Equal(t, p.Secrets.Load(), int64(0))
}

// TestWalk checks that a walk as on Wine finds the same elements as a request.
func TestWalk(t *testing.T) {
	p, walking := inMemory(t, "", false)
	_, requesting := inMemory(t, "", true)
	assert.DeepEqual(t, walking.read(t), requesting.read(t))
	assert.Equal(t, p.Secrets.Load(), int64(0))
}

func (t *tree) read(tb testing.TB) []desktop.Element {
	tb.Helper()
	shot, err := t.Snapshot(tb.Context(), t.app())
	assert.NilError(tb, err)
	desktoptest.WellFormed(tb, shot)
	return shot.Elements
}

// TestReferences checks that reads, single reads, acts and failures give all references back but those of the last read.
func TestReferences(t *testing.T) {
	for name, caches := range map[string]bool{"request": true, "walk": false} {
		t.Run(name, func(t *testing.T) {
			p, tr := inMemory(t, "", caches)
			elements := tr.read(t)
			held := p.Live.Load()
			assert.Equal(t, held, int64(len(elements)))
			agree, err := named(elements, "Agree", desktop.Checkbox)
			assert.NilError(t, err)
			colour, err := named(elements, "Colour", desktop.Combobox)
			assert.NilError(t, err)
			reads := 200
			if !caches {
				reads = 20
			}
			for range reads {
				tr.read(t)
			}
			for range 50 {
				_, err = tr.Read(t.Context(), tr.app(), agree.ID)
				assert.NilError(t, err)
				_, err = tr.Children(t.Context(), tr.app(), colour.ID, 1, 1)
				assert.NilError(t, err)
				assert.NilError(t, tr.Execute(t.Context(), tr.app(), agree.ID, desktop.Act{Verb: desktop.Press}))
				err = tr.Execute(t.Context(), tr.app(), agree.ID, desktop.Act{Verb: desktop.SetText, Text: "x"})
				assert.Equal(t, aai.AsError(err).Code, aai.AutomationNotSupported)
			}
			tr.source.held.replace(uintptr(tr.window), nil)
			_, err = tr.Read(t.Context(), tr.app(), agree.ID) // by a search
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
				_, tr := inMemory(t, fault, caches)
				check(t, tr.read(t))
			})
		}
	}
}

func hasOnePress(t *testing.T, elements []desktop.Element) {
	_, err := named(elements, "Press", desktop.Button)
	assert.NilError(t, err)
}

// TestHangInMidRead checks that a deadline ends the call, and that the abandoned read leaves no references behind.
func TestHangInMidRead(t *testing.T) {
	p, tr := inMemory(t, "", false)
	before := len(tr.read(t))
	p.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := tr.Snapshot(ctx, tr.app())
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	p.Continue()
	assert.Equal(t, len(tr.read(t)), before)
	for end := time.Now().Add(time.Minute); p.Live.Load() != int64(before); time.Sleep(10 * time.Millisecond) {
		assert.Assert(t, time.Now().Before(end), "%d objects have references, want %d", p.Live.Load(), before)
	}
}
