package gui

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/a11y"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/vision"
)

// maxIssues limits the issues in a reply.
const maxIssues = 100

// auditIssue is an issue of an accessibility audit as data.
type auditIssue struct {
	Severity    string `json:"severity"`
	Rule        string `json:"rule"`
	Criterion   string `json:"criterion,omitempty"`
	Element     string `json:"element"`
	Ref         string `json:"element_ref"`
	Path        string `json:"path"` // the elements around it and itself, from the window on
	Description string `json:"description"`
	Suggestion  string `json:"suggestion"`
	Picture     int    `json:"picture,omitempty"` // the number of its cut-out among the pictures of the reply, from 1
}

// auditReport is the result of an accessibility audit.
type auditReport struct {
	Passed  bool         `json:"passed"` // no issue is critical or serious
	Score   float64      `json:"score"`
	Checked int          `json:"checked_elements"`
	Count   int          `json:"issue_count"`
	Issues  []auditIssue `json:"issues"`
	Summary string       `json:"summary"`
}

func (d *engine) a11yAuditTool() spec {
	return spec{
		name: "ax_a11y_audit", title: "Accessibility audit", effect: aai.Reads, pictures: true, unlisted: true, lengthy: true, timeout: visionTimeout,
		returns: `"passed": {"type": "boolean"}, "score": {"type": "number"}, "checked_elements": {"type": "integer"}, "issue_count": {"type": "integer"},
			"issues": {"type": "array", "items": {"type": "object"}}, "summary": {"type": "string"}`,
		description: "Check a window, or the page of a browser, against rules of WCAG 2.2: names, labels, contrast, target size, titles, focus.",
		params: appProp + `, "scope": {"type": "string", "enum": ["full", "focused_window", "element"], "default": "focused_window"},` + queryProp + `,` + nthProp + `,
			"standards": {"type": "array", "items": {"type": "string", "enum": ["wcag_a", "wcag_aa", "wcag_aaa", "section508"]}, "default": ["wcag_aa"]},
			"cutouts": {"type": "boolean", "description": "Show each element with an issue in a picture of its own, up to 10"}`,
		required: `["app"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withView(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
				roots, err := v.auditRoots(ctx)
				if err != nil {
					return nil, err
				}
				return audit(ctx, v, roots, nil)
			})
		},
	}
}

// audit checks the elements with the indexes, and all inside them.
func audit(ctx context.Context, v *view, roots []int, walk *a11y.Walk) (*aai.Result, error) {
	standards := []string{}
	given, _ := v.call.Args["standards"].([]any)
	for _, s := range given {
		standards = append(standards, fmt.Sprint(s))
	}
	if len(standards) == 0 {
		standards = []string{a11y.WCAGAA}
	}
	out := &aai.Result{DataComplete: true}
	report := auditReport{Passed: true, Score: 100, Issues: []auditIssue{}}
	var unseen error
	for n, root := range roots {
		gateway.Progress(ctx, float64(n+1), float64(len(roots)+1), "Checking "+aai.CleanLabel(v.snapshot.Elements[root].Name, 60))
		scope := a11y.Scope{Snapshot: v.snapshot, Root: root, Standards: standards, Walk: walk}
		w, err := v.windowOf(ctx, root)
		if err == nil {
			scope.Origin = image.Pt(w.Frame.X, w.Frame.Y)
			scope.Picture, err = v.engine.captureUnlessTyped(ctx, v.app, w)
		}
		if err != nil {
			unseen = err
		}
		found := a11y.Run(scope)
		report.Score, report.Checked = min(report.Score, found.Score), report.Checked+found.Checked
		begin := len(report.Issues)
		if picture := v.addIssues(&report, found.Issues, scope); picture != nil {
			out.Images = append(out.Images, *picture)
		}
		if params.Bool(v.call, "cutouts") && scope.Picture != nil {
			v.cutOut(out, report.Issues[begin:], found.Issues, scope)
		}
	}
	v.finishAudit(&report, out, unseen)
	return out, nil
}

// auditRoots returns the elements to check, with all inside them.
func (v *view) auditRoots(ctx context.Context) ([]int, error) {
	text := params.String(v.call, "query")
	scope := params.String(v.call, "scope")
	switch {
	case text != "":
		m, err := v.locate(ctx, text)
		return []int{m.index}, err
	case scope == "element":
		return nil, aai.Errorf(aai.InvalidParams, "query: expected the element to check, for the scope element")
	case v.app.IsBrowser:
		return v.awaitPages(ctx, scope == "full")
	case scope == "full":
		return slices.DeleteFunc(v.snapshot.Children(-1), func(i int) bool { return !v.snapshot.IsVisible(i) }), nil
	}
	top := v.frontTopLevel(ctx)
	if top < 0 {
		return nil, v.noWindowError()
	}
	return []int{top}, nil
}

func (v *view) noWindowError() error {
	return aai.Errorf(aai.AutomationFailed, "%s has no window that shows", aai.CleanLabel(v.app.Name, 60))
}

// pageLoadTime is the time in which a page should load before it is audited.
const pageLoadTime = 10 * time.Second

// awaitPages waits until the page of the front window, or of each window, has loaded, and returns it. The browser's own
// controls are not the site's.
func (v *view) awaitPages(ctx context.Context, inAll bool) ([]int, error) {
	for p := v.newAdaptiveWait(pageLoadTime); ; {
		tops := []int{v.frontTopLevel(ctx)}
		if inAll {
			tops = slices.DeleteFunc(v.snapshot.Children(-1), func(i int) bool { return !v.snapshot.IsVisible(i) })
		}
		if len(tops) == 0 || tops[0] < 0 {
			return nil, v.noWindowError()
		}
		var pages []int
		loading := false
		for _, top := range tops {
			if page := v.largestPage(top); page >= 0 {
				pages, loading = append(pages, page), loading || v.isLoading(page)
			}
		}
		if len(pages) > 0 && !loading {
			return pages, nil
		}
		if !p.awaitChange(ctx) {
			e := aai.Errorf(aai.AutomationFailed, "%s shows no page that has loaded", aai.CleanLabel(v.app.Name, 60))
			e.Hint = "Wait until the page has loaded, then call again. The scope element with a query checks a part of the browser itself."
			return nil, e
		}
		if err := v.refresh(ctx); err != nil {
			return nil, err
		}
	}
}

// isLoading reports whether the page is loading, or has nothing in it yet.
func (v *view) isLoading(page int) bool {
	e := &v.snapshot.Elements[page]
	return e.States.Has(desktop.Busy) || e.End == page+1
}

// largestPage returns the largest document that shows in the element; -1 if there is none.
func (v *view) largestPage(in int) int {
	best, area := -1, 0
	for i := in; i < v.snapshot.Elements[in].End; i++ {
		e := &v.snapshot.Elements[i]
		if size := e.Frame.W * e.Frame.H; e.Role == desktop.Document && size > area && v.snapshot.IsVisible(i) {
			best, area = i, size
		}
	}
	return best
}

// addIssues adds the issues to the report, and returns a picture that shows them; nil without one.
func (v *view) addIssues(report *auditReport, issues []a11y.Issue, scope a11y.Scope) *aai.Image {
	var marks []vision.Mark
	for _, issue := range issues {
		report.Count++
		if issue.Rule.Severity == a11y.Critical || issue.Rule.Severity == a11y.Serious {
			report.Passed = false
		}
		if len(report.Issues) >= maxIssues {
			continue
		}
		e := &v.snapshot.Elements[issue.Index]
		ref := v.ref(issue.Index)
		report.Issues = append(report.Issues, auditIssue{
			issue.Rule.Severity, issue.Rule.ID, issue.Rule.Criterion, desktop.Describe(e), ref, v.rolePath(issue.Index), issue.Problem, issue.Rule.Mend, 0,
		})
		if e.Parent >= 0 && !slices.ContainsFunc(marks, func(m vision.Mark) bool { return m.Label == ref }) {
			marks = append(marks, vision.Mark{Label: ref, Frame: image.Rect(e.Frame.X, e.Frame.Y, e.Frame.X+e.Frame.W, e.Frame.Y+e.Frame.H)})
		}
	}
	if len(marks) == 0 || scope.Picture == nil {
		return nil
	}
	picture, scale := vision.Scale(vision.Clone(scope.Picture), defaultSide)
	vision.DrawMarks(picture, marks, scope.Origin, scale)
	data, err := vision.EncodePNG(picture)
	if err != nil {
		return nil
	}
	return &aai.Image{MIME: "image/png", Data: data}
}

const (
	// maxCutOuts limits the cut-outs in a reply.
	maxCutOuts = 10
	// cutOutMargin is the width of the surroundings in a cut-out, in pixels.
	cutOutMargin = 12
)

// cutOut adds a picture of the element of each issue, one for each element.
func (v *view) cutOut(out *aai.Result, issues []auditIssue, found []a11y.Issue, scope a11y.Scope) {
	numbers := make(map[int]int)
	for n := range issues {
		i := found[n].Index
		f := v.snapshot.Elements[i].Frame
		at := image.Rect(f.X, f.Y, f.X+f.W, f.Y+f.H).Sub(scope.Origin).Inset(-cutOutMargin).Intersect(scope.Picture.Rect)
		if numbers[i] == 0 && !f.Empty() && !at.Empty() && len(numbers) < maxCutOuts {
			picture, _ := vision.Scale(vision.Crop(scope.Picture, at), defaultSide)
			if data, err := vision.EncodePNG(picture); err == nil {
				out.Images = append(out.Images, aai.Image{MIME: "image/png", Data: data})
				numbers[i] = len(out.Images)
			}
		}
		issues[n].Picture = numbers[i]
	}
}

// rolePath returns the way to the element from its window, such as window "Mail" > list[2] > button "Send". Elements
// without a name have their number among those of their role.
func (v *view) rolePath(i int) string {
	var steps []string
	for ; i >= 0; i = v.snapshot.Elements[i].Parent {
		e := &v.snapshot.Elements[i]
		step := string(e.Role)
		if !desktop.IsBlank(e.Name) {
			step += " " + desktop.Quote(e.Name, maxPathWord)
		} else {
			n := 1
			for _, s := range v.snapshot.Children(e.Parent) {
				if s < i && v.snapshot.Elements[s].Role == e.Role {
					n++
				}
			}
			step += fmt.Sprintf("[%d]", n)
		}
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	return strings.Join(steps, " > ")
}

// finishAudit writes the summary and the text of the reply.
func (v *view) finishAudit(report *auditReport, out *aai.Result, unseen error) {
	verdict := "Failed"
	if report.Passed {
		verdict = "Passed"
	}
	report.Summary = fmt.Sprintf("%s: %d issues in %d elements, score %.1f of 100.", verdict, report.Count, report.Checked, report.Score)
	var b strings.Builder
	for _, i := range report.Issues {
		fmt.Fprintf(&b, "%s %s: %s [%s]: %s\n", i.Severity, i.Rule, i.Element, i.Ref, i.Description)
	}
	out.Text = report.Summary
	if len(report.Issues) > 0 {
		out.Text += "\n" + desktop.Fence(b.String(), v.app.Name) + "The data has the criterion and the mend of each."
	}
	if report.Count > len(report.Issues) {
		out.Text += fmt.Sprintf("\nThe first %d are listed; scope element with a query checks a part.", len(report.Issues))
	}
	if unseen != nil {
		out.Warning = "the contrast was not checked: " + aai.AsError(unseen).Message
	}
	out.Data = *report
}
