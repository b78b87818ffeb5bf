package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// snapshots runs the benchmark of internal/platform/linux/atspi, in its own process. Only that
// package can make the gateway forget a connected app, for a cold read. Cold reads everything of a
// connected app; warm repeats that at once, without changes; read reads one element with all its
// data, and its baseline is the necessary requests in one round trip.
func (w *desktopBench) snapshots(b *testing.B) {
	told := snapshotFigures(b)
	const warmAim, readAim = 3 * time.Millisecond, 1.5
	for _, app := range []struct {
		key, name string
		aim       time.Duration
	}{
		{"mousepad", "mousepad", 8 * time.Millisecond},
		{"chromium", "a page in Chromium", 40 * time.Millisecond},
		{"calculator", "gnome-calculator", 50 * time.Millisecond},
		{"designer", "Designer", 90 * time.Millisecond},
		{"calc", "LibreOffice Calc", 180 * time.Millisecond},
	} {
		cold, warm, read, floor := told[app.key+"/cold"], told[app.key+"/warm"], told[app.key+"/read"], told[app.key+"/floor"]
		beside, compared := "", ""
		if walks := w.walks[app.key]; len(walks) > 0 {
			beside, compared = "pyatspi "+millis(walks.median()), times(ratio(cold.median, walks.median()))
		}
		w.table.judge(fmt.Sprintf("snapshot of %s, %d elements, cold", app.name, cold.nodes), cold.String(), beside, compared,
			fmt.Sprintf("≤ %.0f ms", float64(app.aim)/1e6), cold.median <= app.aim)
		w.table.judge("the same, again at once", warm.String(), "", "", "≤ 3 ms", warm.median <= warmAim)
		r := ratio(read.median, floor.median)
		w.table.judge("one element of it, all that is known, read anew", read.String(), "all it must ask, at once "+floor.String(), times(r), "≤ 1.5×", r <= readAim)
	}
	b.ReportMetric(0, "ns/op")
}

// snapshotFigure is one figure of the other benchmark.
type snapshotFigure struct {
	median, p95 time.Duration
	nodes       int
}

func (f snapshotFigure) String() string {
	return fmt.Sprintf("%s (p95 %s)", millis(f.median), millis(f.p95))
}

// snapshotFigures runs the other benchmark and reads its lines, such as
//
//	BenchmarkSnapshot/mousepad/cold-2  30  321.0 nodes  6.15 p50-ms  7.50 p95-ms
func snapshotFigures(b *testing.B) map[string]snapshotFigure {
	b.Helper()
	command := exec.CommandContext(b.Context(), "go", "test", "-run", "^$", "-bench", "^BenchmarkSnapshot$", "-benchtime", fmt.Sprintf("%dx", roundLimit(b, 30)),
		"github.com/gybob/aai-gateway/internal/platform/linux/atspi")
	out, err := command.CombinedOutput()
	assert.NilError(b, err, out)
	told := make(map[string]snapshotFigure)
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		name, ok := strings.CutPrefix(lines.Text(), "BenchmarkSnapshot/")
		if !ok {
			continue
		}
		fields := strings.Fields(name)
		key, _, _ := strings.Cut(fields[0], "-")
		var f snapshotFigure
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				b.Fatalf("%v in %q", err, lines.Text())
			}
			switch fields[i+1] {
			case "p50-ms":
				f.median = milliseconds(value)
			case "p95-ms":
				f.p95 = milliseconds(value)
			case "nodes":
				f.nodes = int(value)
			}
		}
		told[key] = f
	}
	assert.Assert(b, len(told) != 0, "no figures in:\n%s", out)
	return told
}
