package process

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Prefixes in identities of processes.
const (
	flatpakPrefix = "flatpak:"
	codePrefix    = "code:"
	withPrefix    = "with:" // followed by a hash of the code injections
)

// peerFacts are the facts about a process, read while it runs.
type peerFacts struct {
	executable     string
	args           []string
	script         string   // real path of the interpreter's script
	injections     []string // options and variables that load other code
	flatpak        string
	otherNamespace bool // its paths differ from those of this process
}

func readPeerFacts(pid int) peerFacts {
	f := peerFacts{executable: Executable(pid), flatpak: FlatpakID(pid)}
	f.otherNamespace = !SharesMountNamespace(pid) && (!strings.HasPrefix(f.executable, "/snap/") || !RunsFile(pid, f.executable))
	name, env := ProgramName(f.executable), Environment(pid)
	if !IsInterpreter(name) {
		f.injections = CodeInjections("", nil, env)
		return f
	}
	f.args = Arguments(pid)
	f.injections = CodeInjections(name, f.scriptArgs(), env)
	if _, path := f.command(); path != "" {
		f.script, _ = ResolvePath(pid, path)
	}
	return f
}

// command returns the script or module that an interpreter runs.
func (f peerFacts) command() (name, path string) {
	return FindScript(ProgramName(f.executable), f.scriptArgs())
}

// scriptArgs returns the arguments without the subcommand of an interpreter that has some.
func (f peerFacts) scriptArgs() []string {
	name := ProgramName(f.executable)
	if (name == "bun" || name == "deno") && len(f.args) > 1 && f.args[1] == "run" {
		return slices.Delete(slices.Clone(f.args), 1, 2)
	}
	return f.args
}

// identity returns the identity of the program, which survives updates. It is empty if uncertain:
// for a process in a container, and for one that adopts orphans.
func (f peerFacts) identity() string {
	switch {
	case f.flatpak != "":
		return flatpakPrefix + f.flatpak
	case f.executable == "" || f.otherNamespace || isReaper(ProgramName(f.executable)):
		return ""
	}
	paths := newPathFolder()
	runs := f.programAndScript(paths)
	if runs == "" || len(f.injections) == 0 {
		return runs
	}
	// Injected code makes it another program.
	sum := sha256.New()
	for _, by := range f.injections {
		for path := range strings.SplitSeq(by, ":") {
			if before, at, found := strings.Cut(path, "/"); found {
				path = before + paths.fold("/"+at)
			}
			_, _ = sum.Write([]byte(path + "\x00")) // never fails
		}
		_, _ = sum.Write([]byte{0})
	}
	return runs + " " + withPrefix + hex.EncodeToString(sum.Sum(nil)[:8])
}

// programAndScript returns the program and its script or code, or "" if uncertain.
func (f peerFacts) programAndScript(paths pathFolder) string {
	program := quotePath(paths.fold(f.executable))
	if f.args == nil {
		return program
	}
	module, class := f.command()
	switch {
	case f.script != "":
		return program + " " + quotePath(paths.fold(f.script))
	case class != "" && ProgramName(f.executable) != "java":
		return "" // the script cannot be determined any more: many share the name
	case module != "":
		return program + " " + quotePath(cmp.Or(class, module))
	case f.title() != "":
		return program + " " + strconv.Quote(f.title())
	case slices.Contains(f.args[1:], "-"):
		return "" // code from standard input is unknown
	case len(f.args) > 1:
		sum := sha256.Sum256([]byte(strings.Join(f.args[1:], "\x00")))
		return program + " " + codePrefix + hex.EncodeToString(sum[:8])
	}
	return program
}

// title returns the process title that replaced the arguments, as node's process.title does; the
// arguments are lost then.
func (f peerFacts) title() string {
	if len(f.args) != 1 || strings.HasPrefix(f.args[0], "/") ||
		IsInterpreter(ProgramName(f.args[0])) {
		return ""
	}
	first, _, _ := strings.Cut(f.args[0], " ")
	return first
}

// isLauncher reports whether the process only starts others, so that its parent counts instead.
func (f peerFacts) isLauncher() bool {
	if slices.Contains(launcherNames(), ProgramName(f.executable)) {
		return true
	}
	if f.args == nil {
		return false
	}
	if f.script != "" {
		return slices.Contains(launcherScripts(), filepath.Base(f.script))
	}
	return slices.Contains(launcherNames(), f.title())
}

// launcherNames returns programs that run other programs by command.
func launcherNames() []string {
	return []string{
		"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "busybox",
		"env", "setsid", "nice", "ionice", "nohup", "timeout", "stdbuf", "chrt", "taskset", "time", "xargs", "script", "unbuffer",
		"sudo", "su", "doas", "runuser", "setpriv", "systemd-run", "prlimit", "catchsegv", "dbus-run-session",
		"npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "corepack", "uv", "uvx", "pipx", "mise", "asdf", "direnv", "volta", "volta-shim", "fnm",
	}
}

// launcherScripts returns launchers that an interpreter runs.
func launcherScripts() []string {
	return []string{
		"npm-cli.js", "npx-cli.js", "npm", "npx", "corepack.js", "pnpm.cjs", "pnpx.cjs", "pnpm.js", "yarn.js", "yarn.cjs", "npm.js", "npx.js", "yarnpkg.js",
		"pipx", "uv", "uvx",
		"aai-gateway.js", // our npm package
	}
}

// isReaper reports whether a program of the name adopts orphaned processes, or starts programs
// for any user, such as remotely.
func isReaper(name string) bool {
	return slices.Contains([]string{
		"systemd", "init", "tini", "tini-static", "dumb-init", "docker-init", "catatonit", "runit", "s6-svscan", "launchd",
		"containerd-shim-runc-v2", "conmon", "dockerd", "flatpak-session-helper", "sshd", "sshd-session", "dropbear", "cron", "crond", "atd",
	}, name)
}

// quotePath returns a path as one unambiguous word, quoted if necessary.
func quotePath(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r == 0x7f }) ||
		strconv.Quote(path) != `"`+path+`"` {
		return strconv.QuoteToASCII(path)
	}
	return path
}
