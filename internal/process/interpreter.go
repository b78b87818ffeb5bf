package process

import (
	"os"
	"slices"
	"strings"
)

// IsInterpreter reports whether a program runs scripts that are programs themselves.
func IsInterpreter(name string) bool {
	switch family(name) {
	case "python", "pypy", "node", "nodejs", "perl", "ruby", "bash", "sh", "dash", "zsh", "gjs", "gjs-console",
		"cjs", "cjs-console",
		"java", "mono", "mono-sgen", "electron", "php", "lua", "luajit", "tclsh", "wish", "guile", "deno", "bun",
		"qml", "qmlscene":
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

// commandKind is the kind of program that an interpreter's command line names.
type commandKind int

const (
	commandUnknown commandKind = iota // it cannot be told
	commandNone                       // no program: the interpreter reads it from standard input
	commandScript
	commandModule // a module
	commandClass  // a class
	commandCode   // code on the command line
)

// A commandLine is the parsed command line of an interpreter.
type commandLine struct {
	kind       commandKind
	operand    string            // the path of the script, or the name of the module or class
	options    map[string]string // the options before it, with their last values
	injections []string          // those of them that load other code, as written
}

// An optionKind says how an option is continued.
type optionKind int

const (
	optionUnknown  optionKind = iota
	optionComplete            // its word is complete
	optionValue               // its value is the next argument
	optionCode
	optionModule
	optionScript
)

// An option is one option of a word of the command line.
type option struct {
	name, value string // value: in the same word
	kind        optionKind
}

// parse parses the arguments, of which the first is the interpreter's name.
func (g optionGrammar) parse(args []string) commandLine {
	c := commandLine{options: make(map[string]string)}
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "", arg == "-", g.class && strings.HasPrefix(arg, "@"):
			return c
		case arg == "--" && i+1 == len(args):
			continue
		case arg == "--":
			return c.runs(g.operandKind(args[i+1]), args[i+1])
		case !strings.HasPrefix(arg, "-"):
			return c.runs(g.operandKind(arg), arg)
		}
		options := g.split(arg)
		last := options[len(options)-1]
		words := []string{arg}
		if takesNext := last.kind == optionValue ||
			last.value == "" && (last.kind == optionModule || last.kind == optionScript); takesNext {
			if i++; i == len(args) {
				return c
			}
			last.value = args[i]
			options[len(options)-1] = last
			words = append(words, last.value)
		}
		for _, o := range options {
			c.options[o.name] = o.value
		}
		if slices.ContainsFunc(options, g.isInjection) {
			c.injections = append(c.injections, words...)
		}
		switch last.kind {
		case optionUnknown:
			return c
		case optionCode:
			return c.runs(commandCode, "")
		case optionModule:
			return c.runs(commandModule, last.value)
		case optionScript:
			return c.runs(commandScript, last.value)
		case optionComplete, optionValue:
		}
	}
	return c.runs(commandNone, "")
}

func (c commandLine) runs(kind commandKind, operand string) commandLine {
	c.kind, c.operand = kind, operand
	return c
}

// operandKind returns the kind of the first argument that is no option.
func (g optionGrammar) operandKind(arg string) commandKind {
	switch {
	case g.dotted && (!strings.ContainsAny(arg, "./") || strings.Contains(arg, ":")):
		return commandUnknown // a subcommand, a task, or an address
	case g.class && !strings.HasSuffix(arg, ".java"):
		return commandClass
	}
	return commandScript
}

// split returns the options of a word; a word has several if its interpreter lets letters share one.
func (g optionGrammar) split(word string) []option {
	if strings.HasPrefix(word, "--") || g.cluster == "" {
		return []option{g.whole(normalizeOption(word))}
	}
	var found []option
	for rest := word[1:]; ; {
		o := option{name: "-" + rest[:1]}
		letter := rest[0]
		rest = rest[1:]
		allowed, attaches := g.attached[letter]
		switch {
		case slices.Contains(g.code, o.name):
			o.kind, o.value, rest = optionCode, rest, ""
		case slices.Contains(g.module, o.name):
			o.kind, o.value, rest = optionModule, rest, ""
		case slices.Contains(g.script, o.name):
			o.kind, o.value, rest = optionScript, rest, ""
		case slices.Contains(g.values, o.name) && rest == "":
			o.kind = optionValue
		case slices.Contains(g.values, o.name), attaches && allowed == anyRest:
			o.kind, o.value, rest = optionComplete, rest, ""
		case attaches:
			after := strings.TrimLeft(rest, allowed)
			o.kind, o.value, rest = optionComplete, rest[:len(rest)-len(after)], after
		case strings.IndexByte(g.cluster, letter) >= 0:
			o.kind = optionComplete
		}
		if found = append(found, o); rest == "" || o.kind == optionUnknown {
			return found
		}
	}
}

