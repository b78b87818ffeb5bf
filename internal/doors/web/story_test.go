package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// TestAStoryHasItsPicture checks that a call's story shows its stored screenshot, with the same address
// after a reload; other calls have none.
func TestAStoryHasItsPicture(t *testing.T) {
	w := newWorld(t)
	var drawn bytes.Buffer
	assert.NilError(t, png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 3, 2))))
	shown, err := json.Marshal(map[string]any{"mime": "image/png", "data": drawn.Bytes(), "window": "Letters <b>"})
	assert.NilError(t, err)
	for _, id := range []string{"c1", "c2"} {
		w.makeCall(t, id, "", claude(), aai.DesktopApp, "ax_click", nil)
	}
	if _, keep := w.screenshots.PrepareEntry(t.Context(), &aai.Entry{
		Kind: aai.Outcome, Time: time.Now(), Call: "c1", App: aai.DesktopApp, Tool: "ax_click", Target: "desktop/mousepad",
		ResultValue: func() any { return json.RawMessage(shown) },
	}); keep != nil {
		keep()
	}
	w.enter(t)
	address := regexp.MustCompile(`<img src="(/picture/[^"]+)"`)
	found := address.FindStringSubmatch(w.get(t, "/history/c1").body)
	if found == nil {
		t.Fatalf("no picture is shown:\n%s", w.get(t, "/history/c1").body)
	}
	got := w.get(t, found[1])
	assert.Check(t, is.Equal(got.body, drawn.String()), "%d %v", got.status, got.header)
	assert.Check(t, is.Equal(got.header.Get("Content-Type"), "image/png"), "%d %v", got.status, got.header)
	again := w.get(t, "/history/c1")
	expectPage(t, again, found[1], "Letters &lt;b&gt;", "The window after this call")
	expectPage(t, w.get(t, "/history/c2"), "!/picture/")
	expectPage(t, w.in(t, "zh", "/history/c1"), "此调用之后的窗口")
}

// slowPerson is a person who takes a while to answer in a window.
type slowPerson struct{ takes time.Duration }

func (s slowPerson) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	time.Sleep(s.takes)
	return aai.Answer{Choice: "once", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// TestAPersonsTimeIsTold checks that the waiting time for the person is shown separately, for a trial
// and in the story, and is excluded from the call's duration.
func TestAPersonsTimeIsTold(t *testing.T) {
	w, _ := appWorld(t, mail(tool("ask", `{"type": "object", "properties": {}}`, nil)))
	w.gateway.Dialog = slowPerson{1200 * time.Millisecond}
	begun := time.Now()
	got := w.submitTool(t, "/tool?app=org.test.Mail&tool=ask", nil)
	most := (time.Since(begun) - 1200*time.Millisecond).Milliseconds()
	without := func(body, pattern string) {
		t.Helper()
		took := regexp.MustCompile(pattern).FindStringSubmatch(body)
		assert.Assert(t, took != nil, "%s is not told:\n%s", pattern, body)
		if ms, err := strconv.Atoi(took[1]); err != nil || int64(ms) > most {
			t.Errorf("what the call took counts the person: %s ms of %d, %v", took[1], most, err)
		}
	}
	expectPage(t, got, "It ran", "Waited for your answer: 1.2")
	assert.Check(t, !regexp.MustCompile(`waited for: [\d.]*\d{4}`).MatchString(got.body), "nobody reads so fine a time:\n%s", got.body)
	without(got.body, `It took (\d+) ms\.`)
	story := regexp.MustCompile(`href="(/history/[^"]+)">Details`).FindStringSubmatch(got.body)
	assert.Assert(t, story != nil, "the story is not linked:\n%s", got.body)
	told := w.get(t, story[1])
	expectPage(t, told, "Waited for your answer</dt><dd>1.2")
	without(told.body, `It ran for</dt><dd>(\d+)\.\d ms`)
}

// TestUndoneFromTheStory checks that an act of the page can be undone from its story, once.
func TestUndoneFromTheStory(t *testing.T) {
	value := "old"
	put := tool("put", `{"type": "object", "properties": {"to": {"type": "string"}}}`, nil)
	put.Effect = aai.Changes
	put.Run = func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		was := value
		value, _ = call.Args["to"].(string)
		return &aai.Result{Text: "done", Undo: &aai.Undo{Description: "it is " + was + " again", Step: aai.Step{App: "org.test.Mail", Tool: "put", Args: map[string]any{"to": was}}}}, nil
	}
	w, _ := appWorld(t, mail(put))
	got := w.submitTool(t, "/tool?app=org.test.Mail&tool=put", map[string]string{"p0": "new"})
	story := regexp.MustCompile(`href="(/history/[^"]+)">Details`).FindStringSubmatch(got.body)
	assert.Assert(t, story != nil, got.body)
	assert.Equal(t, value, "new", got.body)
	expectPage(t, w.get(t, story[1]), "It can be undone:", "it is old again", `action="`+story[1]+`/undo"`)
	other := w.newVisitor(t)
	got = other.get(t, story[1])
	assert.Check(t, !strings.Contains(got.body, "/undo"), "somebody else is shown it:\n%s", got.body)
	back := w.post(t, story[1]+"/undo", w.form(t, story[1]))
	expectPage(t, back, "1 of 1 undone", "!/undo\"")
	assert.Check(t, is.Equal(value, "old"))
	got = w.post(t, story[1]+"/undo", w.form(t, story[1]))
	assert.Assert(t, is.Contains(got.body, "nothing is left to undo"))
	assert.Equal(t, value, "old")
	// The list reports for the second call that nothing was done, and not for the first.
	list := w.get(t, "/history?tool=undo")
	assert.Check(t, is.Equal(strings.Count(list.body, `<span class="mark good">`), 2), list.body)
	assert.Check(t, is.Equal(strings.Count(list.body, "nothing was done"), 1), list.body)
	vain := regexp.MustCompile(`href="(/history/[^"]+)"`).FindStringSubmatch(list.body[strings.Index(list.body, "<tbody>"):])
	expectPage(t, w.get(t, vain[1]), `<p class="notice"><bdi class="theirs">nothing was done`)
}

