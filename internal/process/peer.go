// Package peer says which program is at the other end of standard input: what is
// certain of an agent, whatever it calls itself. It attributes, and is no wall: code
// with the person's account can have another program speak for it.
//
// It touches /proc and sockets' options. Only Linux is known; elsewhere nobody is.
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

// A process's identity begins as one of these.
const (
	flatpakPrefix = "flatpak:"
	codePrefix    = "code:"
	withPrefix    = "with:" // what else it has in it
)

// what is known of one process, read while it ran.
type peerFacts struct {
	executable     string
	args           []string
	script         string   // the real path of what an interpreter runs
	injections     []string // by what it has other code in it
	flatpak        string
	otherNamespace bool // its paths are not those of this process
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

// command is the script or module that an interpreter runs.
func (f peerFacts) command() (name, path string) {
	return FindScript(ProgramName(f.executable), f.scriptArgs())
}

// scriptArgs are the arguments without the command of an interpreter that has commands.
func (f peerFacts) scriptArgs() []string {
	name := ProgramName(f.executable)
	if (name == "bun" || name == "deno") && len(f.args) > 1 && f.args[1] == "run" {
		return slices.Delete(slices.Clone(f.args), 1, 2)
	}
	return f.args
}

// identity names the program, the same way after an update. It is empty where that is
// not certain: for what is in a container, and for what adopts those whose parent has
// ended.
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
	// What else is in it makes it another one.
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

// programAndScript is the program and its script or code, "" where that is not certain.
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
		return "" // which script that was cannot be told any more: many are called alike
	case module != "":
		return program + " " + quotePath(cmp.Or(class, module))
	case f.title() != "":
		return program + " " + strconv.Quote(f.title())
	case slices.Contains(f.args[1:], "-"):
		return "" // nobody can tell which code it reads
	case len(f.args) > 1:
		sum := sha256.Sum256([]byte(strings.Join(f.args[1:], "\x00")))
		return program + " " + codePrefix + hex.EncodeToString(sum[:8])
	}
	return program
}

// title is what the process has written in the place of its arguments, as node's
// process.title does: then they are lost.
func (f peerFacts) title() string {
	if len(f.args) != 1 || strings.HasPrefix(f.args[0], "/") ||
		IsInterpreter(ProgramName(f.args[0])) {
		return ""
	}
	first, _, _ := strings.Cut(f.args[0], " ")
	return first
}

// isLauncher reports whether the process only starts others: it speaks for whoever
// started it.
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

// launcherNames are programs that start what they are told to.
func launcherNames() []string {
	return []string{
		"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "busybox",
		"env", "setsid", "nice", "ionice", "nohup", "timeout", "stdbuf", "chrt", "taskset", "time", "xargs", "script", "unbuffer",
		"sudo", "su", "doas", "runuser", "setpriv", "systemd-run", "prlimit", "catchsegv", "dbus-run-session",
		"npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "corepack", "uv", "uvx", "pipx", "mise", "asdf", "direnv", "volta", "volta-shim", "fnm",
	}
}

// launcherScripts are launchers that an interpreter runs.
func launcherScripts() []string {
	return []string{
		"npm-cli.js", "npx-cli.js", "npm", "npx", "corepack.js", "pnpm.cjs", "pnpx.cjs", "pnpm.js", "yarn.js", "yarn.cjs", "npm.js", "npx.js", "yarnpkg.js",
		"pipx", "uv", "uvx",
		"aai-gateway.js", // npm's package of ours
	}
}

// isReaper reports whether a program of the name is given the children of others when
// those end, or starts programs for anybody, such as from afar.
func isReaper(name string) bool {
	return slices.Contains([]string{
		"systemd", "init", "tini", "tini-static", "dumb-init", "docker-init", "catatonit", "runit", "s6-svscan", "launchd",
		"containerd-shim-runc-v2", "conmon", "dockerd", "flatpak-session-helper", "sshd", "sshd-session", "dropbear", "cron", "crond", "atd",
	}, name)
}

// quotePath is a path as one word, however it is written: no other pair of paths reads the
// same.
func quotePath(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r == 0x7f }) ||
		strconv.Quote(path) != `"`+path+`"` {
		return strconv.QuoteToASCII(path)
	}
	return path
}
