package web

import (
	"net/url"
	"time"

	"github.com/gybob/aai-gateway"
)

// recordingsPage lists the recordings and the stored workflows; stepsPage shows one of them, step by step.
func recordingsPage() page {
	return page{
		name: "recordings", path: "/recordings", live: []string{EventJournal}, show: showRecordings,
		acts: map[string]act{"stop": stopRecording},
	}
}

func stepsPage() page {
	return page{
		name: "steps", path: "/recordings/{name}", show: showSteps,
		acts: map[string]act{"save": renameSteps, "delete": deleteRecording},
	}
}

// A recordingRow is a recording in the answer of the tool "recording_list".
type recordingRow struct {
	Name      string    `json:"name"`
	App       string    `json:"app"`
	Begun     time.Time `json:"begun"`
	Count     int       `json:"count"`
	Recording bool      `json:"recording"`
	Fault     string    `json:"fault"`
}

// Path returns the address of the page of the recording.
func (r recordingRow) Path() string { return "/recordings/" + url.PathEscape(r.Name) }

// A workflowRow is a workflow in the answer of the tool "workflow_list".
type workflowRow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Fault       string `json:"fault"`
}

// Path returns the address of the page of the workflow.
func (r workflowRow) Path() string { return "/recordings/" + url.PathEscape(r.Name) }

// recordingsPageData is the template data of recordingsPage.
type recordingsPageData struct {
	Recordings []recordingRow
	Workflows  []workflowRow
	Running    *recordingRow
}

// runningRecording returns the recording that runs, in whatever process; nil if none does.
func (v *pageRequest) runningRecording() *recordingRow {
	var rows []recordingRow
	if v.read("recording_list", nil, &rows) != nil {
		return nil // there is no desktop
	}
	return runningOf(rows)
}

func runningOf(rows []recordingRow) *recordingRow {
	for i := range rows {
		if rows[i].Recording {
			return &rows[i]
		}
	}
	return nil
}

func showRecordings(v *pageRequest) (any, error) {
	var shown recordingsPageData
	if err := v.read("recording_list", nil, &shown.Recordings); err != nil {
		return nil, err
	}
	shown.Running = runningOf(shown.Recordings)
	return shown, v.read("workflow_list", nil, &shown.Workflows)
}

func stopRecording(v *pageRequest) (any, error) {
	result, err := v.call("recording_stop", nil)
	if err != nil {
		return nil, err
	}
	var stopped struct{ Count int }
	if err := decodeData(result, &stopped); err != nil {
		return nil, err
	}
	v.setNotice(v.text("recordings", "stopped", stopped.Count))
	return nil, nil
}

// A namedValue is an argument or a parameter of a workflow.
type namedValue struct {
	Name    string `json:"name"`
	Default string `json:"default"`
}

// stepsPageData is the answer of the tool "workflow_steps".
type stepsPageData struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	File        string       `json:"file"`
	IsRecording bool         `json:"is_recording"`
	IsRunning   bool         `json:"is_running"`
	Version     string       `json:"version"`
	Params      []namedValue `json:"params"`
	Steps       []stepRow    `json:"steps"`
}

// A stepRow is a step in the answer of the tool "workflow_steps".
type stepRow struct {
	Number    int          `json:"number"`
	Name      string       `json:"name"`
	Tool      string       `json:"tool"`
	App       string       `json:"app"`
	Element   string       `json:"element"`
	Args      []namedValue `json:"args"`
	Expected  string       `json:"expected"`
	ShowAgain string       `json:"show_again"`
	Image     *int         `json:"image"`
	Picture   string       `json:"-"` // its address; "": none was taken
}

// Act returns the key of the words for the step's tool, or "" if there are none.
func (s stepRow) Act() string {
	switch s.Tool {
	case "ax_click", "ax_set_value", "ax_key_press":
		return "act." + s.Tool
	}
	return ""
}

// Subject returns the name of the recording or the workflow, for the page's title.
func (s stepsPageData) Subject() string { return s.Name }

func showSteps(v *pageRequest) (any, error) {
	result, err := v.call("workflow_steps", map[string]any{"name": v.pathValue("name")})
	if err != nil {
		return nil, err
	}
	var shown stepsPageData
	if err := decodeData(result, &shown); err != nil {
		return nil, err
	}
	for i := range shown.Steps {
		if at := shown.Steps[i].Image; at != nil && *at >= 0 && *at < len(result.Images) {
			shown.Steps[i].Picture = v.door.images.add(v.session.id, result.Images[*at])
		}
	}
	return shown, nil
}

// renameSteps gives steps and parameters the names in the form. Each name stands there beside the old one.
func renameSteps(v *pageRequest) (any, error) {
	steps, params := map[string]any{}, map[string]any{}
	for i, number := range v.form["number"] {
		if names := v.form["step"]; i < len(names) {
			steps[number] = names[i]
		}
	}
	for i, old := range v.form["old"] {
		if names := v.form["param"]; i < len(names) && names[i] != old {
			params[old] = names[i]
		}
	}
	if len(steps) > maxSteps {
		return nil, aai.Errorf(aai.InvalidParams, "the form has too many steps")
	}
	_, err := v.call("workflow_rename", map[string]any{"name": v.pathValue("name"), "seen": v.form.Get("seen"), "steps": steps, "params": params})
	if err != nil {
		return nil, err
	}
	v.setNotice(v.text("steps", "saved"))
	return nil, nil
}

// maxSteps limits the steps of a form; a workflow has at most a hundred.
const maxSteps = 200

func deleteRecording(v *pageRequest) (any, error) {
	name := v.pathValue("name")
	if _, err := v.call("recording_delete", map[string]any{"name": name}); err != nil {
		return nil, err
	}
	v.setNotice(v.text("steps", "deleted", aai.CleanLabel(name, 100)))
	v.next = "/recordings"
	return nil, nil
}
