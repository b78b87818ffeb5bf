package launcher

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxEntry is how many bytes of a desktop entry are read.
const maxEntry = 256 << 10

// An entry is a desktop entry, by the Desktop Entry Specification 1.5.
type entry struct {
	id, file   string
	name, exec string
	terminal   bool
}

// entries reads the desktop entries. Of two with the same id the first counts.
func (l *Launcher) entries() []entry {
	var found []entry
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
			if e, ok := readEntry(file, id); ok {
				found = append(found, e)
			}
		}
	}
	return found
}

func readEntry(file, id string) (entry, bool) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // to open a pipe does not wait for a writer
	if err != nil {
		return entry{}, false
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return entry{}, false
	}
	e := parseEntry(io.LimitReader(f, maxEntry))
	e.id, e.file = id, file
	return e, e.exec != ""
}

// parseEntry reads the group "Desktop Entry". A hidden one, and one that is no
// application, has no exec.
func parseEntry(in io.Reader) entry {
	var e entry
	group, application, deleted := "", false, false
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			group = line
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found || group != "[Desktop Entry]" || strings.HasPrefix(line, "#") {
			continue
		}
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "Name":
			e.name = value
		case "Exec":
			e.exec = value
		case "Terminal":
			e.terminal = value == "true"
		case "Type":
			application = value == "Application"
		case "Hidden":
			deleted = value == "true"
		}
	}
	if !application || deleted {
		e.exec = ""
	}
	return e
}

// command splits Exec into words: quoting and field codes as the specification
// has them, the codes without anything in their place. No shell is involved.
func (e entry) command() []string {
	var words []string
	var word strings.Builder
	begun, quoted := false, false
	flush := func() {
		if text := word.String(); begun && !isFieldCode(text) {
			words = append(words, strings.ReplaceAll(text, "%%", "%"))
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
	return words
}

func isFieldCode(word string) bool {
	return len(word) == 2 && word[0] == '%' && strings.IndexByte("fFuUdDnNickvm", word[1]) >= 0
}
