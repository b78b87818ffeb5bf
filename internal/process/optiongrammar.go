package process

import (
	"slices"
	"strings"
)

// An optionGrammar describes the command-line options of an interpreter. An option that it does not list is
// unknown: the next argument may be its value or the script.
type optionGrammar struct {
	values   []string        // options with a value in the next argument, or in the same word
	flags    []string        // options without a value
	prefixes []string        // beginnings of options that are one word, with their value if any
	code     []string        // options that run code from the command line; no script follows
	module   []string        // options with the module to run
	script   []string        // options with the script to run
	injects  []string        // options that load code besides the script
	cluster  string          // letters of options without a value that can share a word; "": words are not split
	attached map[byte]string // characters that can follow an option's letter in its word; "*": the whole rest
	anyFlag  bool            // options that are not listed have no value
	class    bool            // the argument after the options is a class, or a source file
	dotted   bool            // an argument without "." and "/" is a subcommand or a task, no script
	env      []string        // variables that load code
	options  []string        // variables that hold options
}

// Values of attached.
const (
	octal   = "01234567"
	anyRest = "*"
)

// optionGrammarOf returns an interpreter's grammar by its name.
func optionGrammarOf(interpreter string) optionGrammar {
	switch family(interpreter) {
	case "python", "pypy":
		return optionGrammar{
			values: []string{"-W", "-X", "-Q", "--check-hash-based-pycs"}, code: []string{"-c"}, module: []string{"-m"},
			flags: []string{"--help", "--version"}, cluster: "bBdEhiIOPqRsStuvVx3",
			injects: []string{"-i", "-Xpycache_prefix"},
			env: []string{
				"PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONINSPECT", "PYTHONPLATLIBDIR", "PYTHONBREAKPOINT",
				"PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__",
			},
		}
	case "node", "nodejs":
		return nodeGrammar()
	case "electron":
		return optionGrammar{
			values: []string{"-r", "--require"}, injects: []string{"-r", "--require"}, anyFlag: true, env: []string{"NODE_PATH"}, options: []string{"NODE_OPTIONS"},
		}
	case "bun":
		return bunGrammar()
	case "deno":
		return denoGrammar()
	case "perl":
		return optionGrammar{
			values: []string{"-I"}, code: []string{"-e", "-E"}, cluster: "acdfghnpstTuUvwWX",
			attached: map[byte]string{'0': octal, 'l': octal, 'C': "0123456789IOEioADSLa", 'F': anyRest, 'i': anyRest, 'm': anyRest, 'M': anyRest, 'x': anyRest},
			injects:  []string{"-I", "-M", "-m", "-d"}, env: []string{"PERL5LIB", "PERL5OPT", "PERLLIB", "PERL5DB"},
		}
	case "ruby":
		return optionGrammar{
			values: []string{"-r", "-I", "-C", "-X", "-E", "--encoding", "--external-encoding", "--internal-encoding", "--enable", "--disable"},
			code:   []string{"-e"}, prefixes: []string{"--enable-", "--disable-"},
			attached: map[byte]string{'0': octal, 'W': octal, 'T': octal, 'F': anyRest, 'i': anyRest, 'x': anyRest},
			flags:    []string{"--jit", "--yjit", "--verbose", "--debug", "--version", "--copyright", "--help"}, cluster: "acdlnpsvwyUh",
			injects: []string{"-r", "-I"},
			env:     []string{"RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE", "RUBYGEMS_GEMDEPS"},
		}
	case "php":
		return optionGrammar{
			values: []string{"-c", "-d", "-z", "-S", "-t", "-b", "-T", "-g"}, code: []string{"-r", "-B", "-R", "-E", "-F"}, script: []string{"-f"},
			cluster: "aeChHilmnqsvw", injects: []string{"-c", "-d", "-z"}, env: []string{"PHPRC", "PHP_INI_SCAN_DIR"},
		}
	case "java":
		return javaGrammar()
	case "lua", "luajit":
		return optionGrammar{
			values: []string{"-l", "-j", "-b"}, code: []string{"-e"}, attached: map[byte]string{'O': anyRest}, cluster: "ivEW", injects: []string{"-l", "-j"},
			env: []string{
				"LUA_INIT", "LUA_PATH", "LUA_CPATH", "LUA_INIT_5_3", "LUA_PATH_5_3", "LUA_CPATH_5_3", "LUA_INIT_5_4",
				"LUA_PATH_5_4", "LUA_CPATH_5_4",
			},
		}
	case "bash", "sh", "dash", "zsh":
		return optionGrammar{
			values: []string{"-o", "-O", "--rcfile", "--init-file"}, code: []string{"-c"}, cluster: "abefhiklmnprtuvxBCEHPT",
			flags: []string{"--norc", "--noprofile", "--posix", "--login", "--restricted", "--verbose", "--debugger"}, env: []string{"BASH_ENV"},
		}
	}
	return otherGrammar()
}

