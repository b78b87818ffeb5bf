package workflow

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Document is a parsed and valid workflow: every step refers only to earlier steps.
type Document struct {
	Name        string
	Description string
	Params      aai.Schema // parameters; the zero Schema: none
	Steps       []*Step
	// Source is the parsed JSON.
	Source map[string]any

	program string // default program of desktop steps; "": none
}

// Actions after a failed step.
const (
	Abort    = "abort"    // end the workflow; the default
	Skip     = "skip"     // continue
	Rollback = "rollback" // end the workflow and undo the earlier steps
)

// Step is a call, the same call for each value of a list, or a group of concurrent calls.
type Step struct {
	Number    int    // from 1; within a group the group's
	Label     string // for display: "step 3", "step 3.1"
	Name      string // in templates; "": only by its number
	App, Tool string // "" of a group
	OnFail    string
	Retry     int
	WaitAfter time.Duration
	Parallel  []*Step

	args      map[string]any // with a *template for each string that refers to values
	condition *condition
	doneCheck *stepCheck
	wait      *eventWait     // nil: a call
	target    map[string]any // the recorded element of the query; nil: none
	picture   string         // the file with a picture of the window at a recorded step; "": none
	showAgain string         // the reason why the step of a recording has no call
	forEach   any            // nil, a list, or a *template
	tool      *aai.Tool
}

// unknownApp is the error text for an app that depends on values.
const unknownApp = "expected a fixed app, since the person is asked about it before the steps run"

// targetParam is the parameter of the desktop's tools that names a program.
const targetParam = "app"

// Limits of a document.
const (
	maxSteps    = 100
	maxItems    = 1000
	maxRetries  = 10
	maxWait     = 5 * time.Minute
	maxStepName = 60

	maxDescription = 1000
)

// ParseDocument parses a document. With windows, every step is a desktop tool, and its app is the program
// to operate. Otherwise a step without an app is for the desktop. A step that names no app uses
// the document's app, if there is one. The error names the step and the place.
func ParseDocument(source map[string]any, windows bool) (*Document, error) {
	d := &Document{Source: source}
	top := &documentObject{place: "the workflow", members: source}
	d.Name = top.text("name", maxStepName)
	list := top.list("steps")
	d.Description = top.text("description", maxDescription)
	r := &reader{windows: windows, app: top.text(targetParam, 500), known: map[string]bool{}, taken: map[string]bool{}}
	if windows {
		d.program = r.app
	}
	if params, given := source[paramsName]; given {
		d.Params = top.schema(paramsName, params)
		r.known[paramsName], r.taken[paramsName] = true, true
	}
	top.done("name", "description", targetParam, paramsName, "steps")
	if top.fault == nil && len(list) == 0 {
		top.fail("steps", "expected at least one step")
	}
	if top.fault != nil {
		return nil, top.fault
	}
	for i, value := range list {
		s, err := r.step(value, i+1, 0)
		if err != nil {
			return nil, err
		}
		d.Steps = append(d.Steps, s)
		r.addKnown(s)
	}
	return d, nil
}

// reader parses steps in order.
type reader struct {
	windows bool
	app     string          // default app of steps
	known   map[string]bool // names with values
	taken   map[string]bool // names of all steps so far
	count   int
}

// addKnown makes the values of s available to later steps.
func (r *reader) addKnown(s *Step) {
	for _, name := range s.names() {
		r.known[name] = true
	}
}

