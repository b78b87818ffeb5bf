package web_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/web"
)

// TestTheExaminationEndsWithTheDoor checks that an examination continues without its browser, and ends
// with the door.
func TestTheExaminationEndsWithTheDoor(t *testing.T) {
	w := newWorld(t)
	began, ended := make(chan struct{}), make(chan struct{})
	app, err := w.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	app.Tool("doctor").Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	door, err := web.New(web.Config{Gateway: w.gateway})
	assert.NilError(t, err)
	l, err := door.Listen(t.Context(), 0)
	assert.NilError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- door.Serve(ctx, l) }()
	w.link, w.address = door.Link(), l.Addr().String()
	w.enter(t)
	expectPage(t, w.post(t, "/doctor/run", w.form(t, "/doctor")), "under way")
	<-began
	select {
	case <-ended:
		t.Fatal("it has ended with the request")
	default:
	}
	cancel()
	<-served
	select {
	case <-ended:
	default:
		t.Error("the door has ended, and what it began goes on")
	}
}
