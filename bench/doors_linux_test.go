package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// server is a running tool server with a client.
type server interface {
	timed(b *testing.B, call string) time.Duration
	pid() int
}

func (s *session) pid() int { return s.process.Process.Pid }

// rival is a program with a tool that returns its argument.
type rival struct {
	name    string
	program string
	args    []string
	call    string // params of tools/call
	token   string
}

// The door benchmark identifies the first two by index.
const (
	gatewayRival = iota
	bareRival
)

// rivals builds them. The one with a TypeScript SDK is included if it is installed.
func rivals(b *testing.B, t *table) []rival {
	b.Helper()
	folder := newHome(b, 0)
	folder.write(b, filepath.Join(fastApp, "aai.json"), callDescriptor(fastApp))
	all := []rival{
		gatewayRival: {name: "gateway", program: build(b, "github.com/gybob/aai-gateway/bench/echo"), args: []string{folder.folder}, call: readCall, token: "a token of the benchmark"},
		bareRival:    {name: "bare go-sdk", program: build(b, "github.com/gybob/aai-gateway/bench/peers/baresdk"), call: echoCall},
		{name: "mcp-go", program: build(b, "github.com/gybob/aai-gateway/bench/peers/mcpgo"), call: echoCall},
	}
	typescript, err := newTypeScript()
	if err != nil {
		t.add("TypeScript SDK", "", "did not run: "+firstLine(err), "")
		return all
	}
	return append(all, typescript)
}

func newTypeScript() (rival, error) {
	program, err := node()
	if err != nil {
		return rival{}, err
	}
	modules, err := installed("@modelcontextprotocol", "server")
	if err != nil {
		return rival{}, err
	}
	script := filepath.Join("peers", "typescript", "server.mjs")
	return rival{name: "TypeScript SDK", program: program, args: []string{script, modules}, call: echoCall}, nil
}

// env returns the environment of a rival's process.
func (r rival) env() []string {
	return []string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH"), "AAI_HTTP_TOKEN=" + r.token}
}

// open starts the rival with a client of one protocol version.
func (r rival) open(b *testing.B, overHTTP, isModern bool) server {
	b.Helper()
	if overHTTP {
		s, err := openHTTP(b, isModern, r.token, r.env(), r.program, append(r.args, "http")...)
		assert.NilError(b, err)
		return s
	}
	s := startServer(b, r.env(), r.program, r.args...)
	b.Cleanup(func() { s.end(b) })
	if !isModern {
		assert.NilError(b, s.initializeSession())
	}
	return s
}

// BenchmarkDoors measures a trivial call through the entire gateway (door, validation, policy,
// journal), compared with servers that only answer. It prints a table.
func BenchmarkDoors(b *testing.B) {
	t := &table{}
	all := rivals(b, t)
	for _, over := range []string{"stdio", "HTTP"} {
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			runOnce(b, over+"/"+era, func(b *testing.B) { raceCalls(b, t, all, over, era) })
		}
	}
	runOnce(b, "Start", func(b *testing.B) { raceStarts(b, t, all) })
	fmt.Print(t.String())
}

// maxRatio is the limit of a call's time relative to the bare SDK's.
func maxRatio(over string) float64 {
	if over == "stdio" {
		return 1.5
	}
	return 1.3
}

// raceCalls alternates the rivals, in another order each time.
func raceCalls(b *testing.B, t *table, all []rival, over, era string) {
	const calls = 25
	rounds, warm := roundLimit(b, 240), roundLimit(b, 20)
	isModern := era == "2026-07-28"
	servers := make([]server, len(all))
	took := make([]samples, len(all))
	for i, r := range all {
		servers[i] = r.open(b, over == "HTTP", isModern)
	}
	for round := range rounds + warm {
		for n := range all {
			i := (n + round) % len(all)
			call := all[i].call
			if isModern {
				call = modern(call)
			}
			for range calls {
				if d := servers[i].timed(b, call); round >= warm {
					took[i].add(d)
				}
			}
		}
	}
	ours, bare := took[gatewayRival], took[bareRival]
	for i, r := range all[bareRival:] {
		theirs := took[i+bareRival]
		figure := fmt.Sprintf("call over %s of %s, beside %s", over, era, r.name)
		compared := ratio(ours.median(), theirs.median())
		if i == 0 {
			t.judge(figure, shortTimings(ours), r.name+" "+shortTimings(theirs), times(compared), fmt.Sprintf("≤ %.1f×", maxRatio(over)), compared <= maxRatio(over))
			continue
		}
		t.add(figure, shortTimings(ours), r.name+" "+shortTimings(theirs), times(compared))
	}
	for i, r := range all {
		t.add(fmt.Sprintf("memory (VmRSS) after %d of these calls, %s", (rounds+warm)*calls, r.name), megabytes(vmRSS(b, servers[i].pid())), "", "")
	}
	b.ReportMetric(float64(ours.median())/1e3, "µs/call")
	b.ReportMetric(ratio(ours.median(), bare.median()), "×bare")
}

