package web_test

import (
	"context"
	"net"
	"strconv"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/doors/web"
)

// TestTheProgramEnds checks that a page reports that its program has ended, until it runs again.
func TestTheProgramEnds(t *testing.T) {
	w := newWorld(t)
	door, err := web.New(web.Config{Gateway: w.gateway})
	assert.NilError(t, err)
	port := 0
	start := func() (end func()) {
		l, err := door.Listen(t.Context(), port)
		assert.NilError(t, err)
		_, text, _ := net.SplitHostPort(l.Addr().String())
		port, err = strconv.Atoi(text)
		assert.NilError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- door.Serve(ctx, l) }()
		return func() { cancel(); <-ended }
	}
	end := start()
	defer func() { end() }()
	runBrowserScript(t, "lost.mjs", "chromium", nil, map[string]any{"link": door.Link()}, func(said string) {
		switch said {
		case "end it":
			end()
		case "start it":
			end = start()
		default:
			t.Error(said)
		}
	})
}