// otherGrammar returns the options that gjs, mono, tclsh, guile and qml have in common, and the variables of all.
func otherGrammar() optionGrammar {
	return optionGrammar{
		values: []string{"-I", "--include-path"}, code: []string{"-c", "-e", "--command", "--eval"},
		injects: []string{"-I", "--include-path"}, flags: []string{"--debug"}, env: []string{
			"GJS_PATH", "GI_TYPELIB_PATH", "MONO_PATH", "MONO_GAC_PREFIX", "MONO_CONFIG", "MONO_ENV_OPTIONS", "TCLLIBPATH",
			"TCL_LIBRARY", "TK_LIBRARY", "GUILE_LOAD_PATH", "GUILE_LOAD_COMPILED_PATH", "GUILE_EXTENSIONS_PATH",
			"QML_IMPORT_PATH", "QML2_IMPORT_PATH",
		},
	}
}

// nodeGrammar returns the grammar of node. An option that takes a value in some versions only is in no list.
func nodeGrammar() optionGrammar {
	g := optionGrammar{
		code: []string{"-e", "--eval", "-p", "--print", "-pe", "-i", "--interactive", "--entry-url", "--run", "--test",
			"--experimental-sea-config", "--build-sea"},
		injects: []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file",
			"--env-file-if-exists", "--openssl-config", "--snapshot-blob", "--experimental-policy", "--experimental-config-file",
			"--experimental-default-config-file"},
		values: strings.Fields(`-C --conditions --allow-fs-read --allow-fs-write --build-snapshot-config --cpu-prof-dir --cpu-prof-interval
			--cpu-prof-name --debug-port --diagnostic-dir --disable-proto --disable-warning --dns-result-order --experimental-config-file
			--experimental-default-type --es-module-specifier-resolution --experimental-specifier-resolution --heap-prof-dir
			--heap-prof-interval --heap-prof-name --heapsnapshot-near-heap-limit --heapsnapshot-signal --icu-data-dir --input-type
			--inspect-port --inspect-publish-uid --localstorage-file --max-http-header-size
			--network-family-autoselection-attempt-timeout --policy-integrity --redirect-warnings --report-dir --report-directory
			--report-filename --report-signal --secure-heap --secure-heap-min --test-concurrency --test-name-pattern --test-reporter
			--test-reporter-destination --test-shard --test-skip-pattern --test-timeout --title --tls-cipher-list --tls-keylog
			--trace-event-categories --trace-event-file-pattern --unhandled-rejections --use-largepages --v8-pool-size --watch-path`),
		flags: strings.Fields(`-c --check -h --help -v --version --abort-on-uncaught-exception --allow-addons --allow-child-process --allow-net
			--allow-wasi --allow-worker --build-snapshot --completion-bash --cpu-prof --disable-wasm-trap-handler
			--disallow-code-generation-from-strings --enable-etw-stack-walking --enable-fips --enable-network-family-autoselection
			--enable-source-maps --experimental-default-config-file --experimental-detect-module --experimental-eventsource
			--experimental-import-meta-resolve --experimental-network-imports --experimental-network-inspection
			--experimental-permission --experimental-print-required-tla --experimental-require-module --experimental-sqlite
			--experimental-strip-types --experimental-test-coverage --experimental-test-module-mocks --experimental-transform-types
			--experimental-vm-modules --experimental-wasm-modules --experimental-websocket --experimental-webstorage --experimental-fetch
			--experimental-json-modules --experimental-repl-await --expose-gc --force-context-aware --force-fips
			--force-node-api-uncaught-exceptions-policy --frozen-intrinsics --harmony --heap-prof --huge-max-old-generation-size
			--insecure-http-parser --inspect --inspect-brk --inspect-wait --interpreted-frames-native-stack --jitless
			--node-memory-debug --openssl-legacy-provider --openssl-shared-config --pending-deprecation --perf-basic-prof --perf-prof
			--permission --preserve-symlinks --preserve-symlinks-main --prof --prof-process --report-compact --report-exclude-network
			--report-on-fatalerror --report-on-signal --report-uncaught-exception --test-force-exit --test-only --throw-deprecation
			--tls-max-v1.2 --tls-max-v1.3 --tls-min-v1.0 --tls-min-v1.1 --tls-min-v1.2 --tls-min-v1.3 --trace-atomics-wait
			--trace-deprecation --trace-exit --trace-gc --trace-promises --trace-sigint --trace-sync-io --trace-tls --trace-uncaught
			--trace-warnings --track-heap-objects --use-bundled-ca --use-openssl-ca --use-system-ca --v8-options --verify-base-objects
			--watch --watch-preserve-output --zero-fill-buffers`),
		prefixes: []string{"--no-"}, env: []string{"NODE_PATH", "NODE_COMPILE_CACHE"}, options: []string{"NODE_OPTIONS"},
	}
	g.values = append(g.values, g.injects...)
	g.values = slices.DeleteFunc(g.values, func(o string) bool { return o == "--experimental-default-config-file" })
	return g
}

