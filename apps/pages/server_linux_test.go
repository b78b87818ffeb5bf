package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// reporting is the script with which every page posts its state.
const reporting = `<script>
(() => { let last = ''; setInterval(() => {
  const now = JSON.stringify(typeof state == 'function' ? state() : {});
  if (now != last) fetch('/state', {method: 'POST', body: now, keepalive: true}).then(() => { last = now });
}, 40) })()
</script>`

// A site serves the pages from two origins, and has the state of the page of one task.
type site struct {
	*testing.T
	own, other *httptest.Server

	mu     sync.Mutex
	state  map[string]any
	opened bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t}
	libraries, err := filepath.Abs("../../.cache/widgets/node_modules")
	assert.NilError(t, err)
	mux := http.NewServeMux()
	mux.Handle("GET /lib/", http.StripPrefix("/lib/", http.FileServer(http.Dir(libraries))))
	mux.HandleFunc("GET /page/{name}", s.page)
	mux.HandleFunc("POST /state", s.receive)
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "loaded") })
	s.own, s.other = httptest.NewServer(mux), httptest.NewServer(mux)
	t.Cleanup(s.own.Close)
	t.Cleanup(s.other.Close)
	return s
}

// page serves a page without its tasks, or a part of it: <template id=part>.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	_, page, err := splitPage(r.PathValue("name"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if part := r.URL.Query().Get("part"); part != "" {
		found := regexp.MustCompile(`(?s)<template id=` + part + `>(.*?)</template>`).FindStringSubmatch(page)
		if found == nil {
			http.NotFound(w, r)
			return
		}
		page = found[1]
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprint(w, `<!doctype html><html lang="en"><meta charset="utf-8">`, strings.ReplaceAll(page, "$OTHER", s.other.URL), reporting)
}

// receive adds what a page posts to the state: frames post theirs too.
func (s *site) receive(w http.ResponseWriter, r *http.Request) {
	var state map[string]any
	if json.NewDecoder(r.Body).Decode(&state) == nil {
		s.mu.Lock()
		maps.Copy(s.state, state)
		s.opened = true
		s.mu.Unlock()
	}
	w.WriteHeader(http.StatusNoContent)
}

// begin forgets the state, for a new task, and returns the address of its page.
func (s *site) begin(k *task) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.opened = map[string]any{}, false
	return s.own.URL + "/page/" + k.page
}

func (s *site) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// difference returns the difference between the state and the one that the task wants, or "".
func (s *site) difference(k *task) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return k.difference(s.state)
}

// heading returns the first heading of a page. It shows that the page can be read.
func heading(t *testing.T, name string) string {
	t.Helper()
	_, page, err := splitPage(name)
	assert.NilError(t, err)
	found := regexp.MustCompile(`<h1>(.*?)</h1>`).FindStringSubmatch(page)
	assert.Assert(t, found != nil, "%s has no heading", name)
	return found[1]
}
