package own_test

import (
	"slices"
	"strings"
	"testing"

	"aai"
	"aai/internal/own"
)

func TestDiscoverGivesTheGuide(t *testing.T) {
	w := newWorld(t, nil)
	result, err := w.do(t, agent(), aai.OwnApp, own.Discover, `{"url": "example.com"}`)
	if err != nil {
		t.Fatal(err)
	}
	if result.Foreign != "https://example.com" || !strings.Contains(result.Text, "- id: example.com/com.example.notes") || result.Data == nil {
		t.Errorf("got %+v", result)
	}
	if _, err := w.do(t, agent(), aai.OwnApp, own.Discover, `{"url": "example.org"}`); aai.AsError(err).Code != aai.AppNotRunning {
		t.Errorf("got %v", err)
	}
	if _, err := w.do(t, agent(), aai.OwnApp, own.Discover, `{}`); aai.AsError(err).Code != aai.InvalidParams {
		t.Errorf("got %v", err)
	}
}

// An agent that could name sites could make of "my bank" what it likes.
func TestOnlyThePersonNamesSites(t *testing.T) {
	w := newWorld(t, nil)
	w.screen.answer = "no"
	if _, err := w.do(t, agent(), aai.OwnApp, own.NameSite, `{"name": "bank", "url": "evil.example"}`); aai.AsError(err).Code != aai.PermissionDenied {
		t.Errorf("got %v", err)
	}
	w.screen.answer = "yes"
	w.own(t, own.NameSite, `{"name": "bank", "url": "bank.example"}`)
	if !slices.Equal(w.web.names, []string{"bank bank.example"}) {
		t.Errorf("the names are %q", w.web.names)
	}
}

// A gateway without a web has no tools for it.
func TestNoWebNoTools(t *testing.T) {
	w := newWorld(t, nil)
	w.sources.Web = nil
	w.open()
	app, err := w.gateway.Catalog.Find(t.Context(), aai.OwnApp)
	if err != nil || app.Tool(own.Discover) != nil || app.Tool(own.NameSite) != nil {
		t.Errorf("%v, %v", app, err)
	}
}
