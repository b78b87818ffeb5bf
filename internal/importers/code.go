package importers

import (
	"path"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// codeChars are characters of program code that command lines seldom have otherwise.
const codeChars = "()`|&\n\r"

const (
	keyInCodeReason = "an argument of its command is program code, or names it, and looks like a key; " +
		"what runs must be shown whole. Give the key as a variable in the client's \"env\", and import again"
	referenceInCodeReason = "an argument of its command is program code, or names it, and takes a part from a variable, " +
		"so that it cannot be shown whole; write it out in the client's configuration, and import again"
	loaderReason = "its variable %s loads other code into each program; take it out of the client's configuration, " +
		"and import again"
)

// runnerOf returns the name of a program that runs code from its arguments, such as "python3" or "npx", or "".
func runnerOf(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	name = strings.TrimRight(name, "0123456789.-")
	if slices.Contains(strings.Fields(`python pythonw pypy node nodejs bun deno electron tsx ts-node perl ruby php lua luajit
		java rscript julia gjs tclsh guile mono awk gawk mawk osascript powershell pwsh elixir erl scala groovy
		sh bash dash zsh ksh mksh fish ash busybox csh tcsh
		npx npm pnpm pnpx yarn bunx uv uvx pipx go cargo`), name) {
		return name
	}
	return ""
}

// isCodeFlag reports whether the argument after a flag may be program code.
func isCodeFlag(flag string) bool {
	if strings.HasPrefix(flag, "--") {
		return slices.Contains([]string{"--eval", "--command", "--call", "--exec", "--execute", "--code", "--print",
			"--expression", "--split-string", "--shell"}, strings.ToLower(flag))
	}
	return len(flag) > 1 && flag[0] == '-' && strings.ContainsRune("ceESrBRpmk", rune(flag[len(flag)-1]))
}

// isCode reports whether an argument is program code, or names the code that runs: a word among the
// options of an interpreter or a runner, or a text with the form of code after a flag for code.
func (in *serverReader) isCode(before, word string) bool {
	flag, value, joined := strings.Cut(word, "=")
	isFlag := strings.HasPrefix(word, "-")
	hasForm := strings.ContainsAny(word, codeChars+";$ \t")
	switch {
	case strings.HasPrefix(word, "--") && joined && sanitize.IsSecretName(flag), !isFlag && isFlagName(before) && sanitize.IsSecretName(before):
		return false
	case before == "-p" && !hasForm && !slices.Contains([]string{"npx", "npm", "pnpx", "pnpm", "bunx"}, in.runner):
		return false // a password
	case in.runner != "":
		return true
	case isFlag && len(word) > 2 && word[1] != '-' && isCodeFlag(word[:2]):
		return strings.ContainsAny(word[2:], codeChars)
	case isFlag:
		return false
	}
	if before == "-e" && joined && isVariable(flag) { // of a container, if it is no code
		return strings.ContainsAny(value, codeChars)
	}
	return before != "-p" && isCodeFlag(before) && hasForm
}

func isFlagName(word string) bool {
	return strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "=: ")
}

// shownCode returns program code unchanged, so that the person sees what runs. It skips the server if that
// would show a key or if a variable has a part of the code.
func (in *serverReader) shownCode(word string) string {
	switch {
	case strings.Contains(word, "${"):
		in.skip(referenceInCodeReason)
	case isSecretURL(word), containsNamedKey(word), slices.ContainsFunc(strings.Fields(word), isKeyInCode):
		if isLine(word) {
			in.skip(keyInLineReason, "an argument of its command")
		}
		in.skip(keyInCodeReason)
	}
	return word
}

// isKeyInCode reports whether a word of program code, or the value of a flag in it, may be a key.
func isKeyInCode(word string) bool {
	word = strings.Trim(word, `"';,`)
	if strings.HasPrefix(word, "-") {
		_, word, _ = strings.Cut(word, "=")
	}
	return isKey(word) || isSecretURL(word)
}

