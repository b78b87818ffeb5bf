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
	"time"
)

//go:embed programs
var programs embed.FS

// A State is the state of a program, as the program itself writes it.
type State struct {
	Values map[string]any `json:"values"` // by the ID of the control
	Events [][2]string    `json:"events"` // ID of the control and the name of the event, such as "clicked"
	Dialog string         `json:"dialog"` // ID of the control that opened the dialog; "" if none is open
}

// A Stage shows windows, one after another, in one program or browser. Its folder has their
// descriptions and states, and the name of the window to show.
type Stage struct {
	folder  string
	toolkit Toolkit
	shown   int
}

// NewStage installs the programs in the folder.
func NewStage(folder string, toolkit Toolkit) (*Stage, error) {
	if err := os.CopyFS(folder, programs); err != nil {
		return nil, fmt.Errorf("install the programs: %w", err)
	}
	return &Stage{folder: folder, toolkit: toolkit}, nil
}

// Command returns the command of the program; nil for a browser.
func (s *Stage) Command() []string {
	of := func(program string, more ...string) []string {
		return append([]string{"/usr/bin/python3", filepath.Join(s.folder, "programs", program), s.folder}, more...)
	}
	switch s.toolkit {
	case GTK3:
		return of("gtk.py", "3")
	case GTK4:
		return of("gtk.py", "4")
	case Qt6:
		return of("qt.py")
	case Chromium, Firefox:
	}
	return nil
}

// Show makes the program or browser show the window in the place of the one before. Its state can
// be read from the file once the window is there.
func (s *Stage) Show(w *Window) (state string, err error) {
	b, err := json.Marshal(w)
	if err != nil {
		return "", err
	}
	s.shown++
	name := fmt.Sprintf("%d-%d", s.shown, w.Seed)
	if err := os.WriteFile(filepath.Join(s.folder, name+".json"), b, 0o600); err != nil {
		return "", err
	}
	return filepath.Join(s.folder, name+".state"), s.replace("next", []byte(name))
}

// replace writes a file of the folder as a whole.
func (s *Stage) replace(name string, content []byte) error {
	name = filepath.Join(s.folder, name)
	if err := os.WriteFile(name+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Handler returns a handler for a browser that opens "/page.html".
func (s *Stage) Handler() (http.Handler, error) {
	files, err := fs.Sub(programs, "programs")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /next", s.next)
	mux.HandleFunc("GET /window.json", func(out http.ResponseWriter, r *http.Request) {
		http.ServeFile(out, r, filepath.Join(s.folder, filepath.Base(r.URL.Query().Get("window"))+".json"))
	})
	mux.HandleFunc("POST /state", func(out http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err == nil && json.Valid(text) {
			err = s.replace(filepath.Base(r.URL.Query().Get("window"))+".state", text)
		}
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux, nil
}

// next answers with the name of the window to show, once it differs from the shown one.
func (s *Stage) next(out http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		name, err := os.ReadFile(filepath.Join(s.folder, "next"))
		if err == nil && string(name) != r.URL.Query().Get("window") {
			_, _ = out.Write(name)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ReadState reads the state that the program wrote last.
func ReadState(file string) (s State, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(b, &s)
}
