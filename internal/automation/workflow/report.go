package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

const (
	maxStepSummary = 120 // of what one step says, in bytes
	// maxErrors is of how many steps that failed more than the code is said.
	maxErrors = 4
	maxLast   = 200 // of what one step gave, as JSON, in bytes
	// maxExcerpt is how much of a text is said of what is longer.
	maxExcerpt = 60
)

// A report is what there is to say of a workflow.
type report struct {
	doc        *Document
	full       bool
	rows       []stepRow
	values     []any // of the rows
	errors     int   // of steps
	acted      int   // how many acts there were
	uncertain  int   // of how many of them nobody knows
	missed     int   // how many calls of the step under way failed, and were passed over
	firstMiss  string
	undone     []undoneAct
	rolledBack bool
	warning    string
	foreign    []string // strangers whose words are in it
}

// A row is what became of a step.
type stepRow struct {
	Name    string `json:"name,omitempty"`
	Tool    string `json:"tool"`
	OK      bool   `json:"ok"`
	Skipped bool   `json:"skipped,omitempty"` // its condition did not hold
	Failed  int    `json:"failed,omitempty"`  // of its calls, that were passed over; Error is the first's
	Error   string `json:"error,omitempty"`
	Result  any    `json:"result,omitempty"`
}

func newReport(d *Document, call *aai.Call) *report {
	full, _ := call.Args["full"].(bool)
	return &report{doc: d, full: full}
}

// addStep says how a step ended.
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

// counts counts what was done.
func (p *report) counts(acts []Act) {
	p.acted += len(acts)
	for _, act := range acts {
		if act.Uncertain {
			p.uncertain++
		}
	}
}

// addEarlier says how a step ended that another process ran.
func (p *report) addEarlier(s *Step, record Record) { p.addStep(s, &record, nil) }

// done is how many steps ended well.
func (p *report) done() (n int) {
	for _, line := range p.rows {
		if line.OK {
			n++
		}
	}
	return n
}

// data is the report for programs.
func (p *report) data(success bool, failure string) map[string]any {
	data := map[string]any{
		"success": success, "steps_completed": p.done(), "steps_total": len(p.doc.Steps),
		"results": p.rows, "rolled_back": p.rolledBack,
	}
	if failure != "" {
		data["error"] = failure
	}
	if left := p.remaining(); len(left) > 0 {
		data["not_taken_back"] = left
	}
	if p.full && len(p.undone) > 0 {
		data["rollback"] = p.undone
	}
	return data
}

// A rest is what is left of what was done, for one reason.
type remainder struct {
	Steps []string `json:"steps"`
	Why   string   `json:"why"`
}

// remaining is what could not be taken back.
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

// result is the report of a workflow that came to its end.
func (p *report) result() *aai.Result {
	data := p.data(true, "")
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d steps done", p.title(), p.done(), len(p.doc.Steps))
	for i, line := range p.rows {
		switch {
		case line.Skipped:
			fmt.Fprintf(&b, "\n%d %s: not run, its condition did not hold", i+1, line.Tool)
		case !line.OK:
			fmt.Fprintf(&b, "\n%d %s: skipped: %s", i+1, line.Tool, line.Error)
		case line.Failed > 0:
			fmt.Fprintf(&b, "\n%d %s: %s failed: %s", i+1, line.Tool, counted(line.Failed, "call"), line.Error)
		}
		if gave, _ := inShort(p.values[i]); p.full && line.OK && gave != "" {
			fmt.Fprintf(&b, "\n%d %s gave: %s", i+1, line.Tool, gave)
		}
	}
	if len(p.values) > 0 && !p.full {
		last := p.values[len(p.values)-1]
		gave, whole := inShort(last)
		if gave != "" {
			fmt.Fprintf(&b, "\nThe last gave: %s", gave)
		}
		if gave != "" && whole {
			data["last"] = last
		}
	}
	return &aai.Result{Text: b.String(), Data: data, DataComplete: true, Warning: p.warning, UntrustedSource: strings.Join(p.foreign, ", ")}
}

func (p *report) title() string {
	return cmp.Or(aai.CleanLabel(p.doc.Name, maxStepName), "Workflow")
}

// inShort is what a step gave, in one line; of an object that is too long for it, the value it
// is about, or the beginning of what is said of it. Whole is false where something was left out.
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

// failure is the report of a workflow that a step ended, as its error.
func (p *report) failure(s *Step, cause *aai.Error) error {
	e := *cause
	e.Questions = nil // nobody can answer in the middle: all would run again
	e.Delivery = p.delivery(cause)
	e.Message = fmt.Sprintf("%s failed at %s of %d (%s): %s", p.title(), s.Label, len(p.doc.Steps), s.summary(), cause.Message)
	took, left := len(p.undone), 0
	for _, l := range p.remaining() {
		left += len(l.Steps)
		e.Message += "\nnot taken back: " + strings.Join(l.Steps, ", ") + ": " + l.Why
	}
	took -= left
	switch {
	case p.rolledBack && left > 0:
		e.Message += fmt.Sprintf("\nrolled back: %s taken back, %d not", counted(took, "act"), left)
	case p.rolledBack:
		e.Message += fmt.Sprintf("\nrolled back: %s taken back, none is left", counted(took, "act"))
	case p.acted > 0:
		e.Message += "\n" + counted(p.acted-p.uncertain, "act") + " done, and not taken back"
		if p.uncertain > 0 {
			e.Message += fmt.Sprintf("; of %d nobody knows whether it was done", p.uncertain)
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

// delivery says whether anything is left of what was done.
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

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
