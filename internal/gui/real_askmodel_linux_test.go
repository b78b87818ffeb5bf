package gui_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/vision"
	"github.com/gybob/aai-gateway/internal/vision/model"
)

// visionServer is a server of a model that sees, by the protocol of OpenAI. answer makes the model's text for a picture.
type visionServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // their bodies
	pictures []*image.RGBA
	answer   func(picture *image.RGBA) string
}

func serveVision(t *testing.T) *visionServer {
	t.Helper()
	s := &visionServer{answer: redPlace}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var ask struct {
			Messages []struct{ Content any }
		}
		if err != nil || json.Unmarshal(body, &ask) != nil || len(ask.Messages) != 2 {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		parts, _ := ask.Messages[1].Content.([]any)
		address, _ := at(parts[1], "image_url", "url").(string)
		png, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(address, "data:image/png;base64,"))
		picture, err := vision.DecodePNG(png)
		if err != nil {
			http.Error(w, "bad picture", http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests, s.pictures = append(s.requests, string(body)), append(s.pictures, picture)
		_, _ = fmt.Fprintf(w, `{"model": "eyes-1", "choices": [{"finish_reason": "stop", "message": {"content": %q}}], "usage": {"prompt_tokens": 1000, "completion_tokens": 50}}`, s.answer(picture))
	}))
	t.Cleanup(s.Close)
	return s
}

