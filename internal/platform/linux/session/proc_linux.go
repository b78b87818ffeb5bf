package session

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read of other processes.
const (
	maxEnviron   = 1 << 20
	maxValue     = 4096
	maxProcesses = 8 // whose environment is read
)

// readLimited reads a file of /proc.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f)
}

func readAll(f *os.File) ([]byte, error) {
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxEnviron+1))
	if err == nil && len(b) > maxEnviron {
		err = errors.New("it is too large")
	}
	return b, err
}

// scopeOf is the session's scope in what /proc/<pid>/cgroup says, or "".
func scopeOf(cgroup []byte) string {
	for line := range strings.Lines(string(cgroup)) {
		for name := range strings.SplitSeq(strings.TrimSpace(line), "/") {
			if strings.HasPrefix(name, "session-") && strings.HasSuffix(name, ".scope") {
				return name
			}
		}
	}
	return ""
}

// ownScope is the scope of this process, or "".
func (r *Detector) ownScope() string {
	b, err := readLimited(filepath.Join(r.cfg.Proc, "self", "cgroup"))
	if err != nil {
		return ""
	}
	return scopeOf(b)
}

// inScope are the environments of programs of ours in the scope, the oldest first:
// those that the session was begun with.
func (r *Detector) inScope(scope string) []environment {
	if scope == "" {
		return nil
	}
	names, err := os.ReadDir(r.cfg.Proc)
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	var found []environment
	for _, pid := range pids {
		env, err := r.environOf(pid, scope)
		if err != nil || env[PrivateMark] != "" {
			continue
		}
		found = append(found, environment{env, "process " + strconv.Itoa(pid) + " in " + scope})
		if len(found) == maxProcesses {
			break
		}
	}
	return found
}

// environOf reads the environment of a process of ours in the scope. The folder is
// held open, so all of it is of one process, whoever has its number later.
func (r *Detector) environOf(pid int, scope string) (map[string]string, error) {
	folder, err := os.OpenRoot(filepath.Join(r.cfg.Proc, strconv.Itoa(pid)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	read := func(name string) ([]byte, error) {
		f, err := folder.Open(name)
		if err != nil {
			return nil, err
		}
		return readAll(f)
	}
	cgroup, err := read("cgroup")
	if err != nil || scopeOf(cgroup) != scope {
		return nil, errors.New("it is of another session")
	}
	status, err := read("status")
	if err != nil || !isOnlyOurs(status) {
		return nil, errors.New("it is not this user's alone")
	}
	text, err := read("environ")
	if err != nil {
		return nil, err
	}
	return parseEnviron(text), nil
}

// isOnlyOurs reports whether all users of a process are this one, by its status: a
// program that changes its user has others.
func isOnlyOurs(status []byte) bool {
	us := strconv.Itoa(os.Getuid())
	for line := range strings.Lines(string(status)) {
		if users, ok := strings.CutPrefix(line, "Uid:"); ok {
			fields := strings.Fields(users)
			return len(fields) == 4 && !slices.ContainsFunc(fields, func(f string) bool { return f != us })
		}
	}
	return false
}

// parseEnviron reads NAME=value strings that end in NUL. Of two with one name the
// first counts, as with getenv(3).
func parseEnviron(text []byte) map[string]string {
	env := map[string]string{}
	for variable := range bytes.SplitSeq(text, []byte{0}) {
		keep(env, string(variable))
	}
	return env
}

func keep(env map[string]string, variable string) {
	name, value, ok := strings.Cut(variable, "=")
	if _, twice := env[name]; ok && !twice && isPlainValue(value) {
		env[name] = value
	}
}

// isPlainValue reports whether a value can be one of ours: none of them has a line break
// or any other control character.
func isPlainValue(value string) bool {
	return len(value) <= maxValue && utf8.ValidString(value) &&
		!strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f })
}