// step parses a step; member is its index in a group, from 1, or 0.
func (r *reader) step(value any, number, member int) (*Step, error) {
	s := &Step{Number: number, Label: fmt.Sprintf("step %d", number)}
	if member > 0 {
		s.Label = fmt.Sprintf("step %d.%d", number, member)
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, documentError(s.Label, "", "expected an object")
	}
	if r.count++; r.count > maxSteps {
		return nil, documentError(s.Label, "", fmt.Sprintf("there are more than %d steps", maxSteps))
	}
	o := &documentObject{place: s.Label, members: members}
	if s.Name = o.text("name", maxStepName); s.Name != "" {
		r.checkName(o, s.Name)
	}
	s.Retry = o.count("retry", maxRetries)
	s.WaitAfter = time.Duration(o.count("wait_after_ms", int(maxWait/time.Millisecond))) * time.Millisecond
	s.OnFail = o.oneOf("on_fail", Abort, Skip, Rollback)
	s.picture = o.text("picture", maxPictureName)
	r.call(o, s, member)
	o.done(membersOf(member > 0)...)
	if o.fault != nil {
		return nil, o.fault
	}
	for i, value := range o.list("parallel") {
		one, err := r.step(value, number, i+1)
		if err != nil {
			return nil, err
		}
		s.Parallel = append(s.Parallel, one)
	}
	return s, o.err()
}

// membersOf returns the allowed members of a step, or of one within a group.
func membersOf(within bool) []string {
	known := []string{"name", "app", "tool", "args", "on_fail", "retry", "wait_after_ms", "when", "check"}
	if within {
		return known
	}
	return append(known, "for_each", "parallel", "wait_for", "target", "show_again", "picture")
}

// call parses the call of the step and its condition.
func (r *reader) call(o *documentObject, s *Step, member int) {
	known := names{given: r.known}
	_, group := o.members["parallel"]
	each, repeats := o.members["for_each"]
	if _, waits := o.members["wait_for"]; waits && member == 0 {
		if given := o.members["when"]; given != nil {
			s.condition = o.condition(given, known)
		}
		r.waitStep(o, s)
		return
	}
	if _, given := o.members["show_again"]; given && member == 0 {
		r.showAgainStep(o, s)
		return
	}
	switch {
	case group && member == 0:
		for _, name := range []string{"tool", "app", "args", "for_each", "retry", "check"} {
			if _, given := o.members[name]; given {
				o.fail(name, "a step with parallel has no tool itself")
			}
		}
		if list, _ := o.members["parallel"].([]any); len(list) == 0 {
			o.fail("parallel", "expected a list of steps")
		}
	default:
		if s.Tool = o.text("tool", 200); s.Tool == "" {
			o.fail("tool", "expected the name of a tool")
		}
		if s.App = o.text(targetParam, 500); strings.Contains(s.App, openMark) {
			o.fail(targetParam, unknownApp)
		}
		if !r.windows {
			s.App = cmp.Or(s.App, r.app)
		}
	}
	if repeats && member == 0 {
		s.forEach = o.each(each, known)
		known.given = maps.Clone(r.known)
		known.given[itemName], known.each = true, describeList(s.forEach)
	}
	if given := o.members["when"]; given != nil {
		s.condition = o.condition(given, known)
	}
	if given := o.members["check"]; given != nil && !group {
		s.doneCheck = o.check(given, known, r.windows)
	}
	args, ok := o.members["args"].(map[string]any)
	if given := o.members["args"]; given != nil && !ok {
		o.fail("args", "expected an object")
	}
	if s.args, _ = o.compile("args", args, known).(map[string]any); s.args == nil {
		s.args = map[string]any{}
	}
	s.App = appOf(s.App, s.args, r.windows)
	r.recordedStep(o, s)
}

// appOf returns the app of the called tool. With windows, it moves the named program into the
// arguments.
func appOf(named string, args map[string]any, windows bool) string {
	if _, given := args[targetParam]; windows && named != "" && !given {
		args[targetParam] = named
	}
	if windows || named == "" {
		return aai.DesktopApp
	}
	return named
}

// checkName rejects an ambiguous name.
func (r *reader) checkName(o *documentObject, name string) {
	switch {
	case !isValueName(name) || name == itemName || name == waitName || isNumbered(name):
		o.fail("name", "expected letters, digits and _, not \"item\" or \"step_1\"")
	case r.taken[name]:
		o.fail("name", "an earlier step has this name")
	}
	r.taken[name] = true
}

// describeList describes the list of a repeated step for display.
func describeList(list any) string {
	if t, ok := list.(*template); ok {
		return t.soleReference().describe()
	}
	text, err := asText(placeholders(list))
	if err != nil {
		return "a list"
	}
	return shortened(text)
}
