package hwnd_test

import (
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/windows/hwnd"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest"
)

func TestMain(m *testing.M) { windowstest.Main(m) }

// TestWindowMessages runs the suite of backends on real controls, read and operated by window messages.
func TestWindowMessages(t *testing.T) {
	f := windowstest.Start(t)
	tree := wintree.New(wintree.Config{Sources: []wintree.Source{hwnd.New(nil)}})
	desktoptest.Run(t, desktoptest.Subject{
		Backend: desktop.Backend{Tree: tree, Actor: tree, Events: tree},
		PID:     f.PID, Title: f.Title, State: f.State, Lacks: f.Lacks,
		Person: func(testing.TB) any { return windowstest.Foreground() },
		Stop:   f.Suspend, Continue: f.Continue, Kill: f.Kill,
	})
}
