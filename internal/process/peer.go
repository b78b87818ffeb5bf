package process

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
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
	args           []string // of an interpreter; nil: the program is none
	script         string   // real path of the interpreter's script, or of the module's file
	environment    string   // Python's virtual environment
	workingDir     string   // "" if the code that an interpreter runs cannot be told
	asInterpreter  bool     // a variable makes the program the interpreter inside it
	injections     []string // options and variables that load other code
	flatpak        string
	otherNamespace bool // its paths differ from those of this process
}

func readPeerFacts(pid int) peerFacts {
	f := peerFacts{executable: Executable(pid), flatpak: FlatpakID(pid)}
	f.otherNamespace = !SharesMountNamespace(pid) &&
		(!strings.HasPrefix(f.executable, "/snap/") || !RunsFile(pid, f.executable))
	name, env := ProgramName(f.executable), Environment(pid)
	if !IsInterpreter(name) {
		f.injections = CodeInjections("", nil, env)
		if f.asInterpreter = slices.ContainsFunc(interpreterVariables(),
			func(v string) bool { return lookupIn(env)(v) != "" }); f.asInterpreter {
			f.args, f.workingDir = Arguments(pid), WorkingDir(pid)
		}
		return f
	}
	f.args, f.workingDir = Arguments(pid), WorkingDir(pid)
	f.injections = CodeInjections(name, f.scriptArgs(), env)
	switch c := f.command(); {
	case c.kind == commandScript:
		if f.script = findScriptFile(pid, name, c.operand); f.isPython() {
			f.setScriptEnvironment(procDir(pid)+"/root", env)
		}
	case f.isPython() && (c.kind == commandModule || c.kind == commandCode):
		path, ok := newPythonPath(f, procDir(pid)+"/root", env)
		switch {
		case !ok:
			f.workingDir = ""
		case c.kind == commandCode:
			f.environment = path.environment
		default:
			f.script, f.environment = path.find(c.operand)
		}
	case (c.kind == commandClass || c.kind == commandModule) && len(f.injections) == 0:
		f.injections = []string{"-cp", "."} // the default
	}
	return f
}

// interpreterVariables lists variables that make a program with an interpreter inside run other scripts.
func interpreterVariables() []string { return []string{"ELECTRON_RUN_AS_NODE", "BUN_BE_BUN"} }

// findScriptFile returns the real path of a script of the process, or "". A program that is a folder is that
// folder. node adds the extension.
func findScriptFile(pid int, interpreter, path string) string {
	if strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/") {
		return "" // another file to this process, such as standard input
	}
	if real, _ := ResolvePath(pid, path); isRegular(real) {
		return real
	}
	if slices.Contains([]string{"node", "nodejs", "electron"}, family(interpreter)) {
		for _, ending := range []string{".js", ".json", ".node"} {
			if real, _ := ResolvePath(pid, path+ending); isRegular(real) {
				return real
			}
		}
	}
	real, _ := ResolvePath(pid, path)
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// command returns the parsed command line of an interpreter.
func (f peerFacts) command() commandLine {
	return parseCommandLine(ProgramName(f.executable), f.scriptArgs())
}

func (f peerFacts) isPython() bool {
	return slices.Contains([]string{"python", "pypy"}, family(ProgramName(f.executable)))
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
	case f.executable == "" || f.otherNamespace || isReaper(ProgramName(f.executable)) ||
		isLoader(ProgramName(f.executable)):
		return ""
	}
	paths := newPathFolder()
	runs := f.programAndScript(paths)
	if runs == "" || len(f.injections) == 0 {
		return runs
	}
	// Injected code makes it another program.
	words := slices.Clone(f.injections)
	if slices.ContainsFunc(words, isRelativeInjection) {
		words = append(words, f.workingDir)
	}
	for i, by := range words {
		parts := strings.Split(by, ":")
		for j, path := range parts {
			if before, at, found := strings.Cut(path, "/"); found {
				parts[j] = before + paths.fold("/"+at)
			}
		}
		words[i] = strings.Join(parts, ":")
	}
	return runs + " " + withPrefix + digest(words)
}

