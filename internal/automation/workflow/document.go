package workflow

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// A Document is a workflow as it was written, read and found right in itself: every step
// takes values of earlier ones alone.
type Document struct {
	Name        string
	Description string
	Params      aai.Schema // what it takes; the zero Schema: nothing
	Steps       []*Step
	// Source is what it was read from.
	Source map[string]any

	program string // whose windows steps are about that name none; "": none
}

// What becomes of a workflow when a step fails.
const (
	Abort    = "abort"    // it ends; the default
	Skip     = "skip"     // it goes on
	Rollback = "rollback" // it ends, and what was done is taken back
)

// A Step is a call, the same call for each value of a list, or several calls side by side.
type Step struct {
	Number    int    // from 1; of a call within a group the group's
	Label     string // how people know it: "step 3", "step 3.1"
	Name      string // by which later ones take its values; "": only by its number
	App, Tool string // "" of a group
	OnFail    string
	Retry     int
	WaitAfter time.Duration
	Parallel  []*Step

	args      map[string]any // with a *template for each string that takes a value
	condition *condition
	doneCheck *stepCheck
	forEach   any // nil, a list, or a *template
	tool      *aai.Tool
}

// unknownApp is what is said of an app that a step is to name.
const unknownApp = "expected the app itself, since nobody can be asked about one that is not known yet"

// targetParam is the parameter of the desktop's tools that names a program.
const targetParam = "app"

// The bounds of a document.
const (
	maxSteps    = 100
	maxItems    = 1000
	maxRetries  = 10
	maxWait     = 5 * time.Minute
	maxStepName = 60

	maxDescription = 1000
)

// Read reads a document. Of one for windows every step is a tool of the desktop, and the app
// that it names is the program whose windows it operates; of another a step without an app is
// for the desktop. A step that names none has the document's, if that names one. The error
// names the step and the place.
func Read(source map[string]any, windows bool) (*Document, error) {
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

// A reader reads steps one after the other.
type reader struct {
	windows bool
	app     string          // of steps that name none
	known   map[string]bool // what values can be taken of
	taken   map[string]bool // the names of all steps so far
	count   int
}

// addKnown has later steps take values of this one.
func (r *reader) addKnown(s *Step) {
	for _, name := range s.names() {
		r.known[name] = true
	}
}

// step reads a step; member is which one of a group it is, from 1, or 0.
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

// membersOf are those that a step may have, or one within a group.
func membersOf(within bool) []string {
	known := []string{"name", "app", "tool", "args", "on_fail", "retry", "wait_after_ms", "when", "check"}
	if within {
		return known
	}
	return append(known, "for_each", "parallel")
}

// call reads what the step calls, with what and when.
func (r *reader) call(o *documentObject, s *Step, member int) {
	known := names{given: r.known}
	_, group := o.members["parallel"]
	each, repeats := o.members["for_each"]
	switch {
	case group && member == 0:
		for _, name := range []string{"tool", "app", "args", "for_each", "retry", "check"} {
			if _, given := o.members[name]; given {
				o.fail(name, "a step with parallel has none of its own")
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
}

// appOf is the app whose tool is called where a step names the app; of one for windows that is
// the program among the arguments.
func appOf(named string, args map[string]any, windows bool) string {
	if _, given := args[targetParam]; windows && named != "" && !given {
		args[targetParam] = named
	}
	if windows || named == "" {
		return aai.DesktopApp
	}
	return named
}

// checkName refuses a name that could be mistaken for another.
func (r *reader) checkName(o *documentObject, name string) {
	switch {
	case !isValueName(name) || name == itemName || isNumbered(name):
		o.fail("name", "expected letters, digits and _, not \"item\" or \"step_1\"")
	case r.taken[name]:
		o.fail("name", "an earlier step has this name")
	}
	r.taken[name] = true
}

// describeList is for people what a step is repeated for.
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
