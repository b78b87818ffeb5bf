package gui_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// unlike maps the names on a real window to queries that match none of them.
func unlike() map[string]string {
	return map[string]string{
		"OK": "Bookmark this tab", "Save": "Don't Save", "Close": "Close without saving", "Delete": "Delete all data",
		"保存": "不保存", "Lock": "Unlock", "Delete Al Dat": "Delete All Data",
	}
}

// exactly opens a window with the buttons, and returns its program and the pressed buttons, which a file has.
func (w *realWorld) exactly(kind linuxtest.Kind, names []string) (app string, pressed func() string) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "pressed")
	pressed = func() string {
		text, err := os.ReadFile(file)
		assert.Assert(w, err == nil || os.IsNotExist(err), err)
		return strings.TrimSpace(string(text))
	}
	if kind != linuxtest.Chromium {
		return w.process(w.script("exact_"+string(kind)+".py", append([]string{file}, names...)...)), pressed
	}
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.Method == http.MethodPost {
			name, err := io.ReadAll(in.Body)
			if err == nil {
				err = os.WriteFile(file, []byte(pressed()+"\n"+string(name)), 0o600)
			}
			assert.Check(w, err)
			return
		}
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		page := "<title>exact</title>"
		for _, name := range names {
			page += fmt.Sprintf(`<p><button onclick="fetch('/', {method: 'POST', body: this.innerText})">%s</button>`, name)
		}
		_, _ = io.WriteString(out, page)
	}))
	w.Cleanup(site.Close)
	return w.process(w.Browser(w.T, site.URL)), pressed
}

// TestRealExact: in real windows, including Chromium's frame around the page, only an exact match
// is pressed.
func TestRealExact(t *testing.T) {
	all := newRealWorld(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6, linuxtest.Chromium} {
		t.Run(string(kind), func(t *testing.T) {
			w := all.on(t)
			names := []string{"Apply"}
			for _, name := range unlike() {
				names = append(names, name)
			}
			app, pressed := w.exactly(kind, names)
			w.awaitElement(app, "role:button name:Apply")
			for asked, name := range unlike() {
				code := aai.ElementNotFound
				if asked == "Close" && kind == linuxtest.Chromium {
					code = aai.AmbiguousTarget // its tab and its window have that name
				}
				e := w.refused(code, "ax_click", params{"app": app, "query": asked})
				if code == aai.ElementNotFound && !strings.Contains(strings.Join(e.Candidates, "\n"), name) && asked != "OK" {
					w.Errorf("%q: candidates %q", asked, e.Candidates)
				}
			}
			assert.Equal(w, pressed(), "")
			w.ok("ax_click", params{"app": app, "query": "APPLY"})
			w.ok("ax_click", params{"app": app, "query": "don’t save"})
			w.eventually("both are pressed", func() bool { return len(strings.Split(pressed(), "\n")) == 2 })
			assert.Check(w, is.Equal(pressed(), "Apply\nDon't Save"))
		})
	}
}
