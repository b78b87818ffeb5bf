package mcp_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// A list that is too long, or does not end, costs the tools after the limit.
func TestListsThatDoNotEnd(t *testing.T) {
	for kind, want := range map[string]struct {
		tools int
		rest  string
	}{
		"many":      {1000, "the server lists more than 1000 tools"},
		"endless":   {100, "the server's list has more than 100 pages"},
		"round":     {2, "page 2 of the server's list names a page that was already read"},
		"bad page":  {2, `sent an answer that cannot be read: tools is a string, in "{'tools':'none'}"`},
		"late fail": {2, `answered with error -32000: "the page is gone"`},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.hostile(t, kind)
			r := w.must(t, app, "mcp_start", nil)
			assert.Assert(t, is.Contains(r.Warning, "tools are missing: "))
			assert.Assert(t, is.Contains(r.Warning, want.rest))
			listed := w.Catalog.Apps()[0]
			assert.Assert(t, is.Len(listed.Tools, want.tools))
			assert.Assert(t, is.Contains(listed.Description, want.rest))
			r = w.must(t, app, listed.Tools[0].Name, nil)
			assert.Check(t, is.Equal(r.Text, "done"), "%+v", r)
		})
	}
}

// An answer in another form than the protocol's is read as far as possible, or reported with its beginning.
func TestUnreadableAnswers(t *testing.T) {
	for _, c := range []struct{ kind, text, warning, err string }{
		{"byte order mark", "done", "", ""},
		{"text id", "done", "", ""},
		{"future", `a` + "\n" + `Content that the gateway cannot read: {"data":"zz","type":"hologram"}`, `content[1] of the type "hologram" cannot be read`, ""},
		{"nonsense", "no list", "its content is no list", ""},
		{"nan", "", "", `sent an answer that cannot be read: "{'jsonrpc': '2.0', 'id': `},
		{"half", "", "", `sent an answer that cannot be read: "{'jsonrpc': '2.0', 'result': {"`},
		{"no result", "", "", `sent an answer that cannot be read: `},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.hostile(t, c.kind)
			w.start(t, app)
			r, e := w.call(t, app, "do", nil)
			assert.Check(t, is.Equal((e == nil), (c.err == "")), "%v %q", e, c.err)
			assert.Check(t, e == nil || strings.Contains(e.Message, c.err) && e.Delivery == aai.Delivered, "%v %q", e, c.err)
			if e == nil && (r.Text != c.text || !strings.Contains(r.Warning, c.warning) || (c.warning == "") != (r.Warning == "")) {
				t.Errorf("%q, warning %q", r.Text, r.Warning)
			}
			_, e = w.call(t, app, "other", nil)
			assert.Check(t, c.err == "" || e != nil && e.Code != aai.AppNotRunning, "the server was ended: %v", e)
		})
	}
}
