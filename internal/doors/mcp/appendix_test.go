package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestAppendix plays the conversations of the first design's appendix C, as they are now: a call with
// annotations, logs and progress, a subscription, a question before an irreversible action, and a task.
// A line ">" is from the client, and so is "?", which is repeated while a task is working; "<" is from
// the server. "!" is an event meanwhile, with the number of lines that it causes. UPDATE_GOLDEN=1
// rewrites the "<" lines.
func TestAppendix(t *testing.T) {
	files, err := filepath.Glob("testdata/appendix/*.txtar")
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 2))
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			assert.NilError(t, err)
			archive := txtar.Parse(b)
			assert.Assert(t, is.Len(archive.Files, 4))
			for i, f := range archive.Files {
				archive.Files[i].Data = newAppendixSession(t).play(string(f.Data))
			}
			golden(t, filepath.Join("appendix", filepath.Base(file)), txtar.Format(archive))
		})
	}
}

// An appendixSession is a door, a client, and the events between them.
type appendixSession struct {
	*world
	c      *wire
	goOn   chan struct{}
	taskID string
}

func newAppendixSession(t *testing.T) *appendixSession {
	s := &appendixSession{goOn: make(chan struct{}, 10)}
	steps := func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		for i := range 2 {
			select {
			case <-s.goOn:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			gateway.Progress(ctx, float64(i+1), 2, fmt.Sprintf("Step %d of 2", i+1))
		}
		return &aai.Result{Text: "2 of 2 steps", Data: map[string]any{"steps_completed": 2}}, nil
	}
	s.world = newWorld(t, withDesktop, withGate(asksAbout(addTool)), adding(slowly(steps)), func(w *world) {
		w.options = func(c *door.Config) { c.TaskSyncTimeout = 50 * time.Millisecond }
	}, withProfile("all"))
	s.c = s.dial(t)
	return s
}

// play plays a conversation and returns the transcript of it.
func (s *appendixSession) play(script string) []byte {
	var played strings.Builder
	for line := range strings.Lines(script) {
		if line[0] == '<' {
			continue
		}
		played.WriteString(line)
		said := strings.ReplaceAll(strings.TrimSuffix(line[1:], "\n"), "TASK", s.taskID)
		switch line[0] {
		case '!':
			for range s.happens(strings.Fields(said)) {
				played.WriteString("< " + s.scrub(s.line()) + "\n")
			}
		case '>', '?':
			for _, answer := range s.say(strings.TrimSpace(said), line[0] == '?') {
				played.WriteString("< " + s.scrub(answer) + "\n")
			}
		}
	}
	if rest, err := s.c.hangUp(); len(rest) > 0 || err != nil {
		s.c.t.Errorf("at the end came %q and %v", rest, err)
	}
	return []byte(played.String())
}

// happens performs an event, and returns the number of lines that it causes.
func (s *appendixSession) happens(what []string) int {
	var n int
	_, err := fmt.Sscan(what[1], &n)
	assert.NilError(s.c.t, err, "%q", what)
	switch what[0] {
	case "step":
		s.goOn <- struct{}{}
	case "rewrite":
		s.rewrite(notes, `{"schema_version":"1.1"}`)
	default:
		s.c.t.Fatalf("nothing is called %q", what[0])
	}
	return n
}

// say sends a message, and returns the lines up to the answer, or to a question.
func (s *appendixSession) say(said string, until bool) []string {
	for {
		s.c.send(said)
		if isNotification(said) {
			return nil
		}
		var lines []string
		for {
			line := s.line()
			lines = append(lines, line)
			var m message
			assert.NilError(s.c.t, json.Unmarshal([]byte(line), &m))
			if m.ID != nil || strings.Contains(said, "subscriptions/listen") {
				break
			}
		}
		if last := lines[len(lines)-1]; !until || !strings.Contains(last, `"working"`) {
			return lines
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// line returns the next line, and skips warnings about slow calls.
func (s *appendixSession) line() string {
	for {
		if line := s.c.line(); !strings.Contains(line, `"message":"Waiting for `) {
			return line
		}
	}
}

// scrub replaces variable parts of a line by names.
func (s *appendixSession) scrub(line string) string {
	if id := regexp.MustCompile(`"taskId":"([^"]+)"`).FindStringSubmatch(line); id != nil {
		s.taskID = id[1]
		line = strings.ReplaceAll(line, id[1], "TASK")
	}
	line = onlyFind(line)
	line = regexp.MustCompile(`duration_ms":[\d.e-]+`).ReplaceAllString(line, `duration_ms":0`)
	return regexp.MustCompile(`"20\d\d-\d\d-\d\dT[\d:.]+Z"`).ReplaceAllString(line, `"TIME"`)
}

// onlyFind removes all tools from a list except the one of the conversation.
func onlyFind(line string) string {
	var m struct {
		Result struct{ Tools []json.RawMessage }
	}
	if json.Unmarshal([]byte(line), &m) != nil {
		return line
	}
	var all []string
	only := ""
	for _, tool := range m.Result.Tools {
		all = append(all, string(tool))
		if strings.Contains(string(tool), `"name":"ax_find"`) {
			only = string(tool)
		}
	}
	if only == "" {
		return line
	}
	return strings.Replace(line, strings.Join(all, ","), only, 1)
}
