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
)

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