// shortTimings formats short times.
func shortTimings(s samples) string {
	return fmt.Sprintf("p50 %d µs, p99 %d µs", s.median().Microseconds(), s.quantile(0.99).Microseconds())
}

// raceStarts measures the time from the start of a process to its tool list, with the program
// itself, without apps, as the gateway.
func raceStarts(b *testing.B, t *table, all []rival) {
	rounds := roundLimit(b, 20)
	all = append([]rival(nil), all...)
	all[gatewayRival] = rival{name: "gateway", program: build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway")}
	took, memory := make([]samples, len(all)), make([]samples, len(all))
	for range rounds {
		for i, r := range all {
			home := newHome(b, 0)
			begun := time.Now()
			s := startServer(b, append(r.env(), home.env("")...), r.program, r.args...)
			tools := 1
			if i == gatewayRival {
				tools = fixedTools
			}
			s.handshake(b, tools)
			took[i].add(time.Since(begun))
			memory[i].add(time.Duration(vmRSS(b, s.pid())))
			s.end(b)
		}
	}
	for i, r := range all[bareRival:] {
		t.add("start to tools/list, beside "+r.name, millis(took[gatewayRival].median()), millis(took[i+bareRival].median()),
			times(ratio(took[gatewayRival].median(), took[i+bareRival].median())))
		t.add("memory (VmRSS) then, beside "+r.name, megabytes(int64(memory[gatewayRival].median())), megabytes(int64(memory[i+bareRival].median())),
			times(ratio(memory[gatewayRival].median(), memory[i+bareRival].median())))
	}
}

// script measures the cost of a script besides its calls: fifty cells read by fifty calls, and by
// one script with its text and result for a model; and the start of an empty script.
func (w *world) script(b *testing.B) {
	const cells = 50
	gateway := w.openGateway(b)
	run := func(script, args string) string {
		return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":"aai","tool":"script","args":{"script":%q,"args":%s}}}`, script, args)
	}
	const reads = `let n = 0; for (let i = 0; i < args.cells; i++) n += call(args.app, "read", {v: "cell " + i}).length; n`
	by := run(reads, fmt.Sprintf(`{"app":%q,"cells":%d}`, fastApp, cells))
	answer := gateway.ask(b, "tools/call", by).text(b)
	assert.Assert(b, is.Contains(answer, `"result":340`))
	assert.Assert(b, is.Contains(answer, `"calls":50`))
	ours, each := tokencount.Count(b, by)+tokencount.Count(b, answer), 0
	for i := range cells {
		call := fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":"read","args":{"v":"cell %d"}}}`, fastApp, i)
		each += tokencount.Count(b, call) + tokencount.Count(b, gateway.ask(b, "tools/call", call).text(b))
	}
	share := float64(ours) / float64(each)
	w.table.judge("tokens of a script that reads 50 cells", fmt.Sprint(ours), fmt.Sprintf("50 calls %d", each), times(share), "≤ 0.10×", share <= 0.1)

	var start, whole samples
	for range roundLimit(b, 40) {
		start.add(gateway.timed(b, run("1", "{}")))
		whole.add(gateway.timed(b, by))
	}
	w.table.judge("a script that does nothing, p50", millis(start.median()), "–", "–", "≤ 60 ms", start.median() <= 60*time.Millisecond)
	w.table.add("a script that reads 50 cells, p50", millis(whole.median()), "–", "–")
}

// baseVariable names the commit to compare the working tree with. The default is the branch point
// from main, or on main itself the commit before the last.
const baseVariable = "AAI_BENCH_BASE"

// version is this benchmark and the program echo at one commit.
type version struct {
	name  string
	bench string // compiled tests of this package
	tests string // their working directory
	echo  server
	added samples // time added by journal and gates
	calls samples
}

// BenchmarkCompareCommits compares the time that journal and gates add to a reading call, and the
// whole call, with an earlier commit: both are built, and alternate in the same run. It prints a
// table. Without history there is nothing to compare.
func BenchmarkCompareCommits(b *testing.B) {
	t := &table{}
	defer func() { fmt.Print(t.String()) }()
	b.ReportMetric(0, "ns/op")
	commit, err := baseCommit(b)
	if err != nil {
		t.add("beside an earlier commit", "", "did not run: "+firstLine(err), "")
		return
	}
	tree := checkout(b, commit)
	now, before := newVersion(b, "now", ".."), newVersion(b, commit[:min(len(commit), 7)], tree)
	bare := rival{program: build(b, "github.com/gybob/aai-gateway/bench/peers/baresdk")}.open(b, false, false)
	var floor samples
	const calls = 25
	for range roundLimit(b, 200) {
		for _, v := range []*version{now, before} {
			for range calls {
				v.calls.add(v.echo.timed(b, readCall))
			}
		}
		for range calls {
			floor.add(bare.timed(b, echoCall))
		}
	}
	for range roundLimit(b, 5) {
		for _, v := range []*version{now, before} {
			v.added.add(v.pathAdds(b))
		}
	}
	r := ratio(now.added.median(), before.added.median())
	t.judge("record and gates of a call that reads, p50", micros(now.added.median()), before.name+" "+micros(before.added.median()), times(r), "≤ 0.50×", r <= 0.5)
	t.add("a call that reads over stdio, p50", micros(now.calls.median()), before.name+" "+micros(before.calls.median()),
		times(ratio(now.calls.median(), before.calls.median())))
	ours, theirs := now.calls.median()-floor.median(), before.calls.median()-floor.median()
	t.add("the same without what the bare SDK takes", micros(ours), before.name+" "+micros(theirs), times(ratio(ours, theirs)))
	b.ReportMetric(r, "×before")
}

// baseCommit returns the commit to compare with.
func baseCommit(b *testing.B) (string, error) {
	b.Helper()
	if named := os.Getenv(baseVariable); named != "" {
		return git(b, "rev-parse", "--verify", named+"^{commit}")
	}
	head, err := git(b, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	for _, main := range []string{"origin/main", "main"} {
		if base, err := git(b, "merge-base", "HEAD", main); err == nil && base != head {
			return base, nil
		}
	}
	base, err := git(b, "rev-parse", "--verify", "HEAD~1")
	if err != nil {
		return "", errors.New("this checkout has no history; " + baseVariable + " names a commit")
	}
	return base, nil
}

func git(b *testing.B, args ...string) (string, error) {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), "git", args...).Output()
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		err = fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// checkout writes the files of the commit to a folder. Unlike a worktree, it leaves nothing in the
// repository if the benchmark is killed.
func checkout(b *testing.B, commit string) string {
	b.Helper()
	folder := b.TempDir()
	archive := filepath.Join(folder, "tree.tar")
	top, err := git(b, "rev-parse", "--show-toplevel")
	assert.NilError(b, err)
	_, err = git(b, "-C", top, "archive", "--format=tar", "-o", archive, commit)
	assert.NilError(b, err)
	tree := filepath.Join(folder, "tree")
	assert.NilError(b, os.Mkdir(tree, 0o700))
	out, err := exec.CommandContext(b.Context(), "tar", "-xf", archive, "-C", tree).CombinedOutput()
	assert.NilError(b, err, out)
	return tree
}

// newVersion compiles the tree and starts its echo.
func newVersion(b *testing.B, name, tree string) *version {
	b.Helper()
	folder := b.TempDir()
	v := &version{name: name, bench: filepath.Join(folder, "bench.test"), tests: filepath.Join(tree, "bench")}
	echo := filepath.Join(folder, "echo")
	for _, args := range [][]string{
		{"build", "-trimpath", "-ldflags", "-s -w", "-o", echo, "./bench/echo"},
		{"test", "-c", "-trimpath", "-o", v.bench, "./bench"},
	} {
		compile := exec.CommandContext(b.Context(), "go", args...)
		compile.Dir, compile.Env = tree, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		out, err := compile.CombinedOutput()
		assert.NilError(b, err, "%s %s", name, out)
	}
	h := newHome(b, 0)
	h.write(b, filepath.Join(fastApp, "aai.json"), callDescriptor(fastApp))
	v.echo = rival{name: name, program: echo, args: []string{h.folder}}.open(b, false, false)
	return v
}

// addedFigure matches the line of BenchmarkJournal/Path.
var addedFigure = regexp.MustCompile(`BenchmarkJournal/Path\S*\s.*?([0-9.]+) µs/added`)

// pathAdds returns the time added by journal and gates, from the version's own benchmark.
func (v *version) pathAdds(b *testing.B) time.Duration {
	b.Helper()
	run := exec.CommandContext(b.Context(), v.bench, "-test.run", "^$", "-test.bench", "^BenchmarkJournal$/^Path$", "-test.benchtime", "1x")
	run.Dir = v.tests
	run.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, shortVariable+"=") }) // as many rounds in both
	out, err := run.CombinedOutput()
	assert.NilError(b, err, "%s %s", v.name, out)
	found := addedFigure.FindSubmatch(out)
	assert.Assert(b, found != nil, "%s: no figure in:\n%s", v.name, out)
	added, err := strconv.ParseFloat(string(found[1]), 64)
	assert.NilError(b, err)
	return time.Duration(added * float64(time.Microsecond))
}
