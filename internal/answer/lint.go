package answer

import (
	"fmt"
	"slices"
)

// A Severity says how much a finding matters to users of the descriptor.
type Severity string

// Severities of findings.
const (
	SeverityError   Severity = "error"   // the descriptor is rejected, or breaks its users
	SeverityWarning Severity = "warning" // it works differently than intended, or people should doubt it
	SeverityHint    Severity = "hint"    // it could be better
)

// A LintFinding is one problem of a descriptor, with its place.
type LintFinding struct {
	Severity Severity `json:"severity"`
	// Rule names the check, such as "poisoning"; words are separated by hyphens.
	Rule string `json:"rule"`
	// Path is the JSON path of an existing value, such as platforms.linux.tools[1]; empty for the
	// whole document.
	Path string `json:"path,omitempty"`
	// Line and Column are the position of the problem, from 1; columns are bytes.
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Problem string `json:"problem"`
	Fix     string `json:"mend,omitempty"` // how to fix the problem
}

// A LintReport is the result of checking one descriptor.
type LintReport struct {
	App     string `json:"app,omitempty"`
	Version string `json:"version,omitempty"`
	Tools   int    `json:"tools"` // of all platforms
	// GuideTokens is the approximate length of the app's guide in a model's tokens.
	GuideTokens int           `json:"guide_tokens"`
	Findings    []LintFinding `json:"findings"` // in the order of the file
	// Omitted is the number of errors that the catalog found and did not list.
	Omitted int `json:"errors_omitted,omitempty"`
	// Comparison is set only if the call names an earlier version.
	Comparison *LintComparison `json:"comparison,omitempty"`
}

// HasSeverity reports whether there is a finding of that severity.
func (r *LintReport) HasSeverity(s Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f LintFinding) bool { return f.Severity == s })
}

// A LintChange is a difference between two versions of a descriptor that matters to its users.
type LintChange struct {
	Bump    Bump   `json:"bump"` // the bump that the change requires
	Path    string `json:"path"` // in the later version or, if removed, in the earlier one
	Problem string `json:"change"`
}

// A LintComparison lists the changes of a descriptor and reports whether its version reflects them.
type LintComparison struct {
	Old          string `json:"old"` // version of the earlier descriptor; New is that of the later
	New          string `json:"new"`
	RequiredBump Bump   `json:"needed"`
	ActualBump   Bump   `json:"made"`
	// IsSufficient reports whether the author raised the version by the required bump or more.
	IsSufficient bool         `json:"enough"`
	Changes      []LintChange `json:"changes"` // the most important first
}

// A Bump is the part of a version that is raised: none, PATCH, MINOR or MAJOR.
type Bump int

// Bumps, from the smallest to the largest.
const (
	NoBump Bump = iota
	Patch
	Minor
	Major
)

// bumpNames returns the names of the bumps, in the words of Semantic Versioning.
func bumpNames() []string { return []string{"none", "PATCH", "MINOR", "MAJOR"} }

// String returns the bump in the words of Semantic Versioning.
func (b Bump) String() string { return bumpNames()[b] }

// MarshalText returns the bump as String does.
func (b Bump) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the bump as String returns it.
func (b *Bump) UnmarshalText(text []byte) error {
	i := slices.Index(bumpNames(), string(text))
	if i < 0 {
		return fmt.Errorf("there is no part %q of a version", text)
	}
	*b = Bump(i)
	return nil
}
