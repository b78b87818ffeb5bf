package process

import (
	"os"
	"slices"
	"strings"
)

// Interpreter reports whether a program runs scripts that are programs themselves.
func Interpreter(name string) bool {
	switch family(name) {
	case "python", "pypy", "node", "nodejs", "perl", "ruby", "bash", "sh", "dash", "zsh", "gjs", "gjs-console", "cjs", "cjs-console",
		"java", "mono", "mono-sgen", "electron", "php", "lua", "luajit", "tclsh", "wish", "guile", "deno", "bun", "qml", "qmlscene":
		return true
	}
	return false
}

// family is an interpreter's name without its version.
func family(name string) string { return strings.TrimRight(name, "0123456789.-") }

// A grammar is how an interpreter reads its options.
type grammar struct {
	values  []string // options whose value is the next argument
	code    []string // options after which code comes: what follows is no script
	cluster string   // letters of short options in one word; one that ends with code's holds code
	loads   []string // options that bring in code besides the script; also with "=" or in one word
	script  string   // the option before the script, where there is one
	env     []string // variables that bring in code
	options string   // the variable that holds options
}

// grammarOf is an interpreter's grammar, by its name.
func grammarOf(name string) grammar {
	switch family(name) {
	case "python", "pypy":
		return grammar{
			values: []string{"-W", "-X", "-Q", "--check-hash-based-pycs"}, code: []string{"-c"}, cluster: "bBdEhiIOPqRsStuvx",
			loads: []string{"-i", "-Xpycache_prefix"},
			env:   []string{"PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONINSPECT"},
		}
	case "node", "nodejs", "electron", "bun":
		return grammar{
			values: []string{
				"-r", "--require", "--import", "--preload", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file", "--env-file-if-exists",
				"--input-type", "--title", "--icu-data-dir", "--openssl-config", "--disable-warning", "--inspect-port", "--diagnostic-dir",
				"--redirect-warnings", "--dns-result-order", "--unhandled-rejections", "--trace-event-categories", "--localstorage-file",
				"--max-http-header-size", "--watch-path", "--cwd", "--config",
			},
			code: []string{"-e", "--eval", "-p", "--print", "-pe"}, loads: []string{"-r", "--require", "--import", "--preload", "--loader", "--experimental-loader", "--env-file", "--env-file-if-exists", "--openssl-config"},
			env: []string{"NODE_PATH"}, options: "NODE_OPTIONS",
		}
	case "perl":
		return grammar{
			values: []string{"-I"}, code: []string{"-e", "-E"}, cluster: "acflnpsStTuUwWX0", loads: []string{"-I", "-M", "-m"},
			env: []string{"PERL5LIB", "PERL5OPT", "PERLLIB"},
		}
	case "ruby":
		return grammar{
			values: []string{"-r", "-I", "-C", "-E"}, code: []string{"-e"}, cluster: "acdlnpsSvwy", loads: []string{"-r", "-I"},
			env: []string{"RUBYOPT", "RUBYLIB"},
		}
	case "php":
		return grammar{
			values: []string{"-c", "-d", "-z", "-S", "-t"}, code: []string{"-r", "-B", "-R", "-E", "-F"}, loads: []string{"-c", "-d"}, script: "-f",
			env: []string{"PHPRC", "PHP_INI_SCAN_DIR"},
		}
	case "java":
		return grammar{
			values: []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens", "--add-exports", "--add-reads", "--upgrade-module-path"},
			loads:  []string{"-cp", "-classpath", "--class-path", "-javaagent", "-agentpath", "-agentlib", "-Xbootclasspath", "--patch-module"}, script: "-jar",
			env: []string{"CLASSPATH", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}, options: "JAVA_TOOL_OPTIONS",
		}
	case "lua", "luajit":
		return grammar{values: []string{"-l", "-j", "-O"}, code: []string{"-e"}, loads: []string{"-l"}, env: []string{"LUA_INIT", "LUA_PATH", "LUA_CPATH"}}
	case "bash", "sh", "dash", "zsh":
		return grammar{values: []string{"-o", "-O", "+o", "+O", "--rcfile", "--init-file"}, code: []string{"-c"}, cluster: "abefhiklmnprstuvxBCEHPT", env: []string{"BASH_ENV"}}
	}
	return grammar{values: []string{"-I", "--include-path"}, code: []string{"-c", "-e", "--command", "--eval"}, loads: []string{"-I"}}
}