// isRelativeInjection reports whether a word of an injection can name code below the working folder.
func isRelativeInjection(word string) bool {
	name, value, found := strings.Cut(word, "=")
	if !found {
		if strings.HasPrefix(name, "--") || name == "-cp" || name == "-classpath" ||
			name != "" && name[0] == '-' && len(name) == 2 {
			return false // the option before its value
		}
		value = word
	}
	for path := range strings.SplitSeq(strings.NewReplacer(" ", ":", ";", ":").Replace(strings.TrimPrefix(value,
		"file://")), ":") {
		if !strings.HasPrefix(path, "/") {
			return true
		}
	}
	return false
}

// digest returns a short digest of words.
func digest(words []string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// programAndScript returns the program and its script or code, or "" if uncertain.
func (f peerFacts) programAndScript(paths pathFolder) string {
	program := quotePath(paths.fold(f.executable))
	if f.args == nil {
		return program
	}
	command := f.command()
	switch {
	case f.asInterpreter:
		return program + " " + f.code()
	case f.script != "" && isScriptRunner(f.script):
		return ""
	case f.script != "" && f.environment != "":
		return program + " " + quotePath(paths.fold(f.script)) + " " + quotePath(paths.fold(f.environment))
	case f.script != "":
		return program + " " + quotePath(paths.fold(f.script))
	case command.kind == commandModule && f.environment != "":
		return program + " " + quotePath(command.operand) + " " + quotePath(paths.fold(f.environment))
	case command.kind == commandClass, command.kind == commandModule && !f.isPython():
		return program + " " + quotePath(command.operand)
	case command.kind == commandCode && f.workingDir != "":
		return program + " " + f.code()
	case command.kind == commandNone && optionGrammarOf(ProgramName(f.executable)).anyFlag:
		return program // it has a program of its own
	}
	return ""
}

// code returns a digest of the code on the command line, and of the folders from which it loads more.
func (f peerFacts) code() string {
	return codePrefix + digest(append(slices.Clone(f.args[1:]), f.workingDir, f.environment))
}

// isLoader reports whether a program runs others that its arguments name, and is no interpreter with known
// options.
func isLoader(name string) bool {
	return slices.ContainsFunc([]string{"ld-", "ld.so", "qemu-", "wine"},
		func(p string) bool { return strings.HasPrefix(name, p) }) ||
		slices.Contains([]string{"dotnet", "pwsh", "julia", "R", "erl", "beam.smp", "racket", "swipl", "expect", "awk",
			"gawk", "mawk"}, family(name))
}

// isScriptRunner reports whether a script runs other scripts in its own process.
func isScriptRunner(path string) bool {
	parts := strings.Split(path, "/")
	for i := 1; i < len(parts); i++ {
		if slices.Contains([]string{"bin", "node_modules", "site-packages", "dist-packages"}, parts[i-1]) &&
			slices.Contains([]string{"ts-node", "ts-node-esm", "vite-node", "coverage", "debugpy", "ipython", "IPython",
				"ipykernel_launcher.py", "pytest", "py.test"}, parts[i]) {
			return true
		}
	}
	return false
}

// title returns the process title that replaced the arguments, as node's process.title does. The arguments are
// lost then, and the title is the process's own word: it can name a launcher, and identifies nothing.
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
		"env", "setsid", "nice", "ionice", "nohup", "timeout", "stdbuf", "chrt", "taskset", "time", "xargs",
		"script", "unbuffer", "sudo", "su", "doas", "runuser", "setpriv", "systemd-run", "prlimit", "catchsegv",
		"dbus-run-session", "npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "corepack", "uv", "uvx", "pipx", "mise", "asdf",
		"direnv", "volta", "volta-shim", "fnm",
	}
}

// launcherScripts returns launchers that an interpreter runs.
func launcherScripts() []string {
	return []string{
		"npm-cli.js", "npx-cli.js", "npm", "npx", "corepack.js", "pnpm.cjs", "pnpx.cjs", "pnpm.js", "yarn.js", "yarn.cjs",
		"npm.js", "npx.js", "yarnpkg.js", "pipx", "uv", "uvx",
		"aai-gateway.js", // our npm package
	}
}

// isReaper reports whether a program of the name adopts orphaned processes, or starts programs
// for any user, such as remotely.
func isReaper(name string) bool {
	return slices.Contains([]string{
		"systemd", "init", "tini", "tini-static", "dumb-init", "docker-init", "catatonit", "runit", "s6-svscan", "launchd",
		"containerd-shim-runc-v2", "conmon", "dockerd", "flatpak-session-helper", "sshd", "sshd-session", "dropbear",
		"cron", "crond", "atd",
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