// whole returns the option that is a whole word.
func (g optionGrammar) whole(word string) option {
	name, value, given := strings.Cut(word, "=")
	o := option{name: name, value: value}
	switch {
	case slices.Contains(g.code, name):
		o.kind = optionCode
	case slices.Contains(g.module, name):
		o.kind = optionModule
	case slices.Contains(g.script, name):
		o.kind = optionScript
	case given && strings.HasPrefix(word, "--"):
		o.kind = optionComplete
	case slices.Contains(g.values, word):
		o.kind = optionValue
	case g.anyFlag, slices.Contains(g.flags, word),
		slices.ContainsFunc(g.prefixes, func(p string) bool { return strings.HasPrefix(word, p) }):
		o.kind = optionComplete
	}
	return o
}

// isInjection reports whether the option loads code besides the script.
func (g optionGrammar) isInjection(o option) bool {
	return slices.ContainsFunc(g.injects, func(i string) bool {
		return o.name == i || !strings.HasPrefix(i, "--") && len(i) > 2 && strings.HasPrefix(o.name+o.value, i)
	})
}

// normalizeOption replaces "_" by "-" in the name of a long option, since node accepts both.
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

// parseCommandLine parses the command line of an interpreter.
func parseCommandLine(interpreter string, args []string) commandLine {
	return optionGrammarOf(interpreter).parse(args)
}

// FindScript returns the script in the command line of an interpreter: its name without folder
// and extension, and the argument with its path. For a class both are of its name; a module has no path. Both
// are "" if there is none, or if it cannot be told which argument it is.
func FindScript(interpreter string, args []string) (name, path string) {
	switch c := parseCommandLine(interpreter, args); c.kind {
	case commandScript, commandClass:
		return baseWithoutExt(c.operand), c.operand
	case commandModule:
		return c.operand, ""
	case commandUnknown, commandNone, commandCode:
	}
	return "", ""
}

// CodeInjections returns the options and variables by which a process loads code besides its
// program and script, so that those alone do not identify it. interpreter is its name, or "" for
// any other program; env is the environment at the start.
func CodeInjections(interpreter string, args, env []string) []string {
	var found []string
	variables := libraryVariables()
	grammars := []optionGrammar{nodeGrammar(), javaGrammar()} // the program can be an interpreter with its code inside
	if interpreter != "" {
		g := optionGrammarOf(interpreter)
		grammars, variables = []optionGrammar{g}, append(variables, g.env...)
		found = g.parse(args).injections
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if value != "" && (slices.Contains(variables, name) ||
			slices.ContainsFunc(grammars, func(g optionGrammar) bool {
				return slices.Contains(g.options, name) &&
					g.hasInjection(value)
			})) {
			found = append(found, v)
		}
	}
	return found
}

// libraryVariables returns variables by which the loader, or a library of many programs, loads other code. It omits
// those that desktops set for every program, such as GTK_PATH and QT_PLUGIN_PATH.
func libraryVariables() []string {
	return []string{
		"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GCONV_PATH", "OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES",
		"OPENSSL_ENGINES",
		"DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "CORECLR_PROFILER", "CORECLR_PROFILER_PATH",
		"CORECLR_PROFILER_PATH_32", "CORECLR_PROFILER_PATH_64", "CORECLR_PROFILER_PATH_ARM64", "BUN_OPTIONS",
	}
}

// hasInjection reports whether a variable's value has an option that loads code.
func (g optionGrammar) hasInjection(value string) bool {
	unquoted := strings.NewReplacer(`"`, "", `\`, "").Replace(value)
	return slices.ContainsFunc(strings.Fields(unquoted),
		func(word string) bool { return g.isInjection(g.whole(normalizeOption(word))) })
}

// Environment returns the initial environment of a process, as NAME=value.
func Environment(pid int) []string {
	text, err := os.ReadFile(procDir(pid) + "/environ")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}
