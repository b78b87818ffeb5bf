package process

import (
	"os"
	"slices"
	"strings"
)

// IsInterpreter reports whether a program runs scripts that are programs themselves.
func IsInterpreter(name string) bool {
	switch family(name) {
	case "python", "pypy", "node", "nodejs", "perl", "ruby", "bash", "sh", "dash", "zsh", "gjs", "gjs-console", "cjs", "cjs-console",
		"java", "mono", "mono-sgen", "electron", "php", "lua", "luajit", "tclsh", "wish", "guile", "deno", "bun", "qml", "qmlscene":
		return true
	}
	return false
}

// family returns the name of an interpreter without its version and platform ("perl5.36-x86_64-linux-gnu").
func family(name string) string {
	if i := strings.IndexAny(name, "0123456789"); i > 0 {
		name = name[:i]
	}
	return strings.TrimRight(name, ".-")
}

// An optionGrammar describes the command-line options of an interpreter.
type optionGrammar struct {
	values  []string // options with a value in the next argument
	code    []string // options that run code from the command line; no script follows
	cluster string   // letters of short options that can be combined; a combination that ends in a code option runs code
	injects []string // options that load code besides the script; also with "=" or in one word
	script  string   // option before the script, if any
	env     []string // variables that load code
	options string   // variable that holds options
}

// optionGrammarOf returns an interpreter's grammar by its name.
func optionGrammarOf(name string) optionGrammar {
	switch family(name) {
	case "python", "pypy":
		return optionGrammar{
			values: []string{"-W", "-X", "-Q", "--check-hash-based-pycs"}, code: []string{"-c"}, cluster: "bBdEhiIOPqRsStuvx",
			injects: []string{"-i", "-Xpycache_prefix"},
			env:     []string{"PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONINSPECT"},
		}
	case "node", "nodejs", "electron", "bun":
		return optionGrammar{
			values: []string{
				"-r", "--require", "--import", "--preload", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file", "--env-file-if-exists",
				"--input-type", "--title", "--icu-data-dir", "--openssl-config", "--disable-warning", "--inspect-port", "--diagnostic-dir",
				"--redirect-warnings", "--dns-result-order", "--unhandled-rejections", "--trace-event-categories", "--localstorage-file",
				"--max-http-header-size", "--watch-path", "--cwd", "--config",
			},
			code: []string{"-e", "--eval", "-p", "--print", "-pe"}, injects: []string{"-r", "--require", "--import", "--preload", "--loader", "--experimental-loader", "--env-file", "--env-file-if-exists", "--openssl-config"},
			env: []string{"NODE_PATH"}, options: "NODE_OPTIONS",
		}
	case "perl":
		return optionGrammar{
			values: []string{"-I"}, code: []string{"-e", "-E"}, cluster: "acflnpsStTuUwWX0", injects: []string{"-I", "-M", "-m"},
			env: []string{"PERL5LIB", "PERL5OPT", "PERLLIB"},
		}
	case "ruby":
		return optionGrammar{
			values: []string{"-r", "-I", "-C", "-E"}, code: []string{"-e"}, cluster: "acdlnpsSvwy", injects: []string{"-r", "-I"},
			env: []string{"RUBYOPT", "RUBYLIB"},
		}
	case "php":
		return optionGrammar{
			values: []string{"-c", "-d", "-z", "-S", "-t"}, code: []string{"-r", "-B", "-R", "-E", "-F"}, injects: []string{"-c", "-d"}, script: "-f",
			env: []string{"PHPRC", "PHP_INI_SCAN_DIR"},
		}
	case "java":
		return optionGrammar{
			values:  []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens", "--add-exports", "--add-reads", "--upgrade-module-path"},
			injects: []string{"-cp", "-classpath", "--class-path", "-javaagent", "-agentpath", "-agentlib", "-Xbootclasspath", "--patch-module"}, script: "-jar",
			env: []string{"CLASSPATH", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}, options: "JAVA_TOOL_OPTIONS",
		}
	case "lua", "luajit":
		return optionGrammar{values: []string{"-l", "-j", "-O"}, code: []string{"-e"}, injects: []string{"-l"}, env: []string{"LUA_INIT", "LUA_PATH", "LUA_CPATH"}}
	case "bash", "sh", "dash", "zsh":
		return optionGrammar{values: []string{"-o", "-O", "+o", "+O", "--rcfile", "--init-file"}, code: []string{"-c"}, cluster: "abefhiklmnprstuvxBCEHPT", env: []string{"BASH_ENV"}}
	}
	return optionGrammar{values: []string{"-I", "--include-path"}, code: []string{"-c", "-e", "--command", "--eval"}, injects: []string{"-I"}}
}

