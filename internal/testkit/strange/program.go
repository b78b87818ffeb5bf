package strange

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
)

//go:embed programs
var programs embed.FS

// Install writes the programs and the description of the window below the folder. It returns the
// command that shows the window in GTK or Qt, and the file of its state.
func (w *Window) Install(folder string) (command []string, state string, err error) {
	if err := os.CopyFS(folder, programs); err != nil && !os.IsExist(err) {
		return nil, "", fmt.Errorf("install the programs: %w", err)
	}
	b, err := json.Marshal(w)
	if err != nil {
		return nil, "", err
	}
	name := filepath.Join(folder, fmt.Sprintf("%s-%d", w.Toolkit, w.Seed))
	if err := os.WriteFile(name+".json", b, 0o600); err != nil {
		return nil, "", err
	}
	state = name + ".state"
	of := func(program string, more ...string) []string {
		return append([]string{"/usr/bin/python3", filepath.Join(folder, "programs", program), name + ".json", state}, more...)
	}
	switch w.Toolkit {
	case GTK3:
		return of("gtk.py", "3"), state, nil
	case GTK4:
		return of("gtk.py", "4"), state, nil
	case Qt6:
		return of("qt.py"), state, nil
	case Chromium, Firefox:
	}
	return nil, state, fmt.Errorf("%s shows pages, not programs", w.Toolkit)
}

// ReadState reads the state that the program wrote last.
func ReadState(file string) (s State, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(b, &s)
}

// Page returns a handler that shows the window as a page at "/page.html", and the file of its
// state below the folder.
func (w *Window) Page(folder string) (page http.Handler, state string, err error) {
	files, err := fs.Sub(programs, "programs")
	if err != nil {
		return nil, "", err
	}
	b, err := json.Marshal(w)
	if err != nil {
		return nil, "", err
	}
	state = filepath.Join(folder, fmt.Sprintf("%s-%d.state", w.Toolkit, w.Seed))
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /window.json", func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write(b) })
	mux.HandleFunc("POST /state", func(out http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err == nil && json.Valid(text) {
			err = os.WriteFile(state+".new", text, 0o600)
		}
		if err == nil {
			err = os.Rename(state+".new", state)
		}
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux, state, nil
}
