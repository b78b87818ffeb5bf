package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed static
var staticFiles embed.FS

// static are the files that are the same for everybody. Each has an address of its own for
// each content, so browsers may keep it for ever.
type static struct {
	byPath map[string][]byte
	style  string // the address of the style sheet
}

func readStatic() (static, error) {
	s := static{byPath: make(map[string][]byte)}
	err := fs.WalkDir(staticFiles, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		at := "/static/" + hex.EncodeToString(sum[:6]) + "/" + path.Base(name)
		s.byPath[at] = b
		if path.Base(name) == "style.css" {
			s.style = at
		}
		return nil
	})
	return s, err
}

func (s static) serve(w http.ResponseWriter, r *http.Request) {
	b, ok := s.byPath[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	http.ServeContent(w, r, path.Base(r.URL.Path), time.Time{}, bytes.NewReader(b))
}
