package gui_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// webForm is a page in Chromium that reports the values of its fields and their events: the
// witness.
type webForm struct {
	*realWorld
	app  string
	told atomic.Pointer[map[string]string]
	host string // of the page, with its port
}

// webForm opens a page with the body, in HTML, whose fields have ids. Another page,
// "/next", has a heading and a button.
func (w *realWorld) webForm(body string) *webForm { return w.webFormIn(body, "--app=") }

// webFormIn is webForm with arguments before the address; without any it opens a whole browser.
func (w *realWorld) webFormIn(body, before string) *webForm {
	w.Helper()
	return w.formIn(body, "button Ready", func(address, host string) *linuxtest.App {
		return w.browse(host, before+address, "--disable-backgrounding-occluded-windows")
	})
}

// browse starts Chromium for a page of the host.
func (w *realWorld) browse(host string, more ...string) *linuxtest.App {
	w.Helper()
	_, port, _ := net.SplitHostPort(host)
	if w.browsers != nil {
		more = append([]string{"--remote-debugging-port=0"}, more...)
	} else {
		more = append([]string{"--force-renderer-accessibility"}, more...)
	}
	return w.Launch(w.T, "chromium", append([]string{"--no-sandbox", "--test-type",
		"--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
		"--password-store=basic", "--lang=en", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--user-data-dir=" + filepath.Join(w.Home, "browser"+port), "--window-size=900,700"}, more...)...)
}

// formIn opens a page with the function open, which gets its address; if ready is "", the page is
// not read yet.
func (w *realWorld) formIn(body, ready string, open func(address, host string) *linuxtest.App) *webForm {
	w.Helper()
	f := &webForm{realWorld: w}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(formPage(body))) })
	mux.HandleFunc("GET /next", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang="en"><title>Next</title><h1>Thank you</h1><button>Go on</button>`))
	})
	mux.HandleFunc("POST /state", func(_ http.ResponseWriter, r *http.Request) {
		var state map[string]string
		if json.NewDecoder(r.Body).Decode(&state) == nil { // it may vanish with the page
			f.told.Store(&state)
		}
	})
	server := httptest.NewServer(mux)
	w.Cleanup(server.Close)
	f.host = server.Listener.Addr().String()
	f.app = w.process(open(server.URL, f.host))
	w.connect()
	w.eventually("the page tells what it holds", func() bool { return f.told.Load() != nil })
	if ready != "" {
		w.awaitElement(f.app, ready)
	}
	return f
}

// holds returns the value of the field with the id, as the page reports it.
func (f *webForm) holds(id string) string { return (*f.told.Load())[id] }

// comes waits until the field has the value.
func (f *webForm) comes(id, value string) {
	f.Helper()
	f.eventually(id+" holds "+value, func() bool { return f.holds(id) == value })
}

func (f *webForm) on(query string) params { return params{"app": f.app, "query": query} }

func (f *webForm) set(query, value string) params {
	return params{"app": f.app, "query": query, "value": value}
}

func formPage(body string) string {
	return `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Form</title><button>Ready</button>` + body + `<script>
let heard = 0;
for (const kind of ["input", "change"]) document.addEventListener(kind, () => { heard++; });
setInterval(() => {
  const state = { heard: String(heard), focused: String(document.hasFocus()) };
  for (const e of document.querySelectorAll("input, select, textarea")) state[e.id] = ["checkbox", "radio"].includes(e.type) ? String(e.checked) : e.value;
  fetch("state", { method: "POST", body: JSON.stringify(state) });
}, 50);
</script></html>`
}

// numberIn returns a number in a JSON file, as text; "" if it is not there yet.
func numberIn(file, key string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	var state map[string]float64
	if json.Unmarshal(text, &state) != nil {
		return ""
	}
	return strconv.FormatFloat(state[key], 'f', -1, 64)
}
