package programs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// An installed is a program of the registry or the Start menu.
type installed struct {
	id, name  string // the ID is the name of the executable or of the shortcut, without its ending
	path      string
	arguments []string
	comment   string
	source    string // the shortcut's file, or the registry's key
}

// match returns the program that the name means: one with the ID or else the name, in any case.
func match(all []installed, name string) (installed, bool) {
	id := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".lnk"), ".exe")
	for _, same := range []func(installed) bool{
		func(p installed) bool { return strings.ToLower(p.id) == id },
		func(p installed) bool { return strings.EqualFold(p.name, name) },
	} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i], true
		}
	}
	return installed{}, false
}

// An Entry is an installed program.
type Entry struct {
	Name, Path string
	Comment    string // its own description
}

// Installed returns the programs of the Start menu and of App Paths, until ctx ends. Programs that run commands are left out: they are no
// apps.
func (l *Launcher) Installed(ctx context.Context) []Entry {
	all := l.installed(ctx)
	slices.SortStableFunc(all, func(a, b installed) int { return cmp.Compare(sourceRank(a), sourceRank(b)) })
	var found []Entry
	for _, p := range all {
		if !runsCommands(p.path) {
			found = append(found, Entry{p.name, p.path, p.comment})
		}
	}
	return found
}

// sourceRank puts the names of the Start menu, which people know, before those of files.
func sourceRank(p installed) int {
	if extension(p.source) == ".lnk" {
		return 0
	}
	return 1
}

// registryPatience limits the time of odr.exe, and registrySize its output.
const (
	registryPatience = 3 * time.Second
	registrySize     = 1 << 20
)

// ServerRegistry returns the list of MCP servers that apps registered with Windows, as odr.exe writes it: JSON of strangers. It returns
// nil if this Windows has no odr.exe.
func (l *Launcher) ServerRegistry(ctx context.Context) ([]byte, error) {
	path := l.onPath("odr.exe")
	if path == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "list")
	cmd.Env, cmd.WaitDelay = l.cfg.Environ(), time.Second
	out := limitedBuffer{stop: cancel}
	cmd.Stdout = &out
	err := cmd.Run()
	switch {
	case out.overflowed:
		return nil, errors.New("odr.exe list wrote too much")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("odr.exe list did not end within %s", registryPatience)
	case err != nil:
		return nil, fmt.Errorf("odr.exe list: %w", err)
	}
	return out.kept.Bytes(), nil
}

// A limitedBuffer stops the writer when more than registrySize is written.
type limitedBuffer struct {
	kept       bytes.Buffer // not embedded: it would read without the limit
	stop       func()
	overflowed bool
}

// Write implements io.Writer.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > registrySize {
		b.overflowed = true
		b.stop()
		return 0, errors.New("it is too much")
	}
	return b.kept.Write(p)
}

// maxPrograms limits the programs of one source.
const maxPrograms = 3000

// appPaths returns the programs of the registry's App Paths: the person's, then the computer's, in both views.
func appPaths() []installed {
	const key = `Software\Microsoft\Windows\CurrentVersion\App Paths`
	var all []installed
	for _, root := range []registry.Key{registry.CURRENT_USER, registry.LOCAL_MACHINE} {
		for _, view := range []uint32{registry.WOW64_64KEY, registry.WOW64_32KEY} {
			list, err := registry.OpenKey(root, key, registry.ENUMERATE_SUB_KEYS|view)
			if err != nil {
				continue
			}
			names, _ := list.ReadSubKeyNames(maxPrograms)
			_ = list.Close()
			for _, name := range names {
				if p, ok := appPath(root, key+`\`+name, name, view); ok && !slices.ContainsFunc(all, func(o installed) bool { return o.id == p.id }) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

func appPath(root registry.Key, key, name string, view uint32) (installed, bool) {
	entry, err := registry.OpenKey(root, key, registry.QUERY_VALUE|view)
	if err != nil {
		return installed{}, false
	}
	defer entry.Close() //nolint:errcheck // it was only read
	path, _, err := entry.GetStringValue("")
	path = expand(strings.Trim(path, `" `))
	if err != nil || !filepath.IsAbs(path) || !isFile(path) {
		return installed{}, false
	}
	id := strings.TrimSuffix(name, filepath.Ext(name))
	return installed{id: id, name: id, path: path, source: key}, true
}

// fromCodePage decodes text in the code page of this computer.
func fromCodePage(text []byte) string {
	const ansi = 0 // CP_ACP
	units := make([]uint16, len(text))
	if len(text) == 0 {
		return ""
	}
	n, err := windows.MultiByteToWideChar(ansi, 0, &text[0], int32(len(text)), &units[0], int32(len(units)))
	if err != nil {
		return ""
	}
	return windows.UTF16ToString(units[:n])
}

// expand replaces variables such as %ProgramFiles% in a path.
func expand(path string) string {
	if expanded, err := registry.ExpandString(path); err == nil {
		return expanded
	}
	return path
}

// shortcuts returns the programs that the shortcuts of a folder start, until ctx ends.
func shortcuts(ctx context.Context, folder string) []installed {
	var all []installed
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error { // a folder that cannot be read has none
		if ctx.Err() != nil || len(all) == maxPrograms {
			return fs.SkipAll
		}
		if err != nil || entry.IsDir() || extension(path) != ".lnk" {
			return nil //nolint:nilerr // the next one may be readable
		}
		data, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxShortcut})
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		s, err := parseShortcut(data, fromCodePage)
		target := expand(s.target)
		if err != nil || !filepath.IsAbs(target) || !isFile(target) {
			return nil //nolint:nilerr // likewise
		}
		id := strings.TrimSuffix(entry.Name(), filepath.Ext(entry.Name()))
		p := installed{id: id, name: id, path: target, comment: s.comment, source: path}
		if s.arguments != "" {
			words, err := windows.DecomposeCommandLine("x " + s.arguments)
			if err != nil {
				return nil //nolint:nilerr // likewise
			}
			p.arguments = words[1:]
		}
		all = append(all, p)
		return nil
	})
	return all
}
