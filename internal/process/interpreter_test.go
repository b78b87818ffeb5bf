package process_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/process"
)

// TestScript: the script is found behind options with values; an argument after code is no
// script.
func TestScript(t *testing.T) {
	for line, want := range map[string]string{
		"node /a/cli.js /b/other.js":                      "/a/cli.js",
		"node --require x /a/cli.js":                      "/a/cli.js",
		"node --require=x -r y --import z /a/cli.js":      "/a/cli.js",
		"node --max-old-space-size=8192 /a/cli.js":        "/a/cli.js",
		"node --env-file .env --conditions dev /a/cli.js": "/a/cli.js",
		"node -e 1 /b/good.js":                            "",
		"node --eval=1 /b/good.js":                        "",
		"node -pe 1 /b/good.js":                           "",
		"python3 -W ignore /a/cli.py":                     "/a/cli.py",
		"python3 -I /a/cli.py /b/good.py":                 "/a/cli.py",
		"python3 -X dev -u /a/cli.py":                     "/a/cli.py",
		"python3.12 -c 1 /b/good.py":                      "",
		"python3 -Ic 1 /b/good.py":                        "",
		"python3 -m agent /b/good.py":                     "",
		"python3 -Im agent /b/good.py":                    "",
		"python3 - /b/good.py":                            "",
		"php /a/cli.php":                                  "/a/cli.php",
		"php8.2 -d x=1 -c /etc/php.ini -f /a/cli.php":     "/a/cli.php",
		"php -r 1 /b/good.php":                            "",
		"php -r1 /b/good.php":                             "",
		"php -B 1 /b/good.php":                            "",
		"ruby -r json -I lib /a/cli.rb":                   "/a/cli.rb",
		"ruby -ne 1 /b/good.rb":                           "",
		"perl -I lib -w /a/cli.pl":                        "/a/cli.pl",
		"perl -lane 1 /b/good.pl":                         "",
		"perl -E 1 /b/good.pl":                            "",
		"bash --rcfile x -o posix /a/cli.sh":              "/a/cli.sh",
		"bash -lc 1 /b/good.sh":                           "",
		"java -Xmx1g -cp a:b -jar /a/app.jar x":           "/a/app.jar",
		"java @/tmp/args /b/Good":                         "",
		"lua -l lib /a/cli.lua":                           "/a/cli.lua",
		"lua -e 1 /b/good.lua":                            "",
		"gjs -c 1 /b/good.js":                             "",
		"node -- /a/cli.js":                               "/a/cli.js",
		"node":                                            "",
		"node --cpu-prof-dir /b /a/cli.js":                "/a/cli.js",
		"node --cpu_prof_dir /b --no-opt /a/cli.js":       "/a/cli.js",
		"node --not-known /b/good.js":                     "",
		"node --not-known /b/good.js /a/cli.js":           "",
		"node --not-known=1 /a/cli.js":                    "/a/cli.js",
		"node --stack-trace-limit 3 /a/cli.js":            "",
		"node --test /b/good.js":                          "",
		"electron --no-sandbox /a/app":                    "/a/app",
		"bun --preload x /a/cli.ts":                       "/a/cli.ts",
		"bun start":                                       "",
		"deno -A --config x /a/cli.ts":                    "/a/cli.ts",
		"deno eval 1":                                     "",
		"deno https://example.com/cli.ts":                 "",
		"python3 -BW ignore /a/cli.py":                    "/a/cli.py",
		"python3 -BWignore /a/cli.py":                     "/a/cli.py",
		"python3 -BXc /a/cli.py":                          "/a/cli.py",
		"python3 -m":                                      "",
		"perl -CSDA -MFoo=a -Ilib /a/cli.pl":              "/a/cli.pl",
		"perl -i.bak -p0777e 1 /b/good.pl":                "",
		"perl -l012 -w /a/cli.pl":                         "/a/cli.pl",
		"perl -de 1 /b/good.pl":                           "",
		"perl -S good.pl":                                 "",
		"ruby -W0e 1 /b/good.rb":                          "",
		"ruby -W0 --disable-gems /a/cli.rb":               "/a/cli.rb",
		"java -p m -m agent/main /b/good.java":            "",
		"java --source 21 -ea /a/Agent.java":              "/a/Agent.java",
		"bash -eo pipefail /a/cli.sh":                     "/a/cli.sh",
		"gjs --not-known /b/good.js":                      "",
	} {
		args := strings.Fields(line)
		_, path := process.FindScript(args[0], args)
		assert.Check(t, is.Equal(path, want), line)
	}
}

