package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Names of the builtin tools for the steps of stored workflows and recordings.
const (
	StepsTool  = "workflow_steps"
	RenameTool = "workflow_rename"
)

const (
	recordingSuffix = ".jsonl"
	// maxPictureName limits the name of the file with a picture, in bytes; maxPicture limits the file, and maxPictures the
	// number of files that one answer has.
	maxPictureName = 120
	maxPicture     = 2 << 20
	maxPictures    = 100
	// maxArgText limits an argument in the view of a step, in bytes.
	maxArgText = 2000
)

// A StepsView is a stored workflow or a recording, step by step.
type StepsView struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	File        string      `json:"file"`
	IsRecording bool        `json:"is_recording"`
	IsRunning   bool        `json:"is_running"`
	Version     string      `json:"version"` // of the file, for changes
	Params      []ParamView `json:"params"`
	Steps       []StepView  `json:"steps"`
}

// A ParamView is a parameter of a workflow.
type ParamView struct {
	Name    string `json:"name"`
	Default string `json:"default,omitempty"`
}

// A StepView is a step of a workflow.
type StepView struct {
	Number    int         `json:"number"`
	Name      string      `json:"name,omitempty"`
	Tool      string      `json:"tool,omitempty"`
	App       string      `json:"app,omitempty"`
	Element   string      `json:"element,omitempty"` // the recorded element, or the query
	Args      []ParamView `json:"args,omitempty"`
	Expected  string      `json:"expected,omitempty"`
	ShowAgain string      `json:"show_again,omitempty"`
	Image     *int        `json:"image,omitempty"` // the index of its picture in the result
}

// path returns the file of a stored workflow, or of a recording.
func (l *Library) path(name string) (string, error) {
	switch {
	case strings.HasSuffix(name, recordingSuffix) && filepath.Base(name) == name && l.flows.Recordings != "":
		return filepath.Join(l.flows.Recordings, name), nil
	case name != "" && isToolName(name):
		return filepath.Join(l.folder, name+".json"), nil
	}
	return "", aai.Errorf(aai.InvalidParams, "name: expected the name of a stored workflow, or of the file of a recording")
}

func (l *Library) isRunning(name string) bool {
	return l.flows.IsRecording != nil && l.flows.IsRecording(name)
}

// digestOf returns the version of a file's content.
func digestOf(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// showSteps shows a stored workflow or a recording, with the pictures that were taken.
func (l *Library) showSteps(_ context.Context, call *aai.Call) (*aai.Result, error) {
	name, _ := call.Args["name"].(string)
	path, err := l.path(name)
	if err != nil {
		return nil, err
	}
	source, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxBytes})
	if err != nil {
		return nil, invalidWorkflowError(path, err)
	}
	v := StepsView{
		Name: name, File: path, Version: digestOf(source), IsRecording: strings.HasSuffix(name, recordingSuffix), IsRunning: l.isRunning(name),
		Params: []ParamView{}, Steps: []StepView{},
	}
	out := &aai.Result{DataComplete: true}
	d, err := read(source, strings.TrimSuffix(name, recordingSuffix))
	switch {
	case err != nil && v.IsRecording && strings.Contains(describeInvalid(err), "at least one step"): // so far
	case err != nil:
		return nil, invalidWorkflowError(path, err)
	default:
		v.Description, v.Params = d.Description, paramViews(d)
		for _, s := range d.Steps {
			one := s.view()
			if picture := l.picture(s.picture); picture != nil && len(out.Images) < maxPictures {
				n := len(out.Images)
				out.Images, one.Image = append(out.Images, aai.Image{MIME: "image/png", Data: picture}), &n
			}
			v.Steps = append(v.Steps, one)
		}
	}
	out.Text, out.Data = aai.Count(len(v.Steps), "step"), v
	return out, nil
}

// picture reads a picture beside the recordings; nil if there is none, since it is deleted with its recording.
func (l *Library) picture(name string) []byte {
	if name == "" || l.flows.Recordings == "" || filepath.Base(name) != name || filepath.Ext(name) != ".png" {
		return nil
	}
	data, err := atomicfile.Read(filepath.Join(l.flows.Recordings, name), atomicfile.ReadLimits{Size: maxPicture, Private: true, NoLinks: true})
	if err != nil {
		return nil
	}
	return data
}

// paramViews returns the parameters of a document, in the order of their names.
func paramViews(d *Document) []ParamView {
	views := []ParamView{}
	described, _ := d.Source[paramsName].(map[string]any)
	properties, _ := described["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		v := ParamView{Name: name}
		if standard, given := property["default"]; given {
			v.Default = argText(standard)
		}
		views = append(views, v)
	}
	return views
}

// argText returns an argument for people.
func argText(value any) string {
	text, is := value.(string)
	if !is {
		b, err := json.Marshal(value)
		if err != nil {
			return "?"
		}
		text = string(b)
	}
	return aai.CleanText(text, maxArgText)
}

// view returns the step for people.
func (s *Step) view() StepView {
	v := StepView{Number: s.Number, Name: s.Name, Tool: s.Tool, App: s.App, ShowAgain: s.showAgain}
	if s.Tool == "" && s.showAgain == "" {
		v.Element = s.summary()
	}
	for _, name := range slices.Sorted(maps.Keys(s.args)) {
		text := argText(s.args[name])
		if t, is := s.args[name].(*template); is {
			text = t.valueNames(true)
		}
		switch {
		case name == targetParam && s.App == aai.DesktopApp:
			v.App = text
		case name == queryParam:
			v.Element = text
		default:
			v.Args = append(v.Args, ParamView{name, text})
		}
	}
	if name, _ := s.target["name"].(string); name != "" {
		v.Element = describeTarget(s.target)
	}
	if c := s.doneCheck; c != nil && c.tool == checkTool {
		v.Expected = describeExpected(*c)
	}
	return v
}

// checkTool is the tool by which recorded steps check their effect.
const checkTool = "ax_assert"

// describeExpected describes the expected state of a recorded step, with its value.
func describeExpected(c stepCheck) string {
	query, _ := c.args[queryParam].(string)
	expected, _ := c.args["assertions"].(map[string]any)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		text := argText(expected[name])
		if t, is := expected[name].(*template); is {
			text = t.valueNames(true)
		}
		all = append(all, fmt.Sprintf("%s %s", name, text))
	}
	return strings.Join(all, ", ") + " · " + query
}