// silentDialog is a window that gets no answer.
type silentDialog struct{}

func (silentDialog) Ask(context.Context, aai.Question) (aai.Answer, error) {
	time.Sleep(20 * time.Millisecond) // it is shown
	return aai.Answer{}, aai.Errorf(aai.ConsentRequired, "nobody at this computer answered")
}

// TestUnansweredToolTrial checks that before a trial the page announces the window and its timeout, and
// afterwards reports that there was no answer and nothing was done.
func TestUnansweredToolTrial(t *testing.T) {
	ran := false
	w, _ := appWorld(t, mail(tool("ask", `{"type": "object", "properties": {}}`, func(context.Context, *aai.Call) (*aai.Result, error) {
		ran = true
		return &aai.Result{}, nil
	})))
	const at = "/tool?app=org.test.Mail&tool=ask"
	expectPage(t, w.get(t, at), "The window waits 50 s; without an answer, nothing is done.", `data-waits="50" hidden>`)
	expectPage(t, w.in(t, "zh", at), "窗口会等待 50 秒")
	got := w.submitTool(t, at, nil)
	assert.Check(t, !strings.Contains(got.body, "did not answer the question"), "who cannot be asked was asked:\n%s", got.body)
	w.gateway.Dialog = silentDialog{}
	expectPage(t, w.submitTool(t, at, nil), "CONSENT_REQUIRED", "You did not answer the question: nothing was done.", "nobody at this computer answered")
	w.gateway.Dialog = slowPerson{}
	if expectPage(t, w.submitTool(t, at, nil), "It ran", "!no answer came"); !ran {
		t.Error("it did not run")
	}
}

// recordingTools returns the tools for recordings and stored workflows.
func (w *world) recordingTools() []*aai.Tool {
	m := &recording.Manager{Folder: filepath.Join(w.state, "recordings")}
	flows := workflow.Config{Gateway: func() *gateway.Gateway { return w.gateway }, Recordings: m.Folder, IsRecording: m.IsRunning}
	return append(m.Tools(), workflow.NewLibrary(filepath.Join(w.state, "workflows"), flows).Tools(nil)...)
}

// narrows adds the tools that need no proof in the main program.
func narrows(others func(*aai.Request) bool) func(*aai.Request) bool {
	return func(r *aai.Request) bool {
		return strings.HasPrefix(r.Tool.Name, "session_") || r.Tool.Name == workflow.RenameTool || r.Tool.Name == recording.DeleteTool || others(r)
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
	seen := between(page.body, `name="seen" value="`, `"`)
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
