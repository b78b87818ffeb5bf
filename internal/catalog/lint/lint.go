// Package lint checks a descriptor for its author: errors, tolerated but doubtful parts, parts
// that agents will not understand, parts that people will reject, and a version that does not
// reflect the changes.
//
// [Check] returns an [answer.LintReport], and [Compare] an [answer.LintComparison] with an earlier version. The package
// works on bytes: it opens no files, uses no network, and runs nothing.
package lint

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/schema"
)

// maxFindings limits the findings of each rule.
const maxFindings = 25

// Check checks a descriptor; any bytes are allowed. The options are those for reading the
// descriptor; HostPlatform and Origin may be empty. It is safe for concurrent use.
func Check(source []byte, o catalog.Options) *answer.LintReport {
	c := &checker{doc: readDocument(source), options: o, report: &answer.LintReport{Findings: []answer.LintFinding{}},
		perRule: make(map[string]int)}
	c.parse(source)
	c.checkTexts()
	c.checkSecrets()
	sortFindings(c.report)
	return c.report
}

// sortFindings sorts the findings in the order of the file.
func sortFindings(r *answer.LintReport) {
	slices.SortStableFunc(r.Findings, func(a, b answer.LintFinding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// CheckAgainst is Check with a comparison with an earlier version, if Check finds no errors. An invalid earlier
// version is a finding.
func CheckAgainst(source, earlier []byte, o catalog.Options) *answer.LintReport {
	r := Check(source, o)
	if r.HasSeverity(answer.SeverityError) {
		return r
	}
	comparison, err := Compare(earlier, source, o)
	if err != nil {
		r.Findings = append(r.Findings, answer.LintFinding{
			Severity: answer.SeverityError, Rule: "semver", Line: 1, Column: 1,
			Problem: "the earlier version cannot be compared: " + aai.AsError(err).Message,
		})
		return r
	}
	r.Comparison = comparison
	if problem, mend := verdict(comparison); problem != "" {
		c := &checker{doc: readDocument(source), report: r, perRule: map[string]int{}}
		c.find(answer.SeverityError, "semver", "version", problem, mend)
		sortFindings(r)
	}
	return r
}

// checker collects the findings of one descriptor.
type checker struct {
	doc     *document
	options catalog.Options
	report  *answer.LintReport
	perRule map[string]int
}

// find adds a finding about a path. If the path does not exist, the finding is at the nearest
// ancestor, and the problem begins with the missing part.
func (c *checker) find(s answer.Severity, rule, path, problem, mend string) {
	if c.perRule[rule]++; c.perRule[rule] > maxFindings {
		return
	}
	v, beyond := c.doc.place(path)
	if beyond != "" {
		problem = beyond + ": " + problem
	}
	line, column := c.doc.position(v)
	c.report.Findings = append(c.report.Findings, answer.LintFinding{
		Severity: s, Rule: rule, Path: v.Mark, Line: line, Column: column, Problem: problem, Fix: mend,
	})
}

// parse parses the descriptor as the gateway does, once for each of its platforms, and checks the
// tools.
func (c *checker) parse(source []byte) {
	d, ok := c.read(source, c.options)
	if !ok {
		return
	}
	c.report.App, c.report.Version = d.App.ID, d.App.Descriptor.Version
	c.identity(d.App)
	for _, s := range c.doc.sections() {
		o := c.options
		o.HostPlatform = s.platform
		onPlatform, err := catalog.Parse(source, o)
		if err != nil {
			continue // reported before
		}
		c.section(s, onPlatform)
	}
	c.guide(d.App)
	c.checkPublishable(source, d.App)
}

// read reports the faults and warnings of Parse.
func (c *checker) read(source []byte, o catalog.Options) (*catalog.Descriptor, bool) {
	d, err := catalog.Parse(source, o)
	if err == nil {
		for _, w := range d.Warnings {
			c.find(answer.SeverityWarning, "doubtful", w.Path, w.Problem, "")
		}
		return d, true
	}
	faults, ok := errors.AsType[*catalog.Faults](err)
	if !ok {
		c.find(answer.SeverityError, "invalid", "", aai.AsError(err).Message, "")
		return nil, false
	}
	for _, f := range faults.List {
		c.find(answer.SeverityError, "invalid", f.Path, f.Problem, "")
		c.syntax()
	}
	c.report.Omitted = faults.Omitted
	return nil, false
}

// syntax moves the last finding to the position of the syntax error, if the finding is about it.
func (c *checker) syntax() {
	where := c.doc.fault
	if where == nil || len(c.report.Findings) == 0 {
		return
	}
	f := &c.report.Findings[len(c.report.Findings)-1]
	if problem, said := strings.CutSuffix(f.Problem, where.Position()); said {
		f.Problem, f.Line, f.Column = problem, where.Line, where.Column
	}
}

// checkPublishable reports the faults that the descriptor would have at a site's
// /.well-known/aai.json, where the limits are tighter.
func (c *checker) checkPublishable(source []byte, app *aai.App) {
	if app.Site.BaseURL == "" || c.options.Origin != "" {
		return
	}
	o := c.options
	o.Origin = urlOrigin(app.Site.BaseURL)
	_, err := catalog.Parse(source, o)
	faults, _ := errors.AsType[*catalog.Faults](err)
	if faults == nil {
		return
	}
	for _, f := range faults.List {
		c.find(answer.SeverityWarning, "published", f.Path, f.Problem, "It is valid as a file, but the site could not publish it.")
	}
}

// compile compiles every schema, as the gateway does at the first call.
func (c *checker) compile(path string, s aai.Schema) {
	if err := schema.Compile(s); err != nil {
		c.find(answer.SeverityError, "schema", path, aai.AsError(err).Message, "")
	}
}

// guide checks the length of the guide for agents.
func (c *checker) guide(app *aai.App) {
	const many, tooMany = 1200, 2000 // with a line for each tool
	tokens := estimate(catalog.Guide(app))
	c.report.GuideTokens = tokens
	mend := "Take out what an agent does not need, shorten descriptions, or split the app."
	switch {
	case tokens > tooMany:
		c.find(answer.SeverityWarning, "large-guide", "", "the guide takes about "+aai.Count(tokens, "token")+" of a model's context",
			mend)
	case tokens > many:
		c.find(answer.SeverityHint, "large-guide", "", "the guide takes about "+aai.Count(tokens, "token")+" of a model's context", mend)
	}
}

// estimate returns the approximate number of tokens of a text: one for four ASCII bytes, one for
// each other character.
func estimate(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return ascii/4 + other
}

// operations returns the operations of the guide, and whether each has an example.
func operations(app *aai.App) map[string]bool {
	var data struct {
		Operations []struct {
			Name    string
			Example json.RawMessage
		}
	}
	source, err := json.Marshal(catalog.GuideData(app))
	if err != nil || json.Unmarshal(source, &data) != nil {
		return nil
	}
	hasExample := make(map[string]bool)
	for _, o := range data.Operations {
		hasExample[o.Name] = o.Example != nil
	}
	return hasExample
}
