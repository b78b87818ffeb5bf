package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptAPI starts an API and writes its descriptor into the file.
func scriptAPI(ts *testscript.TestScript, _ bool, args []string) {
	mux := http.NewServeMux()
	tell := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{
			"path": r.URL.EscapedPath(), "query": r.URL.RawQuery, "body": string(body), "client": r.Header.Get("X-Client"),
		})
	}
	mux.HandleFunc("GET /v1/notes/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "lost" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"title": "No such note", "detail": "It was thrown away."}`)
			return
		}
		tell(w, r)
	})
	mux.HandleFunc("POST /v1/notes/{id}", tell)
	mux.HandleFunc("GET /v1/plain", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "words\x1b[31m in red")
	})
	mux.Handle("GET /v1/away", http.RedirectHandler("https://example.org/?secret=1", http.StatusFound))
	mux.HandleFunc("POST /v1/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	site := httptest.NewServer(mux)
	ts.Defer(site.Close)
	ts.Setenv("SITE", site.URL)

	descriptor, err := os.ReadFile(ts.Getenv("WEB_DESCRIPTOR"))
	ts.Check(err)
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, []byte(strings.ReplaceAll(string(descriptor), "$SITE", site.URL)), 0o600))
}
