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

// Limits for reading other processes.
const (
	maxEnviron   = 1 << 20
	maxValue     = 4096
	maxProcesses = 8 // with a readable environment
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

// scopeOf returns the session's scope in the content of /proc/<pid>/cgroup, or "".
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

// ownScope returns the scope of this process, or "".
func (r *Detector) ownScope() string {
	b, err := readLimited(filepath.Join(r.cfg.Proc, "self", "cgroup"))
	if err != nil {
		return ""
	}
	return scopeOf(b)
}

// inScope returns the environments of this user's programs in the scope, the oldest first:
// these were started with the session.
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

// environOf reads the environment of a process of this user in the scope. It keeps the
// folder open, so that all data is of one process even if its PID is reused.
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

// isOnlyOurs reports whether all user IDs in a process's status are this user's. A program
// that changes its user has others.
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

// parseEnviron parses NAME=value strings that end in NUL. Of two with the same name the
// first counts, as in getenv(3).
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

// isPlainValue reports whether a value can belong to a session variable: none contains a
// line break or another control character.
func isPlainValue(value string) bool {
	return len(value) <= maxValue && utf8.ValidString(value) &&
		!strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f })
}