// is reports whether the argument is one of the options, with its value in the same word
// or without.
func is(arg string, options []string) bool {
	return slices.ContainsFunc(options, func(o string) bool {
		long := strings.HasPrefix(o, "--")
		return arg == o || long && strings.HasPrefix(arg, o+"=") || !long && len(o) > 1 && strings.HasPrefix(arg, o) && !strings.HasPrefix(arg, "--")
	})
}

// isCode reports whether code comes with the argument, on the command line or from
// standard input, or a module in one word: what comes after it is no script, but may name
// one of others.
func (g grammar) isCode(arg string) bool {
	if arg == "" || arg == "-" || is(arg, g.code) {
		return true
	}
	return slices.ContainsFunc(g.code, func(o string) bool { return g.inOneWord(arg, o[1:]) })
}

// inOneWord reports whether the argument is some short options in one word, of which the
// last is the letter, perhaps with its value.
func (g grammar) inOneWord(arg, letter string) bool {
	letters, short := strings.CutPrefix(arg, "-")
	return short && g.cluster != "" && strings.HasPrefix(strings.TrimLeft(letters, g.cluster), letter)
}

// Script finds the script in the command line of an interpreter, which is called by the
// name: its own name without folder and ending, and the argument that says where it is.
// Both are "" if it has none.
func Script(interpreter string, args []string) (name, path string) {
	g, python := grammarOf(interpreter), slices.Contains([]string{"python", "pypy"}, family(interpreter))
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case python && arg == "-m" && i+1 < len(args):
			return args[i+1], ""
		case python && g.inOneWord(arg, "m"), strings.HasPrefix(arg, "@") && family(interpreter) == "java", g.isCode(arg):
			return "", ""
		case g.script != "" && arg == g.script:
			if i+1 == len(args) {
				return "", ""
			}
			return stem(args[i+1]), args[i+1]
		case arg == "--" && i+1 < len(args):
			return stem(args[i+1]), args[i+1]
		case slices.Contains(g.values, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return stem(arg), arg
		}
	}
	return "", ""
}

// plain is an option with "-" in the place of "_" in its name: node takes both.
func plain(option string) string {
	if !strings.HasPrefix(option, "--") {
		return option
	}
	name, value, given := strings.Cut(option, "=")
	if name = strings.ReplaceAll(name, "_", "-"); given {
		return name + "=" + value
	}
	return name
}

// Brought are the options and variables by which a process brings in code besides its
// program and script: what runs is not known by those alone. The interpreter's name is ""
// for any other program; the environment is the one it was started with.
func Brought(interpreter string, args, env []string) []string {
	var found []string
	variables := []string{"LD_PRELOAD", "LD_AUDIT"}
	g, unquote := grammar{}, strings.NewReplacer(`"`, "", `\`, "")
	if interpreter != "" {
		g = grammarOf(interpreter)
		variables = append(variables, g.env...)
	}
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-X" && i+1 < len(args) && strings.HasPrefix(args[i+1], "pycache_prefix"):
			i++
			found = append(found, arg, args[i])
		case is(plain(arg), g.loads):
			if found = append(found, arg); slices.Contains(g.values, arg) && i+1 < len(args) {
				i++
				found = append(found, args[i])
			}
		case g.isCode(arg), !strings.HasPrefix(arg, "-"), arg == g.script:
			i = len(args) // what comes now is the script's
		case slices.Contains(g.values, arg):
			i++
		}
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if value != "" && (slices.Contains(variables, name) || g.options != "" && name == g.options && slices.ContainsFunc(strings.Fields(unquote.Replace(value)), func(o string) bool { return is(plain(o), g.loads) })) {
			found = append(found, v)
		}
	}
	return found
}

// Environment is what the process was started with, NAME=value each.
func Environment(pid int) []string {
	text, err := os.ReadFile(folder(pid) + "/environ")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}
