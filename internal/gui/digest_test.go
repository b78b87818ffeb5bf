package gui_test

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// whileAsked is a gate that takes its time, while something happens.
type whileAsked struct{ happens func() }

func (g whileAsked) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	time.Sleep(time.Second)
	g.happens()
	return nil, nil
}

// retold lists programs with changed attributes.
type retold struct {
	desktop.Tree
	as *func(*desktop.App)
}

func (t retold) Apps(ctx context.Context) ([]desktop.App, error) {
	apps, err := t.Tree.Apps(ctx)
	for i := range apps {
		if *t.as != nil {
			(*t.as)(&apps[i])
		}
	}
	return apps, err
}

// TestAnotherProgramThanAskedAbout: a process that became another program after the gates' decision
// is left alone, whichever attribute changed.
func TestAnotherProgramThanAskedAbout(t *testing.T) {
	for name, as := range map[string]func(*desktop.App){
		"its executable": func(a *desktop.App) { a.Executable = "/tmp/editor" },
		"its contents":   func(a *desktop.App) { a.ProgramIdentity = a.Executable + " sha256:00" },
		"its script":     func(a *desktop.App) { a.ID = "another.py" },
		"nothing":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			var now func(*desktop.App)
			inWorldWithout(t, func(b *desktop.Backend) { b.Tree = retold{b.Tree, &now} }, func(w *world) {
				pressed := false
				w.d.Program("Editor").Window("One").Button("Save", func() { pressed = true })
				w.gateway.Gates = []aai.Gate{admitAll{w.record}, whileAsked{func() { now = as }}}
				_, err := w.do("ax_click", `{"app": "Editor", "query": "Save"}`)
				switch {
				case as == nil && (err != nil || !pressed):
					w.Errorf("nothing has changed, and it was pressed: %v, %v", pressed, err)
				case as != nil && (err == nil || err.Code != aai.AppNotRunning || pressed):
					w.Errorf("it was pressed: %v, %v", pressed, err)
				}
			})
		})
	}
}

// replaced finds programs at another path.
type replaced struct {
	desktop.Programs
	by *string
}

func (r replaced) Find(name string) (desktop.Program, error) {
	p, err := r.Programs.Find(name)
	if *r.by != "" {
		p.Path = *r.by
	}
	return p, err
}

// TestAnotherProgramIsNotStarted: only the program of the gates' decision starts, and no other with
// its name.
func TestAnotherProgramIsNotStarted(t *testing.T) {
	for by, starts := range map[string]bool{"": true, "/tmp/calc": false} {
		now := ""
		inWorldWithout(t, func(b *desktop.Backend) { b.Programs = replaced{b.Programs, &now} }, func(w *world) {
			started := false
			w.d.Install("calc", func() *fakedesktop.Program {
				started = true
				p := w.d.Program("Calc")
				p.Window("One")
				return p
			})
			w.gateway.Gates = []aai.Gate{admitAll{w.record}, whileAsked{func() { now = by }}}
			_, err := w.do("ax_connect", `{"app": "calc", "launch": true}`)
			assert.Check(w, is.Equal(started, starts), "%q %v", by, err)
			assert.Check(w, starts || err != nil && err.Delivery == aai.NotDelivered, "replaced by %q: started %v, %v", by, started, err)
		})
	}
}
