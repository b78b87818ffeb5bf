package x11

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A singleAppCatalog is a gateway's catalog of one app, its gate, its journal, and its stop.
type singleAppCatalog struct {
	app     *aai.App
	stopped atomic.Bool
}

func (d *singleAppCatalog) Apps() []*aai.App                               { return []*aai.App{d.app} }
func (d *singleAppCatalog) Find(context.Context, string) (*aai.App, error) { return d.app, nil }
func (d *singleAppCatalog) OnChange(func()) (stop func())                  { return func() {} }
func (d *singleAppCatalog) Record(context.Context, *aai.Entry) error       { return nil }
func (d *singleAppCatalog) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}

// CheckStopped implements the gateway's stop. There is no notification of changes: strokes poll it.
func (d *singleAppCatalog) CheckStopped(gateway.CallScope) *aai.Error {
	if d.stopped.Load() {
		return aai.Errorf(aai.PermissionDenied, "the person has stopped it")
	}
	return nil
}

// TestTypingEndsWithAStop checks that a stopped call presses no further key, and restores
// the keyboard.
func TestTypingEndsWithAStop(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	f.Press(t, "Notes")
	w := windowID(ctx, t, d, f)
	// No keyboard has that many keys, so each batch must have been read before the next.
	var written strings.Builder
	for r := range rune(600) {
		written.WriteRune('一' + r)
	}
	text := written.String()
	assert.NilError(t, conn.must(ctx, conn.setLocks(capsLock, 0)))
	before, err := conn.layout(ctx)
	assert.NilError(t, err)
	seen := &singleAppCatalog{app: &aai.App{ID: "org.example.Typist", Name: "Typist", Tools: []*aai.Tool{{
		Name: "type", Effect: aai.Changes, Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			return &aai.Result{}, d.Type(ctx, desktop.OwnSeat, w, text)
		},
	}}}}
	g := &gateway.Gateway{Catalog: seen, Gates: []aai.Gate{seen}, Journal: seen, Stops: seen}
	ended := make(chan error, 1)
	go func() {
		_, err := g.Do(ctx, &aai.Call{App: seen.app.ID, Tool: "type"})
		ended <- err
	}()
	f.WaitFor(t, "it types", func(state map[string]any) bool { return len(state["notes"].(string)) > 30 })
	seen.stopped.Store(true)
	if e, is := errors.AsType[*aai.Error](<-ended); !is || e.Code != aai.PermissionDenied || e.Delivery == aai.NotDelivered {
		t.Errorf("the call ended with %v", e)
	}
	awaitKeyboardBack(ctx, t, conn, before)
	typed := ""
	for now := notes(t, f); now != typed; now = notes(t, f) {
		typed = now // earlier text is read
		time.Sleep(300 * time.Millisecond)
	}
	assert.Assert(t, len(typed) != 0, "%d of %d bytes are typed: %.60q", len(typed), len(text), typed)
	assert.Assert(t, len(typed) != len(text), "%d of %d bytes are typed: %.60q", len(typed), len(text), typed)
	assert.Assert(t, strings.HasPrefix(text, typed), "%d of %d bytes are typed: %.60q", len(typed), len(text), typed)
}
