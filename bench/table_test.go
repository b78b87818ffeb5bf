package bench

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

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
