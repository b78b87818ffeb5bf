package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"gotest.tools/v3/assert"
)

// build compiles one of the module's programs as released, but with the tag benchmarks, and
// returns its path. With this tag the program accepts the settings of a home without confirmation.
func build(b *testing.B, pkg string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), filepath.Base(pkg))
	compile := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-tags", "benchmarks", "-ldflags", "-s -w -funcalign=16", "-o", program, pkg)
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := compile.CombinedOutput()
	assert.NilError(b, err, out)
	return program
}

// runOnce runs a benchmark that reports its own figures, instead of the time of an operation.
func runOnce(b *testing.B, name string, run func(b *testing.B)) {
	b.Run(name, func(b *testing.B) {
		run(b)
		b.ReportMetric(0, "ns/op")
	})
}

// elapsed returns the time that do takes.
func elapsed(do func()) time.Duration {
	begun := time.Now()
	do()
	return time.Since(begun)
}

// killAtEnd ends a started process with the benchmark.
func killAtEnd(b *testing.B, process *exec.Cmd) {
	b.Helper()
	b.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
}

// home is a user's home folder.
type home struct{ folder string }

// newHome creates a home with n descriptors of unused apps.
func newHome(b *testing.B, n int) home {
	b.Helper()
	h := home{b.TempDir()}
	for i := range n {
		id := fmt.Sprintf("org.example.App%d", i)
		h.install(b, id, typicalDescriptor(id))
	}
	return h
}

// env returns the environment of a program in the home: no other descriptors, and the bus at the
// address.
func (h home) env(bus string) []string {
	return []string{
		"HOME=" + h.folder, "PATH=" + os.Getenv("PATH"), "DBUS_SESSION_BUS_ADDRESS=" + bus,
		"XDG_DATA_HOME=" + filepath.Join(h.folder, "share"), "XDG_DATA_DIRS=" + filepath.Join(h.folder, "none"),
	}
}

// install installs a descriptor with an old modification time.
func (h home) install(b *testing.B, id, source string) {
	b.Helper()
	h.write(b, filepath.Join(".aai", id, "aai.json"), source)
}

// Limits of a configuration: practically none, and the program's limits of concurrent calls of an
// agent.
const (
	noLimits = `"rate_limits": {"declared_rps": 1000000, "declared_rpm": 10000000, "declared_concurrency": 10000,
		"rps": 1000000, "rpm": 10000000, "concurrency": 10000}`
	usualSlots = `"rate_limits": {"declared_rps": 1000000, "declared_rpm": 10000000, "rps": 1000000, "rpm": 10000000}`
)

// allow lets every caller use every tool of the apps, without limits.
func (h home) allow(b *testing.B, apps ...string) {
	b.Helper()
	h.configure(b, noLimits, apps...)
}

// configure lets every caller use every tool of the apps, and writes additional settings.
func (h home) configure(b *testing.B, more string, apps ...string) {
	b.Helper()
	var grants []string
	for _, app := range apps {
		grants = append(grants, fmt.Sprintf(`{"app": %q, "tools": ["*"], "caller": "*", "expires": "2100-01-01T00:00:00Z"}`, app))
	}
	h.write(b, ".aai/config.json", `{"consent": {"preapproved": [`+strings.Join(grants, ", ")+`]}, `+more+`}`)
}

func (h home) write(b *testing.B, name, text string) {
	b.Helper()
	path := filepath.Join(h.folder, filepath.FromSlash(name))
	assert.NilError(b, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(b, os.WriteFile(path, []byte(text), 0o600))
	yesterday := time.Now().Add(-24 * time.Hour)
	assert.NilError(b, os.Chtimes(path, yesterday, yesterday))
}

// typicalDescriptor has about 3 KB and five tools, like those of real apps.
func typicalDescriptor(id string) string {
	var tools []string
	for _, name := range []string{"open_file", "save_file", "search_items", "export_report", "send_message"} {
		tools = append(tools, fmt.Sprintf(`{
      "name": %q, "description": "Does one of the five things that this app can do, as its name says.", "effect": "changes",
      "parameters": {"type": "object", "properties": {
        "path": {"type": "string", "description": "Where the file is, as an absolute path"},
        "format": {"type": "string", "enum": ["pdf", "html", "text"], "default": "pdf"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "At most so many"}},
        "required": ["path"]},
      "method": "DoIt", "output_parser": "json", "timeout": 20}`, name))
	}
	return fmt.Sprintf(`{"schema_version": "1.0", "appId": %q, "name": "An app", "description": "One app of many, with five tools.",
  "version": "1.0", "platforms": {"linux": {"automation": "dbus", "service": %q, "object": "/org/example/App",
  "interface": "org.example.App", "tools": [%s]}}}`, id, id, strings.Join(tools, ",\n"))
}

// samples are repeated measurements of one thing.
type samples []time.Duration

func (s *samples) add(d time.Duration) { *s = append(*s, d) }

// quantile returns the nearest-rank quantile, such as the median for 0.5.
func (s samples) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (s samples) median() time.Duration { return s.quantile(0.5) }

// table is the output of a benchmark.
type table struct{ rows []row }

// row is one figure, its comparison, their ratio and the target. target and verdict are empty for
// figures without a target.
type row struct{ figure, ours, comparison, compared, target, verdict string }

// add adds a figure without a target.
func (t *table) add(figure, ours, beside, compared string) {
	t.rows = append(t.rows, row{figure: figure, ours: ours, comparison: beside, compared: compared})
}

// judge adds a figure with a target.
func (t *table) judge(figure, ours, beside, compared, aim string, met bool) {
	verdict := "missed"
	if met {
		verdict = "met"
	}
	t.rows = append(t.rows, row{figure, ours, beside, compared, aim, verdict})
}

// String formats the table in columns.
func (t *table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nfigure\tgateway\tbeside\tcompared\taim\t")
	for _, r := range t.rows {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.figure, r.ours, r.comparison, r.compared, r.target, r.verdict)
	}
	_ = w.Flush()
	return b.String() + "\n"
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func times(r float64) string { return fmt.Sprintf("%.2f×", r) }

func more(d time.Duration) string { return fmt.Sprintf("%+.2f ms", float64(d)/1e6) }

// shortVariable holds the maximum of rounds of each benchmark: with few, all of them end in the
// time of a test. Their figures are meaningless then.
const shortVariable = "AAI_BENCH_ROUNDS"

// roundLimit returns the number of rounds of a benchmark: n, or fewer.
func roundLimit(b *testing.B, n int) int {
	b.Helper()
	short := os.Getenv(shortVariable)
	if short == "" {
		return n
	}
	most, err := strconv.Atoi(short)
	assert.NilError(b, err, "%s %q", shortVariable, short)
	assert.Assert(b, most >= 1, "%s: expected a number of rounds, got %q", shortVariable, short)
	return min(n, most)
}

// watchDuration returns the duration of an observation, the short one in a short run.
func watchDuration(long, short time.Duration) time.Duration {
	if os.Getenv(shortVariable) != "" {
		return short
	}
	return long
}
