package workflow_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/secrets"
)

const letter = `{"name": "letter", "params": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string", "default": "Rome"}}}, "steps": [
	{"name": "open", "app": "org.example.Shelf", "tool": "get", "args": {"name": "a"}},
	{"app": "org.example.Shelf", "tool": "set", "args": {"name": "{{open.value}}", "value": "{{{{params.city}} {{params.city}}"}, "picture": "orders.step1.png"},
	{"show_again": "a place was clicked where the program reports no element"}]}`

const recordingOfOrders = `{"recording":1,"app":"orders","begun":"2027-01-01T10:00:00Z"}
{"n":1,"step":{"tool":"ax_click","args":{"app":"orders","query":"role:button name:\"Clear\""},"target":{"role":"button","name":"Clear"},"picture":"orders.step1.png"}}
{"n":2,"step":{"tool":"ax_set_value","args":{"app":"orders","query":"role:textbox name:\"City\"","value":"Rome"},"target":{"role":"textbox","name":"City","typed":true}}}
{"n":2,"ste`

// steps shows a workflow or a recording to the person.
func (w *libraryWorld) steps(t *testing.T, name string) (v workflow.StepsView, images []aai.Image) {
	t.Helper()
	result, err := w.do(t, aai.Caller{Door: aai.DoorCLI}, aai.BuiltinApp, workflow.StepsTool, map[string]any{"name": name})
	assert.Assert(t, err == nil, err)
	return result.Data.(workflow.StepsView), result.Images
}

func (w *libraryWorld) rename(t *testing.T, args map[string]any) *aai.Error {
	t.Helper()
	_, err := w.do(t, aai.Caller{Door: aai.DoorCLI}, aai.BuiltinApp, workflow.RenameTool, args)
	return err
}

// TestStepsAreShownAndRenamed checks a stored workflow: its steps are shown with their pictures, and other names of a step
// and a parameter replace the old ones in all references.
func TestStepsAreShownAndRenamed(t *testing.T) {
	w := newLibraryWorld(t)
	w.write(t, "letter.json", letter)
	var picture bytes.Buffer
	assert.NilError(t, png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 2, 2))))
	assert.NilError(t, os.WriteFile(filepath.Join(w.recordings, "orders.step1.png"), picture.Bytes(), 0o600))
	v, images := w.steps(t, "letter")
	assert.Assert(t, is.Len(v.Steps, 3), "%+v", v)
	assert.Equal(t, v.Steps[0].Name, "open", "%+v", v)
	assert.Assert(t, v.Steps[2].ShowAgain != "", "%+v", v)
	if at := v.Steps[1].Image; at == nil || !bytes.Equal(images[*at].Data, picture.Bytes()) {
		t.Errorf("the picture is missing: %+v", v.Steps[1])
	}
	if err := w.rename(t, map[string]any{"name": "letter", "seen": v.Version, "steps": map[string]any{"1": "look"}, "params": map[string]any{"city": "town"}}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(w.folder, "letter.json"))
	assert.NilError(t, err)
	for _, want := range []string{`"{{look.value}}"`, `"{{{{params.city}} {{params.town}}"`, `"town": {`, `"required": [
      "town"`} {
		assert.Check(t, is.Contains(string(b), want), b)
	}
	for name, args := range map[string]map[string]any{
		"an old version":    {"name": "letter", "seen": v.Version, "steps": map[string]any{"1": "x"}},
		"no name of a step": {"name": "letter", "seen": "", "steps": map[string]any{"1": "two words"}},
		"no such workflow":  {"name": "other", "seen": ""},
		"out of the folder": {"name": "../letter", "seen": ""},
		"a path of another": {"name": "../x.jsonl", "seen": ""},
	} {
		if args["seen"] == "" {
			now, _ := w.steps(t, "letter")
			args["seen"] = now.Version
		}
		err := w.rename(t, args)
		assert.Assert(t, err != nil, "%s %v", name, err)
		assert.Equal(t, err.Code, aai.InvalidParams, "%s %v", name, err)
	}
	after, _ := os.ReadFile(filepath.Join(w.folder, "letter.json"))
	assert.Check(t, bytes.Equal(after, b), "a refused change has changed the file")
}

