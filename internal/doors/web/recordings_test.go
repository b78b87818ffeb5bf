package web_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

// recordingTools returns the tools for recordings and stored workflows.
func (w *world) recordingTools() []*aai.Tool {
	m := &recording.Manager{Folder: filepath.Join(w.state, "recordings")}
	flows := workflow.Config{Gateway: func() *gateway.Gateway { return w.gateway }, Recordings: m.Folder, IsRecording: m.IsRunning}
	return append(m.Tools(), workflow.NewLibrary(filepath.Join(w.state, "workflows"), flows).Tools(nil)...)
}

// narrows adds the tools that need no proof in the main program.
func narrows(others func(*aai.Request) bool) func(*aai.Request) bool {
	return func(r *aai.Request) bool {
		return r.Tool.Name == workflow.RenameTool || r.Tool.Name == recording.DeleteTool || others(r)
	}
}

// Recordings that have ended and that run, and a stored workflow.
const (
	endedRecording   = "orders-20270101-100000.jsonl"
	runningRecording = "orders-20270102-100000.jsonl"
	recordingText    = `{"recording":1,"app":"orders","begun":"2027-01-01T10:00:00Z"}
{"n":1,"step":{"tool":"ax_set_value","args":{"app":"orders","query":"role:textbox name:\"City\"","value":"Rome"},"target":{"role":"textbox","name":"City","typed":true},"check":{"tool":"ax_assert","args":{"app":"orders","query":"role:textbox name:\"City\"","assertions":{"value":"Rome"}},"equals":{"passed":true}},"picture":"orders-20270101-100000.step1.png"}}
{"n":2,"step":{"tool":"ax_click","args":{"app":"orders","query":"role:button name:\"Send <b>order</b>\""},"target":{"role":"button","name":"Send <b>order</b>"},"picture":"orders-20270101-100000.step2.png"}}
{"n":3,"step":{"show_again":"something was dragged from cell \"Cheese\""}}
`
	workflowText = `{"description": "Sends an order.", "steps": [{"name": "send", "tool": "ax_click", "args": {"app": "orders", "query": "role:button"}}]}`
)

// addRecordings writes the recordings and the workflow, and begins the one that runs.
func (w *world) addRecordings(t *testing.T) {
	t.Helper()
	folder := filepath.Join(w.state, "recordings")
	picture := image.NewRGBA(image.Rect(0, 0, 700, 400))
	draw.Draw(picture, picture.Rect, image.NewUniform(color.RGBA{230, 230, 225, 255}), image.Point{}, draw.Src)
	var drawn bytes.Buffer
	assert.NilError(t, png.Encode(&drawn, picture))
	for path, text := range map[string]string{
		filepath.Join(folder, endedRecording): recordingText, filepath.Join(folder, "orders-20270101-100000.step1.png"): drawn.String(),
		filepath.Join(folder, "orders-20270101-100000.step2.png"): drawn.String(),
		filepath.Join(folder, runningRecording):                   strings.Replace(recordingText, "01-01T", "01-02T", 1), filepath.Join(folder, "running"): runningRecording,
		filepath.Join(w.state, "workflows", "letter.json"): workflowText,
	} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	free, err := lock.TryLock()
	assert.NilError(t, err, free)
	assert.Assert(t, free, free)
	t.Cleanup(func() { _ = lock.Close() })
}

// TestRecordingsOnThePage checks that a person sees recordings and workflows step by step, with pictures; gives steps and
// parameters other names; deletes a recording; and sees and stops the one that runs. Nothing of it works without the form.
func TestRecordingsOnThePage(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	w.addRecordings(t)
	expectPage(t, w.get(t, "/recordings"), endedRecording, "letter", "What you do is being recorded", `action="/recordings/stop"`)
	expectPage(t, w.get(t, "/now"), "What you do is being recorded", `action="/recordings/stop"`)
	expectPage(t, w.get(t, "/recordings/"+runningRecording), "still runs", "!/save")
	expectPage(t, w.get(t, "/recordings/letter"), "Sends an order.", `value="send"`, "!/delete")
	page := w.get(t, "/recordings/"+endedRecording)
	expectPage(t, page, "<img class=\"picture\"", "/picture/", "City", "Rome", "Send &lt;b&gt;order", "Show this again", `value="city"`)
	_, seen, _ := strings.Cut(page.body, `name="seen" value="`)
	seen, _, _ = strings.Cut(seen, `"`)
	form := w.form(t, "/recordings/"+endedRecording)
	form["seen"], form["number"], form["step"], form["old"], form["param"] = []string{seen}, []string{"1", "2", "3"}, []string{"fill", "", ""}, []string{"city"}, []string{"town"}
	stranger := w.request(t, http.MethodPost, "/recordings/"+endedRecording+"/save", form)
	stranger.Header.Set("Origin", "https://evil.example")
	got := w.do(t, stranger)
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "another site has sent the form: %d", got.status)
	expectPage(t, w.post(t, "/recordings/"+endedRecording+"/save", form), "The names are saved.", `value="fill"`, `value="town"`)
	got = w.post(t, "/recordings/"+endedRecording+"/save", form)
	assert.Check(t, is.Equal(got.status, http.StatusBadRequest))
	assert.Check(t, is.Contains(got.body, "changed meanwhile"))
	expectPage(t, w.post(t, "/recordings/"+endedRecording+"/delete", w.form(t, "/recordings/"+endedRecording)), "is deleted", "!/recordings/"+endedRecording)
	left, err := filepath.Glob(filepath.Join(w.state, "recordings", "*.png"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 0))
	go func() { // the process that records
		for {
			if os.Remove(filepath.Join(w.state, "recordings", "stop")) == nil {
				_ = os.Remove(filepath.Join(w.state, "recordings", "lock"))
				return
			}
			if aai.Sleep(t.Context(), 10*time.Millisecond) != nil {
				return
			}
		}
	}()
	expectPage(t, w.post(t, "/recordings/stop", w.form(t, "/recordings")), "ended with 3 steps", "!is being recorded")
}
