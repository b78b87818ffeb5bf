package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gui/recording"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// newWaylandWorld is newWorld in a session of Wayland. The person is its virtual pointer and keyboard.
func newWaylandWorld(t *testing.T) (*world, *wayland.Display) {
	s := linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
	screen := wayland.New(wayland.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	tree := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen, HasRelativeFrames: func(context.Context) bool { return true }})
	t.Cleanup(func() {
		tree.Close()
		_ = screen.Close()
	})
	return &world{T: t, Session: s, tree: tree, backend: desktop.Backend{
		Tree: tree, Offscreen: tree, Actor: tree, Events: tree, Windows: screen, Input: screen, Screen: screen,
	}}, screen
}

// recordByEvents records a person's acts on Wayland. click clicks the element, and types the text if there is one.
func recordByEvents(t *testing.T, agent *atomic.Int64, acts func(click func(query, text string))) []recorded.Step {
	w, screen := newWaylandWorld(t)
	app := w.orders().app
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := recording.New(recording.Config{Backend: w.backend, App: app, Acts: func() (int, bool) { n := int(agent.Load()); return n, n == 1 }, Write: func(n int, s *recorded.Step) error {
		b, _ := json.Marshal(s)
		t.Logf("%d %s", n, b)
		return nil
	}})
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.Run(ctx, func() { close(ready) }) }()
	<-ready
	acts(func(text, typed string) {
		t.Helper()
		var e *desktop.Element
		w.until(text, func() bool { e = w.find(app, text); return e != nil })
		windows, err := screen.Windows(ctx)
		assert.NilError(t, err)
		for _, one := range windows {
			if one.PID != app.PID {
				continue
			}
			if err := screen.Click(ctx, desktop.PersonSeat, one.ID, e.Frame.Center(), desktop.LeftButton, 1); err != nil {
				t.Logf("%s: %v", text, err)
				continue
			}
			if typed != "" {
				assert.NilError(t, screen.Type(ctx, desktop.PersonSeat, one.ID, typed))
			}
			break
		}
		time.Sleep(1400 * time.Millisecond) // a person pauses longer than a burst
	})
	cancel()
	assert.NilError(t, <-ended)
	return r.Steps()
}

// TestWaylandRecording: on Wayland a recording has what accessibility events tell, and says what they do not tell. Acts of
// agents and passwords are not in it.
func TestWaylandRecording(t *testing.T) {
	var agent atomic.Int64
	steps := recordByEvents(t, &agent, func(click func(query, text string)) {
		click(`role:textbox name:City`, "Rome")
		click(`role:textbox name:Password`, "zq1000wkv")
		click(`role:checkbox name:"Wrap as gift"`, "")
		click(`role:radio name:"Pay later"`, "")
		click(`role:tab name:Goods`, "")
		click(`role:cell name:Cheese`, "")
		agent.Store(1)
		click(`role:checkbox name:"Wrap as gift"`, "")
		agent.Store(2)
		time.Sleep(1400 * time.Millisecond) // the burst of the agent's act is over
		click(`role:button name:Clear`, "")
		click(`role:button name:"Send order"`, "")
	})
	var got []string
	for _, s := range steps {
		if s.ShowAgain != "" {
			got = append(got, s.ShowAgain)
			continue
		}
		got = append(got, fmt.Sprint(s.Tool, " ", s.Target.Name, " ", s.Args["value"], " ", s.Check != nil))
	}
	want := []string{
		"ax_set_value City Rome true", "ax_set_value Password {{secret:orders-password}} false", "ax_set_value Wrap as gift true true",
		"ax_click Pay later <nil> true", "ax_click Goods <nil> true", "ax_click Cheese <nil> true",
		`button "Clear" got the keyboard; the events do not tell whether it was pressed`,
		`alertdialog "Information" opened; the events do not tell by which act`,
	}
	assert.Check(t, is.DeepEqual(want, got))
}