// TestRecordingIsRenamed checks the same of a recording that was interrupted, which stays one.
func TestRecordingIsRenamed(t *testing.T) {
	w := newLibraryWorld(t)
	path := filepath.Join(w.recordings, "orders.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte(recordingOfOrders), 0o600))
	v, _ := w.steps(t, "orders.jsonl")
	assert.Assert(t, is.Len(v.Params, 1), "%+v", v)
	assert.Equal(t, v.Params[0], (workflow.ParamView{Name: "city", Default: "Rome"}), "%+v", v)
	change := map[string]any{"name": "orders.jsonl", "seen": v.Version, "steps": map[string]any{"2": "fill"}, "params": map[string]any{"city": "town"}}
	w.running = "orders.jsonl"
	assert.Check(t, w.rename(t, change) != nil, "a running recording was changed")
	w.running = ""
	if err := w.rename(t, change); err != nil {
		t.Fatal(err)
	}
	v, _ = w.steps(t, "orders.jsonl")
	assert.Check(t, is.Equal(v.Params[0].Name, "town"), "%+v", v)
	assert.Check(t, is.Equal(v.Steps[1].Name, "fill"), "%+v", v)
	d, err := workflow.ReadFile(path)
	assert.NilError(t, err)
	text, _ := json.Marshal(d.Source)
	assert.Check(t, is.Contains(string(text), "{{params.town}}"), text)
	info, err := os.Stat(path)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode().Perm() == 0o600, "the file: %v, %v", info, err)
}

// TestOnlyThePersonSeesRecordings checks that agents neither see nor change steps that are stored.
func TestOnlyThePersonSeesRecordings(t *testing.T) {
	w := newLibraryWorld(t)
	w.write(t, "letter.json", letter)
	for tool, args := range map[string]map[string]any{workflow.StepsTool: {"name": "letter"}, workflow.RenameTool: {"name": "letter", "seen": ""}} {
		_, err := w.do(t, sessionAgent("a"), aai.BuiltinApp, tool, args)
		assert.Assert(t, err != nil, "%s %v", tool, err)
		assert.Equal(t, err.Code, aai.PermissionDenied, "%s %v", tool, err)
	}
}

// libraryWorld is a world with a user's folder of workflows.
type libraryWorld struct {
	*world
	folder string
	// recordings is the folder of the person's recordings, and running the name of the one that runs.
	recordings, running string

	library *workflow.Library
	keeper  *workflow.SQLiteStore
}

func newLibraryWorld(t *testing.T) *libraryWorld {
	t.Helper()
	data := t.TempDir()
	w := &libraryWorld{world: newWorld(t), folder: filepath.Join(data, "workflows"), recordings: t.TempDir()}
	w.kept["a"], w.answer = "before", "always"
	assert.NilError(t, os.Mkdir(w.folder, 0o700))
	vault := secrets.New(secrets.Config{Folder: filepath.Join(data, "secrets"), Getenv: func(string) string { return "" }, AllowInsecureFile: true})
	w.keeper = workflow.NewSQLiteStore(workflow.SQLiteConfig{Path: filepath.Join(data, "state.db"), Vault: vault})
	t.Cleanup(func() { _ = w.keeper.Close() })
	w.library = workflow.NewLibrary(w.folder, workflow.Config{Gateway: func() *gateway.Gateway { return w.Gateway }, Store: w.keeper, Recordings: w.recordings, IsRecording: func(name string) bool { return name == w.running }})
	w.apps[0].Tools = w.library.Tools(w.keeper)
	w.apps = append(w.apps, w.library.ReservedApp())
	w.Catalog = w.library.Wrap(w.world)
	w.Gates = []aai.Gate{
		policy.NewBuiltinGate(policy.BuiltinConfig{AgentTools: workflow.AgentLibraryTools(), PersonDoors: []string{aai.DoorCLI}, IsNarrowing: func(r *aai.Request) bool { return r.Tool.Name == workflow.RenameTool }}),
		policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(filepath.Join(data, "consent.json"))}),
	}
	return w
}

func (w *libraryWorld) write(t *testing.T, name, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o600))
}

func sessionAgent(session string) aai.Caller {
	return aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: session, Identity: "/usr/bin/" + session}
}

func (w *libraryWorld) do(t *testing.T, caller aai.Caller, app, tool string, args map[string]any) (*aai.Result, *aai.Error) {
	t.Helper()
	result, err := w.Do(t.Context(), &aai.Call{Caller: caller, App: app, Tool: tool, Args: args})
	return result, aai.AsError(err)
}
