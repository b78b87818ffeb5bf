package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

const (
	maxStepSummary = 120 // of the summary of a step, in bytes
	// maxErrors is the number of failed steps reported with more than the code.
	maxErrors = 4
	maxLast   = 200 // of a step's value, as JSON, in bytes
	// maxExcerpt is the length of the excerpt of a longer text.
	maxExcerpt = 60
)

// report is the report of a workflow.
type report struct {
	doc        *Document
	full       bool
	rows       []stepRow
	values     []any // of the rows
	errors     int   // of steps
	acted      int   // number of acts
	uncertain  int   // number of acts that may not have been done
	missed     int   // number of skipped failed calls of the current step
	firstMiss  string
	undone     []undoneAct
	rolledBack bool
	warning    string
	foreign    []string // untrusted sources of the values
	healed     []string // the elements of recorded steps that were renamed or moved
}

// stepRow is the result of a step.
type stepRow struct {
	Name    string `json:"name,omitempty"`
	Tool    string `json:"tool"`
	OK      bool   `json:"ok"`
	Skipped bool   `json:"skipped,omitempty"` // its condition did not hold
	Failed  int    `json:"failed,omitempty"`  // number of skipped failed calls; Error is that of the first
	Error   string `json:"error,omitempty"`
	Result  any    `json:"result,omitempty"`
}

func newReport(d *Document, call *aai.Call) *report {
	full, _ := call.Args["full"].(bool)
	return &report{doc: d, full: full}
}

// addStep adds the result of a step.
func (p *report) addStep(s *Step, record *Record, failure *aai.Error) {
	p.counts(record.Acts)
	line := stepRow{Name: s.Name, Tool: s.summary(), OK: record.State == Done, Skipped: record.State == Skipped}
	if failure != nil {
		if p.errors++; p.full || p.errors <= maxErrors {
			line.Error = aai.CleanLabel(failure.Error(), maxStepSummary)
		} else {
			line.Error = string(failure.Code)
		}
	}
	if failure == nil && p.missed > 0 {
		line.Failed, line.Error = p.missed, aai.CleanLabel(p.firstMiss, maxStepSummary)
	}
	p.missed, p.firstMiss = 0, ""
	if p.full {
		line.Result = record.Value
	}
	p.rows, p.values = append(p.rows, line), append(p.values, record.Value)
}

// counts adds the acts to the numbers of the report.
func (p *report) counts(acts []Act) {
	p.acted += len(acts)
	for _, act := range acts {
		if act.Uncertain {
			p.uncertain++
		}
	}
}

// addEarlier adds the result of a step that another process ran.
func (p *report) addEarlier(s *Step, record Record) { p.addStep(s, &record, nil) }

// done returns the number of successful steps.
func (p *report) done() (n int) {
	for _, line := range p.rows {
		if line.OK {
			n++
		}
	}
	return n
}

// data returns the report for programs.
func (p *report) data(success bool, failure string) map[string]any {
	data := map[string]any{
		"success": success, "steps_completed": p.done(), "steps_total": len(p.doc.Steps),
		"results": p.rows, "rolled_back": p.rolledBack,
	}
	if failure != "" {
		data["error"] = failure
	}
	if len(p.healed) > 0 {
		data["healed"] = p.healed
	}
	if left := p.remaining(); len(left) > 0 {
		data["not_taken_back"] = left
	}
	if p.full && len(p.undone) > 0 {
		data["rollback"] = p.undone
	}
	return data
}

// remainder lists the acts that were not undone for one reason.
type remainder struct {
	Steps []string `json:"steps"`
	Why   string   `json:"why"`
}

// remaining returns the acts that were not undone.
func (p *report) remaining() (all []remainder) {
	for _, b := range p.undone {
		if b.Undone {
			continue
		}
		i := slices.IndexFunc(all, func(r remainder) bool { return r.Why == b.Says })
		if i < 0 {
			i, all = len(all), append(all, remainder{Why: b.Says})
		}
		all[i].Steps = append(all[i].Steps, b.Step+" ("+b.Tool+")")
	}
	return all
}

