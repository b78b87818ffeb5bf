package process

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// programFile names the variable for the file into which a client writes the file of its own program.
const programFile = "PEER_TEST_PROGRAM"

// The clients that write the file of their program: the oracle of the tests.
const (
	pythonReporter = `import os, subprocess, sys
environment = " " + sys.prefix if sys.prefix != sys.base_prefix else ""
open(os.environ["PEER_TEST_PROGRAM"], "w").write(os.path.realpath(__file__) + environment)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
sys.exit(p.wait())
`
	nodeReporter = `require('fs').writeFileSync(process.env.PEER_TEST_PROGRAM, require('fs').realpathSync(__filename));
require('child_process').spawn(process.argv[2], process.argv.slice(3), {stdio: ['pipe', 'inherit', 'inherit']}).on('exit', code => process.exit(code ?? 1));
`
	perlReporter = `use Cwd; open(my $f, '>', $ENV{PEER_TEST_PROGRAM}); print $f Cwd::realpath($0); close($f);
open(my $p, '|-', @ARGV); close($p);
`
	pythonCode = `import os, subprocess, sys
open(os.environ["PEER_TEST_PROGRAM"], "w").write("code in " + os.getcwd() + " of " + sys.prefix)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
sys.exit(p.wait())
`
	nodeCode = `require('fs').writeFileSync(process.env.PEER_TEST_PROGRAM, 'code in ' + process.cwd());
require('child_process').spawn(process.argv[1], process.argv.slice(2), {stdio: ['pipe', 'inherit', 'inherit']}).on('exit', code => process.exit(code ?? 1));
`
)

// reported starts a client in a folder as seen does, and returns the identity that the gateway sees and the
// program that the client reports. A client that does not run returns ran = false.
func reported(t *testing.T, folder string, env []string, args ...string) (identity, program string, ran bool) {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), args[0], append(args[1:], self(t))...)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), asGateway+"="+out+"/identity", programFile+"="+out+"/program"), env...)
	said, err := cmd.CombinedOutput()
	text, e := os.ReadFile(out + "/identity")
	file, e2 := os.ReadFile(out + "/program")
	if err != nil || e != nil || e2 != nil {
		t.Logf("%q in %s: %v %.300s", args, folder, err, said)
		return "", "", false
	}
	return strings.TrimPrefix(string(text), "is "), strings.TrimSpace(string(file)), true
}

// realPython returns a Python of this computer that is no launcher.
func realPython(t *testing.T) string {
	t.Helper()
	testkit.Need(t, "python3")
	out, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	assert.NilError(t, err)
	return strings.TrimSpace(string(out))
}

// agentFolder makes a folder with the same programs as every other.
func agentFolder(t *testing.T, folder string) string {
	t.Helper()
	for _, name := range []string{"agent.py", "pkg/__main__.py", "pkg/__init__.py", "pkg/sub.py", "space/inner.py", "app/__main__.py"} {
		text := pythonReporter
		if strings.HasSuffix(name, "__init__.py") {
			text = ""
		}
		write(t, filepath.Join(folder, name), text)
	}
	for _, name := range []string{"agent.js", "main.js", "dir/index.js"} {
		write(t, filepath.Join(folder, name), nodeReporter)
	}
	write(t, folder+"/agent.pl", perlReporter)
	write(t, folder+"/hook.js", "")
	write(t, folder+"/vars", "A=1\n")
	return folder
}

// pythonEnvironment makes a virtual environment of Python's in a folder, and returns the folder.
func pythonEnvironment(t *testing.T, python, folder string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, "-m", "venv", "--without-pip", folder).CombinedOutput()
	assert.NilError(t, err, out)
	return folder
}

