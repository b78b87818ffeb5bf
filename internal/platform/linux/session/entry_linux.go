package session

import (
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
)

// A desktopEntry is a program's desktop entry.
type desktopEntry struct {
	id, file   string
	name, exec string
	terminal   bool
}

// entries reads the desktop entries. Of two with the same ID the first counts.
func (l *Launcher) entries() []desktopEntry {
	var found []desktopEntry
	seen := map[string]bool{}
	for _, dir := range l.cfg.DataDirs {
		files, err := filepath.Glob(filepath.Join(dir, "applications", "*.desktop"))
		if err != nil {
			continue
		}
		for _, file := range files {
			id := strings.TrimSuffix(filepath.Base(file), ".desktop")
			if seen[id] {
				continue
			}
			seen[id] = true
			if e, ok := readDesktopEntry(file, id); ok {
				found = append(found, e)
			}
		}
	}
	return found
}

// readDesktopEntry reads a program's entry. It returns false for a hidden entry.
func readDesktopEntry(file, id string) (desktopEntry, bool) {
	f, err := desktopentry.Read(file)
	if err != nil || !f.IsApplication() {
		return desktopEntry{}, false
	}
	e := desktopEntry{id: id, file: file, name: f.Value("Name"), exec: f.Value("Exec"), terminal: f.IsTrue("Terminal")}
	return e, e.exec != ""
}

// A fieldCode is the field code of a command for files or addresses: the letter, 0 for
// none, and the number of words before it.
type fieldCode struct {
	letter byte
	at     int
}

// command splits Exec into words, with quoting and field codes as in the specification.
// Field codes are removed. No shell is involved.
func (e desktopEntry) command() (words []string, files fieldCode) {
	var word strings.Builder
	begun, quoted := false, false
	flush := func() {
		switch text := word.String(); {
		case begun && !isFieldCode(text):
			words = append(words, strings.ReplaceAll(text, "%%", "%"))
		case begun && files.letter == 0 && strings.IndexByte("fFuU", text[1]) >= 0:
			files = fieldCode{text[1], len(words)}
		}
		word.Reset()
		begun = false
	}
	text := e.exec
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted, begun = !quoted, true
		case quoted && c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
		case !quoted && (c == ' ' || c == '\t'):
			flush()
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	flush()
	return words, files
}

func isFieldCode(word string) bool {
	return len(word) == 2 && word[0] == '%' && strings.IndexByte("fFuUdDnNickvm", word[1]) >= 0
}
