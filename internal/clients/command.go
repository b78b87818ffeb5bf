package clients

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LaunchInfo describes how this program was started.
type LaunchInfo struct {
	Arg0       string // os.Args[0]
	Executable string // os.Executable()
	Path       string // the PATH of the environment
	System     string // as in runtime.GOOS
	// TemporaryFolders are folders for temporary files and builds, which are deleted automatically.
	TemporaryFolders []string
}

// StableCommand returns a command that starts this program now and after its next update: its
// name on PATH if there is one, else the path that started it. Links are kept. A program
// installed by npx is started by npx. The notes are for the person.
func StableCommand(s LaunchInfo) (launch, notes []string, err error) {
	if s.Executable == "" || !filepath.IsAbs(s.Executable) {
		return nil, nil, errors.New("the path of this program is unknown; expected an absolute path")
	}
	if launch, ok := npx(s.Executable, s.System); ok {
		return launch, nil, nil
	}
	command := s.Executable
	if arg, absErr := filepath.Abs(s.Arg0); absErr == nil && strings.ContainsAny(s.Arg0, `/\`) &&
		sameFile(arg, s.Executable) {
		command = arg
	}
	name := filepath.Base(s.Arg0)
	if end := filepath.Ext(s.Executable); strings.EqualFold(end, ".exe") && !strings.EqualFold(filepath.Ext(name), end) {
		name += end // Windows allows omitting it
	}
	for _, folder := range filepath.SplitList(s.Path) {
		if found := filepath.Join(folder, name); filepath.IsAbs(folder) && sameFile(found, s.Executable) {
			command = found
			break
		}
	}
	command = filepath.Clean(command)
	for _, folder := range s.TemporaryFolders {
		if folder != "" && within(command, folder) {
			return []string{command},
				[]string{
					command + " is in " + folder +
						", which is cleaned automatically: then clients cannot start it. Move the program to a folder that stays, and " +
						"install again.",
				}, nil
		}
	}
	slashed := filepath.ToSlash(command)
	if strings.Contains(slashed, "/_npx/") || strings.Contains(slashed, "/go-build") {
		notes = append(notes, command+
			" is in a cache, which may be cleaned: install the program for good, and install again.")
	}
	return []string{command}, notes, nil
}

// startsUs reports whether a command starts this program or another one of its name.
func (r *Installer) startsUs(command string, args []string) bool {
	if byNPX(command, args) {
		return true
	}
	// If npx starts this program, the command is npx, which starts other programs too.
	itself := command != "" && len(r.cfg.LaunchCommand) == 1 && (command == r.command() || sameFile(command, r.command()))
	return itself || baseName(command) == EntryName
}

// command returns the command that entries start.
func (r *Installer) command() string { return r.cfg.LaunchCommand[0] }

// launchArgs returns the arguments of entries: those that start this program, then args.
func (r *Installer) launchArgs(args []string) []string {
	return slices.Concat(r.cfg.LaunchCommand[1:], args)
}

// manualEntry describes an entry for a person to add by hand.
func (r *Installer) manualEntry() string {
	return "the command \"" + r.command() + "\" with the arguments \"" +
		strings.Join(r.launchArgs([]string{"mcp", "serve"}), " ") + "\""
}

// sameFile reports whether both paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// within reports whether a path is below a folder, as written or with links resolved.
func within(path, folder string) bool {
	for _, resolve := range []func(string) string{filepath.Clean, resolvedPath} {
		rest, err := filepath.Rel(resolve(folder), resolve(path))
		if err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func resolvedPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