// TestModuleDecides: a module of Python is the file that its interpreter finds: in the working folder, in
// PYTHONPATH or in the environment, with the environment; else the environment alone; else it cannot be told.
func TestModuleDecides(t *testing.T) {
	folder := folderOf(t)
	python := realPython(t)
	a, b := agentFolder(t, folder+"/a"), agentFolder(t, folder+"/b")
	empty := folder + "/empty"
	assert.NilError(t, os.Mkdir(empty, 0o755))
	var venvs []string
	for _, name := range []string{"v1", "v2"} {
		venv := pythonEnvironment(t, python, filepath.Join(folder, name))
		sites, err := filepath.Glob(venv + "/lib/python*/site-packages")
		assert.NilError(t, err)
		assert.Assert(t, is.Len(sites, 1))
		write(t, sites[0]+"/tool/__main__.py", pythonReporter)
		write(t, sites[0]+"/tool/__init__.py", "")
		write(t, folder+"/src-"+name+"/edited.py", pythonReporter)
		write(t, sites[0]+"/edited.pth", folder+"/src-"+name+"\n")
		venvs = append(venvs, venv)
	}
	venv := venvs[0] + "/bin/python"
	unseen := folder + "/archive.zip"
	out, err := exec.CommandContext(t.Context(), python, "-m", "zipapp", a+"/app", "-o", unseen).CombinedOutput()
	assert.NilError(t, err, out)
	for name, c := range map[string]struct {
		in   string
		env  []string
		args []string
		want string // what the identity has after its interpreter; "file": the reported file and environment
	}{
		"in the working folder":    {a, nil, []string{python, "-m", "agent"}, a + "/agent.py"},
		"in another folder":        {b, nil, []string{python, "-m", "agent"}, b + "/agent.py"},
		"in one word":              {a, nil, []string{python, "-magent"}, a + "/agent.py"},
		"behind other options":     {a, nil, []string{python, "-X", "utf8", "-BW", "ignore", "-um", "agent"}, a + "/agent.py"},
		"a package":                {a, nil, []string{python, "-m", "pkg"}, a + "/pkg/__main__.py"},
		"a module of a package":    {a, nil, []string{python, "-m", "pkg.sub"}, a + "/pkg/sub.py"},
		"without __init__":         {a, nil, []string{python, "-m", "space.inner"}, a + "/space/inner.py"},
		"in an environment":        {empty, nil, []string{venv, "-m", "tool"}, "file"},
		"in another environment":   {empty, nil, []string{venvs[1] + "/bin/python", "-m", "tool"}, "file"},
		"by PATH":                  {empty, []string{"PATH=" + venvs[0] + "/bin:" + os.Getenv("PATH")}, []string{"env", "python", "-m", "tool"}, "file"},
		"isolated":                 {a, nil, []string{venv, "-Im", "tool"}, "file"},
		"beside an environment":    {a, nil, []string{venv, "-m", "agent"}, a + "/agent.py " + venvs[0]},
		"linked into one":          {empty, nil, []string{venv, "-m", "edited"}, "edited " + venvs[0]},
		"linked into another":      {empty, nil, []string{venvs[1] + "/bin/python", "-m", "edited"}, "edited " + venvs[1]},
		"of the standard library":  {a, nil, []string{python, "-m", "runpy", "agent"}, ""},
		"behind an archive":        {empty, []string{"PYTHONPATH=" + unseen + ":" + a}, []string{python, "-m", "agent"}, ""},
		"under a name of its own":  {a, nil, []string{"bash", "-c", `exec -a other "$0" "$@"`, python, "-m", "agent"}, ""},
		"an archive as the script": {a, nil, []string{python, unseen}, unseen},
		"a folder as the script":   {a, nil, []string{python, "app"}, a + "/app"},
	} {
		got, file, ran := reported(t, c.in, c.env, c.args...)
		if c.want == "file" {
			words := strings.Fields(file)
			for i, path := range words {
				words[i] = newPathFolder().fold(path)
			}
			c.want = strings.Join(words, " ")
		}
		_, after, _ := strings.Cut(got, " ")
		assert.Check(t, after == c.want || !ran, "%s is %q (it ran: %v); want %q", name, got, ran, c.want)
		assert.Check(t, ran || c.want == "", "%s is %q (it ran: %v); want %q", name, got, ran, c.want)
	}
	one, _, _ := reported(t, empty, []string{"PYTHONPATH=" + a}, python, "-m", "agent")
	other, _, _ := reported(t, empty, []string{"PYTHONPATH=" + b}, python, "-m", "agent")
	assert.Assert(t, is.Contains(one, a+"/agent.py "+withPrefix))
	assert.Assert(t, is.Contains(other, b+"/agent.py "+withPrefix))
}