// matchesOption reports whether the argument is one of the options, with or without its value in
// the same word.
func matchesOption(arg string, options []string) bool {
	return slices.ContainsFunc(options, func(o string) bool {
		long := strings.HasPrefix(o, "--")
		return arg == o || long && strings.HasPrefix(arg, o+"=") || !long && len(o) > 1 && strings.HasPrefix(arg, o) && !strings.HasPrefix(arg, "--")
	})
}

// isCode reports whether the argument provides code, on the command line or by standard input, or
// a module in one word. Later arguments belong to that code and are no script.
func (g optionGrammar) isCode(arg string) bool {
	if arg == "" || arg == "-" || matchesOption(arg, g.code) {
		return true
	}
	return slices.ContainsFunc(g.code, func(o string) bool { return g.matchesCluster(arg, o[1:]) })
}

// matchesCluster reports whether the argument combines short options of which the last is the
// letter, with or without its value.
func (g optionGrammar) matchesCluster(arg, letter string) bool {
	letters, short := strings.CutPrefix(arg, "-")
	return short && g.cluster != "" && strings.HasPrefix(strings.TrimLeft(letters, g.cluster), letter)
}

// FindScript returns the script in the command line of an interpreter: its name without folder
// and extension, and the argument with its path. Both are "" if there is none.
func FindScript(interpreter string, args []string) (name, path string) {
	g, python := optionGrammarOf(interpreter), slices.Contains([]string{"python", "pypy"}, family(interpreter))
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case python && arg == "-m" && i+1 < len(args):
			return args[i+1], ""
		case python && g.matchesCluster(arg, "m"), strings.HasPrefix(arg, "@") && family(interpreter) == "java", g.isCode(arg):
			return "", ""
		case g.script != "" && arg == g.script:
			if i+1 == len(args) {
				return "", ""
			}
			return baseWithoutExt(args[i+1]), args[i+1]
		case arg == "--" && i+1 < len(args):
			return baseWithoutExt(args[i+1]), args[i+1]
		case slices.Contains(g.values, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return baseWithoutExt(arg), arg
		}
	}
	return "", ""
}

// normalizeOption replaces "_" by "-" in the name of an option, since node accepts both.
func normalizeOption(option string) string {
	if !strings.HasPrefix(option, "--") {
		return option
	}
	name, value, given := strings.Cut(option, "=")
	if name = strings.ReplaceAll(name, "_", "-"); given {
		return name + "=" + value
	}
	return name
}

// CodeInjections returns the options and variables by which a process loads code besides its
// program and script, so that those alone do not identify it. interpreter is its name, or "" for
// any other program; env is the environment at the start.
func CodeInjections(interpreter string, args, env []string) []string {
	var found []string
	variables := []string{"LD_PRELOAD", "LD_AUDIT"}
	g, unquote := optionGrammar{}, strings.NewReplacer(`"`, "", `\`, "")
	if interpreter != "" {
		g = optionGrammarOf(interpreter)
		variables = append(variables, g.env...)
	}
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-X" && i+1 < len(args) && strings.HasPrefix(args[i+1], "pycache_prefix"):
			i++
			found = append(found, arg, args[i])
		case matchesOption(normalizeOption(arg), g.injects):
			if found = append(found, arg); slices.Contains(g.values, arg) && i+1 < len(args) {
				i++
				found = append(found, args[i])
			}
		case g.isCode(arg), !strings.HasPrefix(arg, "-"), arg == g.script:
			i = len(args) // the rest belongs to the script
		case slices.Contains(g.values, arg):
			i++
		}
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if value != "" && (slices.Contains(variables, name) || g.options != "" && name == g.options && slices.ContainsFunc(strings.Fields(unquote.Replace(value)), func(o string) bool { return matchesOption(normalizeOption(o), g.injects) })) {
			found = append(found, v)
		}
	}
	return found
}

// Environment returns the initial environment of a process, as NAME=value.
func Environment(pid int) []string {
	text, err := os.ReadFile(procDir(pid) + "/environ")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}
