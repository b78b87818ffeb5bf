package web_test

import (
	"context"
	"net"
	"strconv"
	"testing"

	"github.com/gybob/aai-gateway/internal/doors/web"
)

// TestTheProgramEnds checks that a page reports that its program has ended, until it runs again.
func TestTheProgramEnds(t *testing.T) {
	w := newWorld(t)
	door, err := web.New(web.Config{Gateway: w.gateway})
	if err != nil {
		t.Fatal(err)
	}
	port := 0
	start := func() (end func()) {
		l, err := door.Listen(t.Context(), port)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := net.SplitHostPort(l.Addr().String())
		if port, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
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
