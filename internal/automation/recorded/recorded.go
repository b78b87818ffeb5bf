// Package recorded is the format in which the steps of a person are kept: lines of JSON while the person is recorded, so that
// nothing is lost if the gateway ends, and a workflow afterwards.
package recorded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Version is the version of the format.
const Version = 1

// A Header is the first line of a recording.
type Header struct {
	Recording int       `json:"recording"` // Version
	App       string    `json:"app"`
	Begun     time.Time `json:"begun"`
}

// A Line is a line of a recording: the Nth step, from 1. A later line with the same number replaces it, and one without a
// step removes it.
type Line struct {
	N    int   `json:"n"`
	Step *Step `json:"step"`
}

// A Step is a step of a workflow.
type Step struct {
	Name   string         `json:"name,omitempty"`
	Tool   string         `json:"tool,omitempty"`
	Args   map[string]any `json:"args,omitempty"`
	Check  map[string]any `json:"check,omitempty"`
	Target *Target        `json:"target,omitempty"`
	// ShowAgain is the reason why the person's act is unknown and must be shown again.
	ShowAgain string `json:"show_again,omitempty"`
	// Picture is the name of the file with a picture of the window at the step, beside the recording.
	Picture string `json:"picture,omitempty"`
	// Param is the name that the person gave the parameter of the step; "": the name of the field. Workflows have it in Args.
	Param string `json:"param,omitempty"`
}

// A Target describes an element so that it is found again after it was renamed or moved.
type Target struct {
	Role       string   `json:"role"`
	Name       string   `json:"name,omitempty"`
	Identifier string   `json:"identifier,omitempty"`
	Path       []string `json:"path,omitempty"`   // role and name of each container, the window first
	Before     string   `json:"before,omitempty"` // the text before the element
	After      string   `json:"after,omitempty"`  // the text after it
	// Typed reports that a person types texts into it.
	Typed bool `json:"typed,omitempty"`
}

// IsRecording reports whether a file begins as a recording does.
func IsRecording(source []byte) bool {
	first, _, _ := bytes.Cut(source, []byte("\n"))
	var h Header
	return json.Unmarshal(first, &h) == nil && h.Recording > 0
}

// Read returns the steps of a recording. Its last line may be missing or incomplete: the gateway ended in the middle.
func Read(source []byte) (h Header, steps []Step, err error) {
	lines := bytes.Split(source, []byte("\n"))
	if err := json.Unmarshal(lines[0], &h); err != nil {
		return h, nil, fmt.Errorf("line 1: expected the header of a recording: %w", err)
	}
	if h.Recording != Version {
		return h, nil, fmt.Errorf("line 1: recording is %d; expected %d, the only known version", h.Recording, Version)
	}
	var kept []*Step
	for i, text := range lines[1:] {
		var line Line
		err := json.Unmarshal(text, &line)
		switch {
		case i == len(lines)-2:
			if err != nil {
				continue
			}
		case err != nil:
			return h, nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		if line.N < 1 || line.N > len(kept)+1 {
			return h, nil, fmt.Errorf("line %d: n is %d; expected 1 to %d", i+2, line.N, len(kept)+1)
		}
		if line.N > len(kept) {
			kept = append(kept, nil)
		}
		kept[line.N-1] = line.Step
	}
	for _, s := range kept {
		if s != nil {
			steps = append(steps, *s)
		}
	}
	return h, steps, nil
}

// Templates of workflows and names of secrets.
const (
	opens  = "{{"
	secret = "{{secret:"
)

// Escape returns a text as the value of an argument in a workflow: templates and names of secrets in it mean themselves.
func Escape(text string) string {
	parts := strings.Split(text, secret)
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, opens, opens+opens)
	}
	return strings.Join(parts, opens+secret)
}

// Document returns the workflow of the steps. A text that the person typed is the default of a parameter.
func Document(name, app string, steps []Step) ([]byte, error) {
	document := struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Params      map[string]any `json:"params,omitempty"`
		Steps       []Step         `json:"steps"`
	}{Name: name, Description: "Recorded in " + aai.CleanLabel(app, 60) + ".", Steps: slices.Clone(steps)}
	params := map[string]any{}
	for i, param := range Params(steps) {
		s := steps[i]
		s.Param = ""
		if value, _ := s.Args["value"].(string); param != "" {
			params[param] = map[string]any{"type": "string", "default": strings.ReplaceAll(value, opens+opens, opens)}
			s = s.withParam(value, "{{params."+param+"}}")
		}
		document.Steps[i] = s
	}
	if len(params) > 0 {
		document.Params = map[string]any{"type": "object", "properties": params, "additionalProperties": false}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(document)
	return b.Bytes(), err
}

// Params returns the name of the parameter of each step; "" for a step without one.
func Params(steps []Step) []string {
	names, taken := make([]string, len(steps)), map[string]bool{}
	for i, s := range steps {
		value, _ := s.Args["value"].(string)
		if s.Target == nil || !s.Target.Typed || value == "" || strings.Contains(value, secret) {
			continue
		}
		if names[i] = s.Param; names[i] == "" || taken[names[i]] {
			names[i] = paramName(s.Target.Name, taken)
		}
		taken[names[i]] = true
	}
	return names
}

// Write returns a recording of the steps.
func Write(h Header, steps []Step) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(h)
	for i := range steps {
		err = errors.Join(err, e.Encode(Line{N: i + 1, Step: &steps[i]}))
	}
	return b.Bytes(), err
}

// withParam returns the step with the parameter in place of the value, also in its check.
func (s Step) withParam(value, param string) Step {
	replaced, err := aai.ToJSONValue(map[string]any{"args": s.Args, "check": s.Check})
	if err != nil {
		return s
	}
	all, _ := replaced.(map[string]any)
	s.Args, _ = all["args"].(map[string]any)
	s.Args["value"] = param
	if check, _ := all["check"].(map[string]any); check != nil {
		args, _ := check["args"].(map[string]any)
		if expected, _ := args["assertions"].(map[string]any); expected["value"] == value {
			expected["value"] = param
		}
		s.Check = check
	}
	return s
}

// paramName returns a new name for the parameter of a field.
func paramName(field string, taken map[string]bool) string {
	name := Slug(field)
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = strings.TrimRight("text_"+name, "_")
	}
	for n, first := 2, name; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	return name
}

// Slug returns the letters and digits of a name, for names of secrets, files and parameters.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(aai.CleanLabel(name, 40)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}