// TestOneProgramOneIdentity: with any options, two programs never have the same identity, and a program
// keeps its identity when it starts again. The programs report their files themselves.
func TestOneProgramOneIdentity(t *testing.T) {
	folder := folderOf(t)
	python := realPython(t)
	folders := []string{agentFolder(t, folder+"/a"), agentFolder(t, folder+"/b")}
	node := []string{
		"--cpu-prof-dir DIR --cpu-prof", "--report-dir DIR", "--report-directory main.js", "--heap_prof_dir=DIR --heap-prof", "--secure-heap 0",
		"--report-signal SIGUSR2", "--heapsnapshot-near-heap-limit 3", "--tls-cipher-list DEFAULT", "--stack-trace-limit=3",
		"--network-family-autoselection-attempt-timeout 500", "--report-filename main.js", "--cpu-prof --cpu-prof-name DIR/p", "--title main.js",
		"--require ./hook.js", "-r fs", "--import ./hook.js", "--env-file vars", "--env-file=vars", "--no-warnings", "--conditions main.js",
		"--trace_require_module all", "--max-old-space-size=200", "--expose-gc", "--", "--experimental-default-type commonjs", "--disable-warning main.js",
	}
	programs := []struct {
		interpreter string
		options     []string
		operands    [][]string
	}{
		{python, []string{"-X utf8", "-Xutf8", "-W ignore", "-Wignore", "-BW ignore", "-u", "-I", "-s", "--check-hash-based-pycs never", "-O", "-P"}, [][]string{
			{"agent.py"}, {"-m", "agent"}, {"-mpkg"}, {"-m", "pkg.sub"}, {"-um", "space.inner"}, {"app"}, {"pkg/sub.py"}, {"./pkg/../agent.py"}, {"-c", pythonCode}, {"-Bc", pythonCode},
		}},
		{pythonEnvironment(t, python, folder+"/v1") + "/bin/python", []string{"-X utf8", "-W ignore", "-u", "-I", "-s", "-P"}, [][]string{
			{"agent.py"}, {"-m", "agent"}, {"app"}, {"./pkg/../agent.py"}, {"-c", pythonCode},
		}},
		{"node", node, [][]string{{"agent.js"}, {"agent"}, {"main.js"}, {"dir"}, {"./dir/index.js"}, {"-e", nodeCode}, {"--eval", nodeCode}}},
		{"perl", []string{"-w", "-I lib", "-Ilib", "-Mstrict", "-CSDA", "-l", "-0777", "-t"}, [][]string{{"agent.pl"}, {"./agent.pl"}}},
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	owners, identified := make(map[string]string), make(map[string]int)
	for _, p := range programs {
		for range 10 {
			args := []string{p.interpreter}
			for range random.IntN(3) {
				args = append(args, strings.Fields(strings.ReplaceAll(p.options[random.IntN(len(p.options))], "DIR", t.TempDir()))...)
			}
			args = append(args, p.operands[random.IntN(len(p.operands))]...)
			for _, in := range folders {
				first, program, ran := reported(t, in, nil, args...)
				if !ran {
					continue // the interpreter refuses these options together
				}
				again, _, _ := reported(t, in, nil, args...)
				assert.Check(t, is.Equal(again, first), "%q %s", args, in)
				if first == "" {
					continue
				}
				identified[p.interpreter]++
				owner, taken := owners[first]
				assert.Check(t, !taken || owner == program, "%q in %s is %q, as %s is; it is %s", args, in, first, owner, program)
				owners[first] = program
			}
		}
		assert.Check(t, identified[p.interpreter] >= 4, "only %d of the programs of %s have an identity", identified[p.interpreter], p.interpreter)
	}
}

// TestScriptInjections: code that an environment, the interpreter's name or a variable brings into a script makes an
// identity of its own, which stays the same for the same code. Nothing else of the script's surroundings counts.
func TestScriptInjections(t *testing.T) {
	folder := folderOf(t)
	python := realPython(t)
	a, elsewhere := agentFolder(t, folder+"/a"), agentFolder(t, folder+"/b")
	one, two := pythonEnvironment(t, python, folder+"/v1"), pythonEnvironment(t, python, folder+"/v2")
	named := func(name string) []string {
		return []string{"bash", "-c", `exec -a "$0" "$@"`, name, python, a + "/agent.py"}
	}
	script := map[string][]string{"python": {python, a + "/agent.py"}, "node": {"node", a + "/agent.js"}, "perl": {"perl", a + "/agent.pl"}}
	cases := []struct {
		name string
		env  []string
		args []string
		ends string // of the identity, where it is known
	}{
		{"python", nil, script["python"], " " + a + "/agent.py"},
		{"node", nil, script["node"], " " + a + "/agent.js"},
		{"perl", nil, script["perl"], " " + a + "/agent.pl"},
		{"an environment", nil, []string{one + "/bin/python", a + "/agent.py"}, " " + a + "/agent.py " + one},
		{"another environment", nil, []string{two + "/bin/python3", "-I", a + "/agent.py"}, " " + a + "/agent.py " + two},
		{"the name of a file that is no Python", nil, named(write(t, folder+"/fake/bin/python3", "")), ""},
		{"the name of a file that is not there", nil, named(folder + "/none/bin/python3"), ""},
		{"a name that PATH does not have", nil, named("-x"), ""},
	}
	for interpreter, variables := range map[string]string{
		"python": "PYTHONEXECUTABLE __PYVENV_LAUNCHER__ LD_LIBRARY_PATH GCONV_PATH OPENSSL_CONF",
		"node":   "LD_LIBRARY_PATH OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES OPENSSL_ENGINES NODE_COMPILE_CACHE",
		"perl":   "LD_LIBRARY_PATH OPENSSL_CONF",
	} {
		for _, variable := range strings.Fields(variables) {
			for _, value := range []string{folder + "/x", folder + "/y"} {
				cases = append(cases, cases[0])
				c := &cases[len(cases)-1]
				c.name, c.env, c.args, c.ends = interpreter+" with "+variable+"="+value, []string{variable + "=" + value}, script[interpreter], ""
			}
		}
	}
	owners := make(map[string]string)
	for _, c := range cases {
		got, _, ran := reported(t, a, c.env, c.args...)
		again, _, _ := reported(t, a, append([]string{"LANG=C", "PYTHONUNBUFFERED=1"}, c.env...), c.args...)
		assert.Assert(t, ran, "%s is %q and then %q (it ran: %v); want it to end in %q", c.name, got, again, ran, c.ends)
		assert.Assert(t, got != "", "%s is %q and then %q (it ran: %v); want it to end in %q", c.name, got, again, ran, c.ends)
		assert.Equal(t, again, got, "%s %v %q", c.name, ran, c.ends)
		assert.Assert(t, strings.HasSuffix(got, c.ends), "%s is %q and then %q (it ran: %v); want it to end in %q", c.name, got, again, ran, c.ends)
		assert.Assert(t, c.ends != "" || strings.Contains(got, " "+withPrefix), "%s is %q and then %q (it ran: %v); want it to end in %q", c.name, got, again, ran, c.ends)
		owner, taken := owners[got]
		assert.Check(t, !taken, "%s is %q, as %s is", c.name, got, owner)
		owners[got] = c.name
	}
	here, _, _ := reported(t, a, nil, named("-x")...)
	there, _, _ := reported(t, elsewhere, nil, named("-x")...)
	assert.Check(t, there != here, "a Python that looks for its environment beside the working folder is %q in each", here)
}

// TestNodeOptions: each option that the installed node documents with a value is known to have one, and no
// other is.
func TestNodeOptions(t *testing.T) {
	testkit.Need(t, "node")
	out, err := exec.CommandContext(t.Context(), "node", "--help").Output()
	assert.NilError(t, err)
	g := nodeGrammar()
	var seen int
	for line := range strings.Lines(string(out)) {
		var options []string
		takes := false
		for _, word := range strings.Fields(line) {
			if !strings.HasPrefix(word, "-") {
				break
			}
			option, described, _ := strings.Cut(strings.TrimSuffix(word, ","), "=")
			takes = takes || described == "..." || described == "[host:]port"
			if strings.HasPrefix(option, "--") && option != "--" {
				options = append(options, option)
			}
		}
		for _, option := range options {
			seen++
			kind := g.whole(option).kind
			assert.Check(t, !takes || kind != optionComplete, "%s takes a value: %v; it is of kind %d", option, takes, kind)
			assert.Check(t, takes || kind != optionValue, "%s takes a value: %v; it is of kind %d", option, takes, kind)
		}
	}
	assert.Check(t, seen >= 50, "only %d options of node are documented", seen)
}
