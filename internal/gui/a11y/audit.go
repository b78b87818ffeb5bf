package a11y

import (
	"cmp"
	"image"
	"math"
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The severities of issues, as axe-core names them.
const (
	Critical = "critical"
	Serious  = "serious"
	Moderate = "moderate"
	Minor    = "minor"
)

// The standards that an audit can apply. Each of WCAG's includes those before it.
const (
	WCAGA      = "wcag_a"
	WCAGAA     = "wcag_aa"
	WCAGAAA    = "wcag_aaa"
	Section508 = "section508"
)

// A Rule is one check of elements.
type Rule struct {
	ID        string
	Criterion string // of WCAG, such as "4.1.2 Name, Role, Value"; "" for a practice that WCAG does not demand
	Standard  string // the lowest that demands it
	Severity  string
	Mend      string
	// check returns the problem of the element, or "".
	check func(a *audit, i int) string
}

// An Issue is a fault of one element.
type Issue struct {
	Rule    *Rule
	Index   int // in the snapshot
	Problem string
}

// A Scope is the part of a snapshot to audit.
type Scope struct {
	Snapshot *desktop.Snapshot
	Root     int // its index: a window or an element
	// Picture shows the screen from the point Origin; nil: contrast is not checked.
	Picture   *image.RGBA
	Origin    image.Point
	Standards []string
	Walk      *Walk // nil: the keyboard focus is not checked
}

// A Report is the result of an audit.
type Report struct {
	Issues  []Issue // the most severe first
	Checked int     // elements
	Score   float64 // from 0 to 100
}

// audit is the state of one audit.
type audit struct {
	Scope
	seen    []bool
	targets []int // visible elements to press
}

// Run checks the elements of the scope that show.
func Run(scope Scope) Report {
	a := &audit{Scope: scope, seen: scope.Snapshot.VisibleElements()}
	all := scope.Snapshot.Elements
	for i := scope.Root; i < all[scope.Root].End; i++ {
		if a.seen[i] && all[i].Role.IsInteractive() && !all[i].Frame.Empty() {
			a.targets = append(a.targets, i)
		}
	}
	var report Report
	weight := 0.0
	for i := scope.Root; i < all[scope.Root].End; i++ {
		if !a.seen[i] {
			continue
		}
		report.Checked++
		for _, rule := range Rules() {
			if !rule.appliesTo(scope.Standards) {
				continue
			}
			if problem := rule.check(a, i); problem != "" {
				report.Issues = append(report.Issues, Issue{&rule, i, problem})
				weight += map[string]float64{Critical: 10, Serious: 5, Moderate: 2, Minor: 1}[rule.Severity]
			}
		}
	}
	slices.SortStableFunc(report.Issues, func(x, y Issue) int {
		return cmp.Compare(rank(x.Rule.Severity), rank(y.Rule.Severity))
	})
	report.Score = math.Round(1000*math.Exp(-weight/(10+float64(report.Checked)/2))) / 10
	return report
}

func rank(severity string) int {
	return slices.Index([]string{Critical, Serious, Moderate, Minor}, severity)
}

// appliesTo reports whether one of the standards demands the rule. Section 508 demands WCAG 2.0's levels A and AA.
func (r *Rule) appliesTo(standards []string) bool {
	levels := []string{WCAGA, WCAGAA, WCAGAAA}
	for _, s := range standards {
		if s == Section508 {
			s = WCAGAA
		}
		if slices.Index(levels, r.Standard) <= slices.Index(levels, s) {
			return true
		}
	}
	return false
}