// result returns the report of a completed workflow.
func (p *report) result() *aai.Result {
	data := p.data(true, "")
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %s done", p.title(), p.done(), aai.Count(len(p.doc.Steps), "step"))
	for _, healed := range p.healed {
		b.WriteString("\n" + healed)
	}
	for i, line := range p.rows {
		switch {
		case line.Skipped:
			fmt.Fprintf(&b, "\n%d %s: not run, its condition did not hold", i+1, line.Tool)
		case !line.OK:
			fmt.Fprintf(&b, "\n%d %s: skipped: %s", i+1, line.Tool, line.Error)
		case line.Failed > 0:
			fmt.Fprintf(&b, "\n%d %s: %s failed: %s", i+1, line.Tool, aai.Count(line.Failed, "call"), line.Error)
		}
		if gave, _ := inShort(p.values[i]); p.full && line.OK && gave != "" {
			fmt.Fprintf(&b, "\n%d %s returned: %s", i+1, line.Tool, gave)
		}
	}
	if len(p.values) > 0 && !p.full {
		last := p.values[len(p.values)-1]
		gave, whole := inShort(last)
		if gave != "" {
			fmt.Fprintf(&b, "\nThe last step returned: %s", gave)
		}
		if gave != "" && whole {
			data["last"] = last
		}
	}
	return &aai.Result{Text: b.String(), Data: data, DataComplete: true, Warning: p.warning,
		UntrustedSource: strings.Join(p.foreign, ", ")}
}

func (p *report) title() string {
	return cmp.Or(aai.CleanLabel(p.doc.Name, maxStepName), "Workflow")
}

// inShort returns a step's value in one line. For an object that is too long, it returns the
// member "value", or the beginning of the text. whole is false if something was omitted.
func inShort(value any) (text string, whole bool) {
	text, err := asText(value)
	if err != nil {
		return "", false
	}
	if len(text) <= maxLast {
		return aai.CleanLabel(text, maxLast), true
	}
	if object, ok := value.(map[string]any); ok {
		if said, ok := object["text"].(string); ok && object["value"] == nil {
			said, _, _ = strings.Cut(said, "\n")
			return aai.CleanLabel(said, maxExcerpt), false
		}
		if of, err := asText(object["value"]); err == nil && object["value"] != nil {
			text = of
		}
	}
	return aai.CleanLabel(text, maxLast), false
}

// failure returns the report of a failed workflow as an error.
func (p *report) failure(s *Step, cause *aai.Error) error {
	e := *cause
	e.Questions = nil // an answer would repeat all steps
	e.Delivery = p.delivery(cause)
	e.Message = fmt.Sprintf("%s failed at %s of %d (%s): %s", p.title(), s.Label, len(p.doc.Steps),
		s.summary(), cause.Message)
	took, left := len(p.undone), 0
	for _, l := range p.remaining() {
		left += len(l.Steps)
		e.Message += "\nnot undone: " + strings.Join(l.Steps, ", ") + ": " + l.Why
	}
	took -= left
	switch {
	case p.rolledBack && left > 0:
		e.Message += fmt.Sprintf("\nrolled back: %s undone, %d not", aai.Count(took, "act"), left)
	case p.rolledBack:
		e.Message += fmt.Sprintf("\nrolled back: %s undone, none is left", aai.Count(took, "act"))
	case p.acted > 0:
		e.Message += "\n" + aai.Count(p.acted-p.uncertain, "act") + " done, and not undone"
		if p.uncertain > 0 {
			e.Message += fmt.Sprintf("; of %d it is unknown whether it was done", p.uncertain)
		}
	case cause.RetrySafe():
		e.Message += "\nnothing was changed"
	}
	if p.warning != "" {
		e.Message += "\n" + p.warning
	}
	e.Data = p.data(false, cause.Error())
	return &e
}

// delivery returns the cause's delivery if a repetition is unsafe, and else whether any act remains in
// effect.
func (p *report) delivery(cause *aai.Error) aai.Delivery {
	if !cause.RetrySafe() {
		return cause.Delivery
	}
	left := p.acted
	for _, b := range p.undone {
		if b.Undone {
			left--
		}
	}
	if left > 0 {
		return aai.Delivered
	}
	return aai.NotDelivered
}
