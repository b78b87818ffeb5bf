package wintree_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/windows/hwnd"
	"github.com/gybob/aai-gateway/internal/platform/windows/msaa"
	"github.com/gybob/aai-gateway/internal/platform/windows/uia"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/comwindow"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/msaaprovider"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/uiaprovider"
)

// TestMain runs the tests, or is one of their programs.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 {
		switch os.Args[1] {
		case "uia-provider":
			comwindow.Serve(os.Args[2], os.Args[3], uiaprovider.New)
		case "msaa-provider":
			comwindow.Serve(os.Args[2], os.Args[3], msaaprovider.New)
		}
	}
	windowstest.Main(m)
}

// all returns the sources in the order of the gateway.
func all() *wintree.Tree {
	inner := msaa.New()
	return wintree.New(wintree.Config{Sources: []wintree.Source{uia.New(), hwnd.New(inner), inner}})
}

// read returns the app of a process and its elements, of which the first has the title.
func read(t *testing.T, tree *wintree.Tree, pid int) (desktop.App, []desktop.Element) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		apps, err := tree.Apps(t.Context())
		assert.NilError(t, err)
		for _, app := range apps {
			if app.PID == pid {
				shot, err := tree.Snapshot(t.Context(), app)
				assert.NilError(t, err)
				desktoptest.WellFormed(t, shot)
				return app, shot.Elements
			}
		}
		assert.Assert(t, time.Now().Before(end), "process %d has no window among %v", pid, apps)
	}
}

// TestNeitherProvider checks that on Wine a program without UI Automation and MSAA stays as window messages show it. On Windows the
// system provides both for its controls.
func TestNeitherProvider(t *testing.T) {
	if !windowstest.IsWine() {
		t.Skip("Windows provides UI Automation for its controls")
	}
	f := windowstest.Start(t)
	tree := all()
	app, together := read(t, tree, f.PID)
	begun := time.Now()
	_, err := tree.Snapshot(t.Context(), app)
	assert.NilError(t, err)
	t.Logf("a snapshot with all sources takes %v", time.Since(begun))
	messages := wintree.New(wintree.Config{Sources: []wintree.Source{hwnd.New(nil)}})
	_, alone := read(t, messages, f.PID)
	begun = time.Now()
	_, err = messages.Snapshot(t.Context(), app)
	assert.NilError(t, err)
	t.Logf("a snapshot with messages alone takes %v", time.Since(begun))
	for _, elements := range [][]desktop.Element{together, alone} {
		for i := range elements {
			elements[i].States &^= desktop.Active | desktop.Focused // the window may have been opened only now
		}
	}
	assert.DeepEqual(t, together, alone)
}

// TestProviders reads and operates programs through the tree, each by the interface that it has.
func TestProviders(t *testing.T) {
	for _, role := range []string{"uia", "msaa"} {
		t.Run(role, func(t *testing.T) {
			tree := all()
			p := comwindow.Start(t, role+"-provider", comwindow.Few)
			app, elements := read(t, tree, p.PID)
			assert.Equal(t, elements[0].Name, p.Title)
			assert.Equal(t, elements[0].Role, desktop.Window)
			agree := comwindow.Named(t, elements, "Agree", desktop.Checkbox)
			assert.Assert(t, strings.HasPrefix(string(agree.ID), role+":"), agree.ID)
			again, err := tree.Read(t.Context(), app, agree.ID)
			assert.NilError(t, err)
			assert.Equal(t, again.Name, "Agree")
			err = tree.Execute(t.Context(), app, agree.ID, desktop.Act{Verb: desktop.Press})
			if role == "uia" && windowstest.IsWine() {
				assert.Equal(t, aai.AsError(err).Code, aai.AutomationNotSupported) // Wine has no patterns
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, p.State(t)["agree"], true)
		})
	}
}
