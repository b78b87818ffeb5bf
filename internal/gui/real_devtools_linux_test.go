package gui_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/cdp"
)

// useDevTools makes the browsers of the world listen for DevTools.
func (w *realWorld) useDevTools() {
	w.browsers = devtools.New(devtools.Config{Find: func() (own []devtools.Endpoint) {
		for _, e := range devtools.Find(w.Getenv) {
			if strings.HasPrefix(e.Profile, w.Home) {
				own = append(own, e)
			}
		}
		return own
	}, AllowFile: w.Path("tmp", "browsers.json")})
	w.Cleanup(func() { _ = w.browsers.Close() })
	w.backend = cdp.Wrap(w.backend, w.browsers, slog.New(slog.NewTextHandler(w.Output(), nil)))
}

// connect connects to the browsers that run, if the world has DevTools.
func (w *realWorld) connect() {
	w.Helper()
	if w.browsers == nil {
		return
	}
	w.eventually("a browser listens for DevTools", func() bool { return len(w.browsers.Listening()) > 0 })
	for _, e := range w.browsers.Listening() {
		assert.NilError(w, w.browsers.Connect(w.Context(), e))
	}
}

// TestDevTools operates a page over DevTools in a browser that shows nothing of it by accessibility.
func TestDevTools(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	w.useDevTools()
	f := w.webForm(`<label>Name <input id=name></label> <label for=pw>Key</label><input id=pw type=password>
		<select id=colour aria-label=Colour><option>Red<option>Green</select><label><input type=checkbox id=agree> I agree</label>
		<button onclick="document.title = 'sent'; out.textContent = 'Sent to ' + document.getElementById('name').value">Send</button><p id=out></p>
		<button onclick="alert('Hello there')">Greet</button>`)
	assert.Check(t, is.Contains(w.ok("ax_get_tree", params{"app": f.app}).Text, `textbox "Name"`))
	assert.Check(t, is.Contains(w.done("ax_type", params{"app": f.app, "query": "textbox Name", "text": "Ann"}).Text, cdpWay))
	f.comes("name", "Ann")
	said := w.done("ax_click", f.on("button Send")).Text
	assert.Assert(t, is.Contains(said, "Sent to Ann"))
	assert.Assert(t, is.Contains(said, cdpWay))
	w.done("ax_set_value", f.set("combobox Colour", "Green"))
	f.comes("colour", "Green")
	w.done("ax_set_value", f.set("checkbox I agree", "true"))
	f.comes("agree", "true")
	w.ok("ax_click", f.on("button Greet")) // the page does not answer while its dialog is open
}

// TestDevToolsUpload gives files to a field, and to the chooser of a button.
func TestDevToolsUpload(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	w.useDevTools()
	forbidden := errors.New("names a file with passwords or keys")
	var asked []string
	w.offers(gui.Config{Open: func() desktop.Backend { return w.backend }, CheckUpload: func(path string) error {
		if strings.HasSuffix(path, "key") {
			return forbidden
		}
		return nil
	}}, seesFiles{&asked})
	f := w.webForm(`<label>Picture <input type=file id=picture onchange="told.value = this.files[0].name"></label><input type=hidden id=told>
		<button onclick="attachment.click()">Attach</button><input type=file id=attachment style="display:none" onchange="told.value = 'attached ' + this.files[0].name">`)
	file := w.Path("tmp", "note.txt")
	assert.NilError(t, os.WriteFile(file, []byte("note"), 0o600))
	w.done("ax_set_value", params{"app": f.app, "query": "button Picture: No file chosen", "upload": file})
	f.comes("told", "note.txt")
	w.ok("ax_set_value", params{"app": f.app, "query": "button Attach", "upload": file})
	f.comes("told", "attached note.txt")
	assert.Assert(t, len(asked) != 0, "the gates saw the files %q", asked)
	assert.Equal(t, asked[0], file, "%q", asked)
	_ = w.refused(aai.InvalidParams, "ax_set_value", params{"app": f.app, "query": "button Picture: note.txt", "upload": "/home/key"})
	_ = w.refused(aai.InvalidParams, "ax_set_value", params{"app": f.app, "query": "button Picture: note.txt", "upload": file, "value": "x"})
}

// seesFiles is a gate that notes the files that calls send.
type seesFiles struct{ files *[]string }

func (g seesFiles) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	*g.files = append(*g.files, r.Assessment().ReadsFiles...)
	return nil, nil
}

// cdpWay is the way of a reply.
const cdpWay = "by the browser's DevTools"
