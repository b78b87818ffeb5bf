package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// withDesktop adds the real desktop app, with a program in memory.
func withDesktop(w *world) {
	d := fakedesktop.New()
	d.Program("Editor").Window("Untitled").Button("Save", func() {})
	backend := d.Backend()
	w.catalog.apps = append(w.catalog.apps, newDesktop(func() desktop.Backend { return backend }))
}

// newDesktop returns the desktop with the names of the tools that other packages add to it.
func newDesktop(open func() desktop.Backend) *aai.App {
	var more []*aai.Tool
	for _, name := range []string{"ax_workflow", "ax_undo"} {
		more = append(more, &aai.Tool{Name: name, Run: func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }})
	}
	return gui.New(gui.Config{Open: open, ExtraTools: more})
}

// withProfile sets the profile: "apps", "desktop" or "all".
func withProfile(profile string) change {
	return func(w *world) {
		before := w.options
		w.options = func(c *door.Config) {
			before(c)
			if profile != "apps" {
				c.DirectApps = []string{aai.DesktopApp}
			}
			c.OnlyDirect = profile == "desktop"
			c.ListWebDiscovery = true // in profiles with apps
		}
	}
}

// withWeb lists the tool that finds web apps.
func withWeb(w *world) {
	before := w.options
	w.options = func(c *door.Config) {
		before(c)
		c.ListWebDiscovery = true
	}
}

func withResources(resources ...door.Resource) change {
	return func(w *world) { w.options = func(c *door.Config) { c.Resources = resources } }
}

// A silentDialog is a window of the gateway that gets no answer.
type silentDialog func()

// Ask implements aai.Asker.
func (d silentDialog) Ask(context.Context, aai.Question) (aai.Answer, error) {
	d()
	return aai.Answer{}, errors.New("nobody is there")
}

func withDialog(asked func()) change { return func(w *world) { w.dialog = silentDialog(asked) } }

// asksByDialog is a gate that asks about every call, also by a dialog.
func asksByDialog(r *aai.Request) ([]aai.Question, error) {
	questions, err := asks(r)
	questions[0].Channels = append(questions[0].Channels, aai.DesktopDialog)
	return questions, err
}

// adding adds apps to the catalog.
func adding(apps ...*aai.App) change {
	return func(w *world) { w.catalog.apps = append(w.catalog.apps, apps...) }
}

// get decodes the result of a request into v.
func (c *wire) get(method, params string, v any) {
	c.t.Helper()
	m := c.ask(method, params)
	if m.Error != nil {
		c.t.Fatalf("%s %s: %+v", method, params, *m.Error)
	}
	assert.NilError(c.t, json.Unmarshal(m.Result, v), "%s %s %s", method, params, m.Result)
}

// refused asserts that a request results in a protocol error that contains a word.
func (c *wire) refused(code int, word, method, params string) {
	c.t.Helper()
	m := c.ask(method, params)
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, word) {
		c.t.Errorf("%s %s: expected the error %d with %q, got %+v %s", method, params, code, word, m.Error, m.Result)
	}
}

// until returns the messages before the answer to the request, and the answer.
func (c *wire) until(id string) (news []message, answer message) {
	c.t.Helper()
	for {
		m := c.receive()
		if string(m.ID) == id && m.Method == "" {
			return news, m
		}
		news = append(news, m)
	}
}

// textOf returns the text of a resource.
func (c *wire) textOf(uri string) string {
	c.t.Helper()
	var read struct {
		Contents []struct{ URI, MIMEType, Text, Blob string }
	}
	c.get("resources/read", fmt.Sprintf(`{"uri":%q}`, uri), &read)
	assert.Assert(c.t, is.Len(read.Contents, 1), "%+v", read)
	assert.Equal(c.t, read.Contents[0].URI, uri, "%+v", read)
	return read.Contents[0].MIMEType + " " + read.Contents[0].Text + read.Contents[0].Blob
}