func bunGrammar() optionGrammar {
	g := optionGrammar{
		code: []string{"-e", "--eval", "-p", "--print"}, dotted: true,
		injects: []string{"-r", "--preload", "--require", "--import", "-c", "--config", "--env-file", "-d", "--define",
			"--tsconfig-override"},
		values: []string{"--conditions", "--cwd", "-l", "--loader", "--port", "--main-fields",
			"--extension-order", "--install"},
		flags: []string{"--watch", "--hot", "--smol", "-b", "--bun", "--silent", "--no-install", "--inspect",
			"--inspect-brk", "--inspect-wait", "--if-present", "-i"},
		env: []string{"NODE_PATH", "BUN_INSPECT_PRELOAD"}, options: []string{"NODE_OPTIONS"},
	}
	g.values = append(g.values, g.injects...)
	return g
}

func denoGrammar() optionGrammar {
	g := optionGrammar{
		dotted:  true,
		injects: []string{"-c", "--config", "--import-map", "--preload", "--import", "--env-file"},
		values:  []string{"--location", "--seed", "--cert", "-L", "--log-level", "--ext"},
		flags: strings.Fields(`-A --allow-all --allow-net --allow-read --allow-write --allow-env --allow-run --allow-sys --allow-ffi --allow-hrtime
			-R -W -E -N -S --no-check --check --unstable -q --quiet --no-prompt --cached-only --no-remote --no-npm --no-config --no-lock --frozen
			--watch --watch-hmr --inspect --inspect-brk --inspect-wait --reload --env-file --node-modules-dir --vendor`),
		prefixes: []string{"--unstable-", "--deny-"},
	}
	g.values = append(g.values, "-c", "--config", "--import-map", "--preload", "--import")
	return g
}

func javaGrammar() optionGrammar {
	return optionGrammar{
		values: strings.Fields(`-cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules --add-opens --add-exports --add-reads
			--patch-module --limit-modules --enable-native-access --source`),
		injects: strings.Fields(`-cp -classpath --class-path -p --module-path --upgrade-module-path --patch-module -javaagent: -agentpath: -agentlib:
			-Xbootclasspath -Djava. -Djdk.module. -XX:Flags -XX:VMOptionsFile -XX:OnError -XX:OnOutOfMemoryError`),
		prefixes: []string{"-D", "-X", "-ea", "-enableassertions", "-da", "-disableassertions", "-esa", "-dsa", "-agentlib:",
			"-agentpath:", "-javaagent:", "-verbose", "-splash:"},
		flags: strings.Fields(`-server -client -showversion --show-version --enable-preview --show-module-resolution -d64 -zero -version --version
			--dry-run`),
		script: []string{"-jar"}, module: []string{"-m", "--module"}, class: true,
		env:     []string{"CLASSPATH", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"},
		options: []string{"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"},
	}
}
