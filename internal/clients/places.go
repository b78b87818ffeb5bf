package clients

import (
	"encoding/json"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// folder returns the folder that a placeholder at the beginning of a path stands for.
func (r *Installer) folder(word string) string {
	from := func(variable, otherwise string) string {
		if v := r.cfg.Getenv(variable); filepath.IsAbs(v) {
			return v
		}
		return otherwise
	}
	home := r.cfg.Home
	xdg := from("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	switch word {
	case "<xdg>": // settings folder of programs that use XDG on all systems
		return xdg
	case "<config>": // settings folder of Electron
		switch r.cfg.System {
		case macos:
			return filepath.Join(home, "Library", "Application Support")
		case windows:
			return from("APPDATA", filepath.Join(home, "AppData", "Roaming"))
		}
		return xdg
	case "<local>":
		return from("LOCALAPPDATA", filepath.Join(home, "AppData", "Local"))
	case "<zed>":
		if r.cfg.System == linux {
			return xdg
		}
		return filepath.Join(home, ".config")
	case "<claude>":
		return from("CLAUDE_CONFIG_DIR", home)
	case "<codex>":
		return from("CODEX_HOME", filepath.Join(home, ".codex"))
	case "<gemini>":
		return from("GEMINI_CLI_HOME", home)
	case "<cline>":
		return from("CLINE_DATA_DIR", filepath.Join(from("CLINE_DIR", filepath.Join(home, ".cline")), "data"))
	case "<continue>":
		return from("CONTINUE_GLOBAL_DIR", filepath.Join(home, ".continue"))
	case "<lmstudio>":
		if named := r.textOf(filepath.Join(home, ".lmstudio-home-pointer")); filepath.IsAbs(named) {
			return named
		}
		if old := filepath.Join(home, ".cache", "lm-studio"); isFolder(old) {
			return old
		}
		return filepath.Join(home, ".lmstudio")
	case "<jan>":
		return from("JAN_DATA_FOLDER", r.janFolder())
	case "<copilot>":
		return from("COPILOT_HOME", filepath.Join(home, ".copilot"))
	}
	return home // ~
}

// janFolder returns the data folder of Jan: the one that its settings name, or its usual one.
func (r *Installer) janFolder() string {
	data := r.folder("<config>")
	if r.cfg.System == linux {
		data = filepath.Join(r.cfg.Home, ".local", "share")
		if v := r.cfg.Getenv("XDG_DATA_HOME"); filepath.IsAbs(v) {
			data = v
		}
	}
	var settings struct {
		Folder string `json:"data_folder"`
	}
	text := r.textOf(filepath.Join(data, "Jan", "settings.json"))
	if json.Unmarshal([]byte(text), &settings) == nil && filepath.IsAbs(settings.Folder) {
		return settings.Folder
	}
	return filepath.Join(data, "Jan", "data")
}

// textOf returns the trimmed content of a small file, or "".
func (r *Installer) textOf(file string) string {
	text, err := atomicfile.Read(file, atomicfile.ReadLimits{Size: 1 << 20})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// expand returns the absolute path of a path in the table. A path with a * expands to an existing
// one, or to "".
func (r *Installer) expand(path string) string {
	word, rest, _ := strings.Cut(path, "/")
	root := r.folder(word)
	if !strings.Contains(rest, "*") {
		return filepath.Join(root, filepath.FromSlash(rest))
	}
	within := os.DirFS(root) // a * in the root's own name is not a pattern
	if found, _ := fs.Glob(within, rest); len(found) > 0 {
		return filepath.Join(root, filepath.FromSlash(found[0]))
	}
	if found, _ := fs.Glob(within, slashpath.Dir(rest)); len(found) > 0 { // the folder for a file to create
		return filepath.Join(root, filepath.FromSlash(found[0]), slashpath.Base(rest))
	}
	return ""
}

// clientFile returns the file that the client reads, and whether the client is installed.
func (r *Installer) clientFile(c client) (file string, at place, there bool) {
	byFolder := -1
	for i, p := range c.places {
		path := ""
		if len(p.systems) == 0 || slices.Contains(p.systems, r.cfg.System) {
			path = r.expand(p.file)
		}
		if path == "" {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			return path, p, true
		}
		if p.addOnly {
			continue
		}
		if info, err := os.Stat(filepath.Dir(path)); byFolder < 0 && err == nil && info.IsDir() &&
			filepath.Dir(path) != r.cfg.Home {
			byFolder = i
		}
		if file == "" {
			file, at = path, p
		}
	}
	if byFolder >= 0 {
		at = c.places[byFolder]
		return r.expand(at.file), at, true
	}
	for _, sign := range c.markers {
		if _, err := os.Stat(r.expand(sign)); err == nil {
			return file, at, true
		}
	}
	return file, at, false
}

// placeOf returns the client's place that file belongs to.
func (r *Installer) placeOf(c client, file string) (at place, known bool) {
	for _, p := range c.places {
		if r.expand(p.file) == file {
			return p, true
		}
	}
	return place{}, false
}
