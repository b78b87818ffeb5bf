package bench

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// samples are the times of one thing that was done again and again.
type samples []time.Duration

func (s *samples) add(d time.Duration) { *s = append(*s, d) }

// quantile is the nearest-rank quantile, such as the median for 0.5.
func (s samples) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (s samples) median() time.Duration { return s.quantile(0.5) }

// A table is what the benchmark prints in the end.
type table struct{ rows []row }

// A row is one figure, what stands beside it, how they compare and what was aimed
// at. Aim and the verdict are empty for figures that are only told.
type row struct{ figure, ours, comparison, compared, target, verdict string }

// add keeps a figure that is only told.
func (t *table) add(figure, ours, beside, compared string) {
	t.rows = append(t.rows, row{figure: figure, ours: ours, comparison: beside, compared: compared})
}

// judge keeps a figure with an aim.
func (t *table) judge(figure, ours, beside, compared, aim string, met bool) {
	verdict := "missed"
	if met {
		verdict = "met"
	}
	t.rows = append(t.rows, row{figure, ours, beside, compared, aim, verdict})
}

// String sets the table in columns.
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