// TestCodeInjections: options and variables that load other code are found, and mere settings are
// not.
func TestCodeInjections(t *testing.T) {
	for _, c := range []struct {
		interpreter, line, env string
		want                   []string
	}{
		{"", "", "HOME=/h LD_PRELOAD=/x.so PYTHONPATH=/x", []string{"LD_PRELOAD=/x.so"}},
		{"", "", "LD_LIBRARY_PATH=/x OPENSSL_CONF=/x.cnf QT_PLUGIN_PATH=/x", []string{"LD_LIBRARY_PATH=/x", "OPENSSL_CONF=/x.cnf"}},
		{"", "", "DOTNET_STARTUP_HOOKS=/x.dll JDK_JAVA_OPTIONS=-javaagent:/x.jar", []string{"DOTNET_STARTUP_HOOKS=/x.dll"}},
		{"", "", "_JAVA_OPTIONS=-Dawt.useSystemAAFontSettings=on JAVA_TOOL_OPTIONS=-javaagent:/x.jar", []string{"JAVA_TOOL_OPTIONS=-javaagent:/x.jar"}},
		{"", "", "_JAVA_OPTIONS=-agentpath:/x.so JAVA_TOOL_OPTIONS=-Xmx1g", []string{"_JAVA_OPTIONS=-agentpath:/x.so"}},
		{"gjs", "gjs /a/cli.js", "GJS_PATH=/x", []string{"GJS_PATH=/x"}},
		{"", "", "LD_PRELOAD= NODE_OPTIONS=--require=/x.js", []string{"NODE_OPTIONS=--require=/x.js"}},
		{"python3", "python3 -Xpycache_prefix=/x -i -W ignore /a/cli.py -i", "", []string{"-Xpycache_prefix=/x", "-i"}},
		{"perl", "perl -wMFoo -I lib /a/cli.pl", "", []string{"-wMFoo", "-I", "lib"}},
		{"java", "java -p m -m agent/main", "", []string{"-p", "m"}},
		{"node", "node --require x /a/cli.js --require y", "", []string{"--require", "x"}},
		{"node", "node --import=x --loader y /a/cli.js", "", []string{"--import=x", "--loader", "y"}},
		{"node", "node /a/cli.js", "NODE_OPTIONS=--max-old-space-size=8192", nil},
		{"node", "node /a/cli.js", "NODE_OPTIONS=--require=/x.js PYTHONPATH=/x", []string{"NODE_OPTIONS=--require=/x.js"}},
		{"python3.12", "python3 /a/cli.py", "PYTHONPATH=/x NODE_OPTIONS=--require=/x.js", []string{"PYTHONPATH=/x"}},
		{"python3", "python3 -u -W ignore /a/cli.py -I", "PYTHONUNBUFFERED=1", nil},
		{"python3", "python3 -i /a/cli.py", "PYTHONUSERBASE=/x", []string{"-i", "PYTHONUSERBASE=/x"}},
		{"python3", "python3 -X pycache_prefix=/x /a/cli.py", "", []string{"-X", "pycache_prefix=/x"}},
		{"node", "node --experimental_loader=/x /a/cli.js", `NODE_OPTIONS="--require=/x.js"`, []string{"--experimental_loader=/x", `NODE_OPTIONS="--require=/x.js"`}},
		{"node", "node --env-file=/x /a/cli.js", "", []string{"--env-file=/x"}},
		{"java", "java -cp /x Main", "_JAVA_OPTIONS=-x", []string{"-cp", "/x", "_JAVA_OPTIONS=-x"}},
		{"php", "php -d auto_prepend_file=/x /a/cli.php", "", []string{"-d", "auto_prepend_file=/x"}},
		{"ruby", "ruby -r/x /a/cli.rb", "RUBYOPT=-r/y", []string{"-r/x", "RUBYOPT=-r/y"}},
		{"java", "java -javaagent:/x.jar -jar /a/app.jar -javaagent:/y", "", []string{"-javaagent:/x.jar"}},
	} {
		got := process.CodeInjections(c.interpreter, strings.Fields(c.line), strings.Fields(c.env))
		assert.Check(t, slices.Equal(got, c.want), "%s with %s has %q in it, expected %q", c.line, c.env, got, c.want)
	}
}
