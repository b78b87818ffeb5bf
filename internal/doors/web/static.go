package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var staticFiles embed.FS

// static holds the static files. Each content has its own address, so browsers may cache it
// forever.
type static struct {
	byPath map[string]file
	style  string // the address of the style sheet
	script string // the address of all scripts
	icon   string
}

// scripts are the scripts of a page, in one file: htmx as published, its extension for
// server-sent events, and restrictions of htmx.
func scripts() []string {
	return []string{"static/htmx.min.js", "static/hx-sse.min.js", "static/page.js"}
}

func readStatic() (static, error) {
	s := static{byPath: make(map[string]file)}
	style, err := staticFiles.ReadFile("static/style.css")
	if err != nil {
		return s, err
	}
	var all bytes.Buffer
	for _, name := range scripts() {
		b, err := staticFiles.ReadFile(name)
		if err != nil {
			return s, err
		}
		all.Write(b)
		all.WriteString("\n;\n")
	}
	icon, err := staticFiles.ReadFile("static/icon.svg")
	if err != nil {
		return s, err
	}
	s.icon = s.add("icon.svg", icon)
	s.style, s.script = s.add("style.css", style), s.add("page.js", all.Bytes())
	return s, nil
}

// A file is the content to serve, plain and compressed with gzip.
type file struct{ plain, packed []byte }

// add registers the content and returns its address.
func (s static) add(name string, content []byte) string {
	sum := sha256.Sum256(content)
	at := "/static/" + hex.EncodeToString(sum[:6]) + "/" + name
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, _ = z.Write(content)                                    // into memory
	_ = z.Close()
	s.byPath[at] = file{content, packed.Bytes()}
	return at
}

func (s static) serve(w http.ResponseWriter, r *http.Request) {
	found, ok := s.byPath[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	b := found.plain
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(r.URL.Path)))
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		b = found.packed
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}