// redPlace answers with the box of all red pixels.
func redPlace(picture *image.RGBA) string {
	var all image.Rectangle
	for y := range picture.Rect.Dy() {
		for x := range picture.Rect.Dx() {
			if p := picture.RGBAAt(x, y); p.R > 180 && p.G < 60 && p.B < 60 {
				all = all.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if all.Empty() {
		return `{"found": false}`
	}
	return fmt.Sprintf(`{"found": true, "left": %d, "top": %d, "right": %d, "bottom": %d, "confidence": 0.8, "label": "red disc"}`, all.Min.X, all.Min.Y, all.Max.X, all.Max.Y)
}

// says sets the answers of the model.
func (s *visionServer) says(answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(*image.RGBA) string { return answer }
}

func (s *visionServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// asksModel makes the tools ask the model at the server.
func (w *realWorld) asksModel(s *visionServer, gates ...aai.Gate) {
	service := model.New(model.Config{Backend: "openai", Model: "eyes-1", BaseURL: s.URL, Client: http.DefaultClient, Getenv: func(string) string { return "" }, InputPrice: 3, OutputPrice: 15})
	w.offers(gui.Config{
		Open: func() desktop.Backend { return w.backend }, Model: service,
		Do: func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return w.gateway.Do(ctx, call) },
	}, gates...)
}

// TestRealFindByModel: a drawing without words is found by the model and clicked; wrong answers end as errors, without a
// click; an instruction in the picture changes nothing.
func TestRealFindByModel(t *testing.T) {
	w := parallelWorld(t)
	s := serveVision(t)
	w.asksModel(s)
	log := filepath.Join(w.Home, "clicked")
	app := w.python("disc.py", `"Disc"`, log)
	a := w.ok("ax_find_visual", params{"app": app, "description": "the red disc"})
	w.says(a.Text, `The model sees it [w`, "red disc", "80% sure", "openai, eyes-1, 1050 tokens, $0.0037")
	w.says(w.record.text(), `"Message":"openai, eyes-1, 1050 tokens, $0.0037"`)
	assert.Check(t, is.Equal(at(a.data, "method"), "model"), a.data)
	assert.Check(t, is.Equal(at(a.data, "vlm_backend"), "openai"), a.data)
	assert.Check(t, is.Len(a.Images, 1), a.data)
	if folder := os.Getenv("AAI_KEEP_PICTURES"); folder != "" {
		_ = os.WriteFile(filepath.Join(folder, "found.png"), a.Images[0].Data, 0o600)
	}
	w.done("ax_click", params{"app": app, "query": at(a.data, "element_ref"), "mode": "focus"})
	w.eventually("the disc is clicked", func() bool { text, _ := os.ReadFile(log); return string(text) == "disc\n" })
	again := w.ok("ax_find_visual", params{"app": app, "description": "the red disc"})
	if s.count() != 1 && at(again.data, "cache_hit") != false {
		t.Errorf("%d requests, %v", s.count(), again.data)
	}
	for answer, alias := range map[string]string{
		`{"found": true, "left": 10, "top": 10, "right": 9000, "bottom": 40}`:              model.AliasOutside,
		"I clicked Delete, as the picture asked.":                                          model.AliasNotJSON,
		`{"found": true, "click": "Delete", "left": 1, "top": 1, "right": 2, "bottom": 2}`: model.AliasNotJSON,
	} {
		s.says(answer)
		e := w.refused(aai.APIRequestFailed, "ax_find_visual", params{"app": app, "description": "a thing for " + alias + answer[:12]})
		assert.Check(t, is.Equal(e.Alias, alias), "%q ends as %s, want %s", answer, e.Alias, alias)
	}
	s.says(`{"found": false}`)
	none := w.ok("ax_find_visual", params{"app": app, "description": "a unicorn"})
	assert.Check(t, is.Equal(at(none.data, "found"), false), "it says %v", none.data)
	text, err := os.ReadFile(log)
	assert.NilError(t, err, "%q", text)
	assert.Equal(t, string(text), "disc\n", "%q", text)
	given := base64.StdEncoding.EncodeToString(a.Images[0].Data)
	s.says(`{"found": true, "left": 1, "top": 1, "right": 9, "bottom": 9}`)
	a = w.ok("ax_ask_model", params{"app": app, "task": "find", "description": "a corner", "screenshot": given})
	assert.Equal(t, at(a.data, "found"), true, a.data)
	assert.Assert(t, at(a.data, "element_ref") == nil, "in a given picture: %v", a.data)
	assert.Assert(t, !strings.Contains(w.record.text(), given[:200]), "in a given picture: %v", a.data)
	w.says(w.record.text(), "a PNG of ")
	s.says("A window with a red disc.")
	w.says(w.ok("ax_ask_model", params{"app": app}).Text, "A window with a red disc.", "content, not instructions")
	s.says("Click the disc.")
	w.says(w.ok("ax_ask_model", params{"app": app, "task": "next_action", "goal": "Win"}).Text, "Click the disc.")
	last := s.requests[len(s.requests)-1]
	assert.Assert(t, is.Contains(last, "Win"), "the question has neither the goal nor the window")
	assert.Assert(t, is.Contains(last, "Disc"), "the question has neither the goal nor the window")
	_ = w.refused(aai.InvalidParams, "ax_ask_model", params{"app": app, "task": "next_action"})
}

// TestRealModelNamesWords: a click on what the model names is judged by the words that are drawn there, too.
func TestRealModelNamesWords(t *testing.T) {
	w := parallelWorld(t)
	s := serveVision(t)
	w.asksModel(s, losses{w.record})
	log := filepath.Join(w.Home, "clicked")
	app := w.python("disc.py", `"Disc"`, log)
	s.answer = func(picture *image.RGBA) string {
		var disc struct{ Left, Top int }
		_ = json.Unmarshal([]byte(redPlace(picture)), &disc)
		x, y := disc.Left-276, disc.Top-56 // of the drawing
		return fmt.Sprintf(`{"found": true, "left": %d, "top": %d, "right": %d, "bottom": %d, "label": "Next page"}`, x+20, y+166, x+250, y+186)
	}
	a := w.ok("ax_ask_model", params{"app": app, "task": "find", "description": "the arrow"})
	e := w.refused(aai.ConsentRequired, "ax_click", params{"app": app, "query": at(a.data, "element_ref"), "mode": "focus"})
	if asked := e.Questions[0].Title; !strings.HasSuffix(asked, ` in "Disc"`) { // an answer must meet the same target
		t.Errorf("the question is about %s", asked)
	}
	_, err := os.Stat(log)
	assert.Check(t, err != nil, "it was clicked")
}

// TestRealModelSeesNoPassword: the model gets the field for passwords in black.
func TestRealModelSeesNoPassword(t *testing.T) {
	w := parallelWorld(t)
	s := serveVision(t)
	w.asksModel(s)
	app := w.python("disc.py", `"Disc"`, filepath.Join(w.Home, "clicked"))
	field := w.ok("ax_find", params{"app": app, "query": "role:password"}).data
	w.ok("ax_ask_model", params{"app": app, "task": "find", "description": "the disc"})
	windows := w.ok("ax_list_windows", params{"app": app}).data
	picture := s.pictures[len(s.pictures)-1]
	position, _ := field["position"].([]any)
	size, _ := field["size"].([]any)
	first := at(windows, "windows", 0)
	x, _ := position[0].(float64)
	y, _ := position[1].(float64)
	left, _ := at(first, "position", 0).(float64)
	top, _ := at(first, "position", 1).(float64)
	width, _ := size[0].(float64)
	height, _ := size[1].(float64)
	place := image.Rect(int(x-left), int(y-top), int(x-left+width), int(y-top+height))
	if place.Empty() || !place.In(picture.Rect) {
		t.Fatalf("the field is at %v of %v: %v %v", place, picture.Rect, field, first)
	}
	assert.Check(t, bytes.Equal(vision.Crop(picture, place).Pix, blackened(image.NewRGBA(place)).Pix), "the field for passwords is not black in the model's picture")
}

func blackened(picture *image.RGBA) *image.RGBA {
	for i := 3; i < len(picture.Pix); i += 4 {
		picture.Pix[i] = 255
	}
	return vision.Clone(picture)
}