// follow notes which words of a command choose its code: those after the name of an interpreter or a runner, up
// to the code, the script or the package.
func (in *serverReader) follow(before, word string) {
	switch name := runnerOf(word); {
	case name != "":
		in.runner = name
	case in.runner == "" || strings.HasPrefix(word, "-") || slices.Contains(strings.Fields("run exec eval tool dlx x"), word):
	case !strings.HasPrefix(before, "-"), isCodeFlag(before), strings.ContainsAny(word, `/\.@`),
		slices.Contains(strings.Fields("-- -y --yes -q --quiet -s -u -i -I -B --bun"), before):
		in.runner = ""
	}
}

// choosesCode reports whether a variable of this name loads code into a program, or chooses or configures the
// code that it runs. The values of such variables are no secrets: the person must see them.
func choosesCode(name string) bool {
	name = strings.ToUpper(name)
	hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	hasSuffix := func(end string) bool { return strings.HasSuffix(name, end) }
	return isLoader(name) || slices.Contains(codeVariables(), name) ||
		slices.ContainsFunc(strings.Fields("PYTHON __PYVENV LUA_INIT_ LUA_PATH_ LUA_CPATH_ CORECLR_PROFILER_ BASH_FUNC_"), hasPrefix) ||
		!sanitize.IsSecretName(name) && slices.ContainsFunc(strings.Fields("NPM_CONFIG_ YARN_ UV_ PIP_ GIT_CONFIG"), hasPrefix) ||
		hasPrefix("GIT_") && slices.ContainsFunc(strings.Fields("_COMMAND _SSH _ASKPASS _EDITOR _PAGER _DIFF _PATH _DIR"), hasSuffix)
}

func codeVariables() []string {
	return strings.Fields(`PATH PATHEXT ENV BASH_ENV ZDOTDIR SHELL COMSPEC SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND HOME
		PAGER EDITOR VISUAL BROWSER LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS RSYNC_RSH XDG_CONFIG_HOME
		XDG_DATA_HOME XDG_DATA_DIRS NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS BUN_INSPECT_PRELOAD
		TS_NODE_COMPILER TS_NODE_PROJECT DENO_DIR VIRTUAL_ENV CONDA_PREFIX
		PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE RUBYGEMS_GEMDEPS
		PHPRC PHP_INI_SCAN_DIR JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS JAVA_HOME CLASSPATH
		MAVEN_OPTS GRADLE_OPTS LUA_INIT LUA_PATH LUA_CPATH R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS
		R_LIBS_USER R_HOME JULIA_LOAD_PATH JULIA_DEPOT_PATH GJS_PATH GI_TYPELIB_PATH MONO_PATH MONO_CONFIG
		MONO_ENV_OPTIONS TCLLIBPATH TCL_LIBRARY GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH ERL_LIBS ERL_FLAGS ERL_AFLAGS
		DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_PROFILER CORECLR_ENABLE_PROFILING AWKPATH AWKLIBPATH
		OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES OPENSSL_ENGINES GTK_MODULES GTK_PATH QT_PLUGIN_PATH
		QML_IMPORT_PATH QML2_IMPORT_PATH GIO_EXTRA_MODULES CARGO_HOME RUSTC RUSTC_WRAPPER RUSTFLAGS GOFLAGS CC CXX
		MAKEFLAGS DOCKER_CONFIG KUBECONFIG`)
}

// isLoader reports whether a variable makes the system's loader put code into each program. A server with
// one is left out.
func isLoader(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || name == "GCONV_PATH" || name == "GLIBC_TUNABLES"
}

// addVariable takes over a variable: into the vault, or, if it chooses code, into the command.
func (in *serverReader) addVariable(name, value string) {
	r, refers := referenceIn(value)
	switch {
	case isLoader(name):
		in.skip(loaderReason, name)
	case refers:
		in.values[name], in.references[name] = "", r
	case !choosesCode(name):
		in.values[name] = value
	case value != "":
		in.shownCode(value)
		in.shownVariables = append(in.shownVariables, name+"="+value)
	}
}

// showVariables puts the variables that choose code into the command, by "env", where the preview and the
// start question show them, and where they are a part of the consent.
func (in *serverReader) showVariables() {
	if len(in.shownVariables) == 0 || in.common.Command == "" {
		return
	}
	slices.Sort(in.shownVariables)
	in.common.Args = slices.Concat(in.shownVariables, []string{in.common.Command}, in.common.Args)
	in.common.Command = "env"
}
