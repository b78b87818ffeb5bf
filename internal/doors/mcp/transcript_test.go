package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestTranscripts plays the messages of clients of every protocol version, and compares the received
// bytes with the recorded ones. In a transcript a line ">" is from the client, "<" from the server and
// "=" a line of the journal at the end. UPDATE_GOLDEN=1 rewrites the latter two.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	assert.NilError(t, err)
	assert.Assert(t, len(files) >= 5, "expected a transcript of each version, found %q", files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			assert.NilError(t, err)
			golden(t, filepath.Join("transcripts", filepath.Base(file)), play(t, string(script)))
		})
	}
}

// play plays the client's lines and returns the transcript.
func play(t *testing.T, script string) []byte {
	t.Helper()
	w := newWorld(t, withGate(asksAboutSend))
	c := w.dial(t)
	var played strings.Builder
	for line := range strings.Lines(script) {
		if line[0] == '<' || line[0] == '=' {
			continue
		}
		played.WriteString(line)
		said, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
		if !ok {
			continue
		}
		c.send(said)
		if !isNotification(said) {
			played.WriteString("< " + settled(c.line()) + "\n")
		}
	}
	c.ends()
	for _, line := range w.journal.lines() {
		played.WriteString("= " + line + "\n")
	}
	return []byte(played.String())
}

func isNotification(line string) bool {
	var m message
	return json.Unmarshal([]byte(line), &m) == nil && m.Method != "" && m.ID == nil
}

// settled sorts the answers to a batch: their order is undefined.
func settled(line string) string {
	var answers []json.RawMessage
	if json.Unmarshal([]byte(line), &answers) != nil {
		return line
	}
	slices.SortFunc(answers, func(a, b json.RawMessage) int {
		var left, right message
		_, _ = json.Unmarshal(a, &left), json.Unmarshal(b, &right)
		return strings.Compare(string(left.ID), string(right.ID))
	})
	sorted, err := json.Marshal(answers)
	if err != nil {
		return line
	}
	return string(sorted)
}

// asksAboutSend is a gate that admits "send" only with the right answer.
func asksAboutSend(r *aai.Request) ([]aai.Question, error) { return asksAbout(unknownOutcomeTool)(r) }

// asksAbout is a gate that admits the tool only with the right answer.
func asksAbout(tool string) func(r *aai.Request) ([]aai.Question, error) {
	return func(r *aai.Request) ([]aai.Question, error) {
		if r.Tool.Name != tool {
			r.Consent = "open"
			return nil, nil
		}
		answer, answered := r.Call.Answers["consent"]
		switch {
		case !answered:
			return []aai.Question{{
				ID: "consent", Channels: []aai.Channel{aai.DesktopDialog, aai.Client}, Seal: "the seal",
				Title: "Allow it?", Text: "It sends something.",
				Choices: []aai.Choice{{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Allow this once"}},
			}}, nil
		case answer.Seal != "the seal" || answer.Choice != "once" || answer.Channel != aai.Client:
			return nil, aai.Errorf(aai.PermissionDenied, "the person said no")
		}
		r.Consent = "once"
		return nil, nil
	}
}

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

// FuzzStdio checks for every input that the door ends after it, and that every line it wrote is a
// JSON-RPC message or a batch of them.
func FuzzStdio(f *testing.F) {
	opening := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{}}}}` + "\n"
	for _, seed := range []string{
		"", "\n", "{", "[]", opening,
		opening + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		opening + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + exec(addTool, `{"text":"x"}`) + "}\n",
		opening + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + exec(unknownOutcomeTool, `{}`) + "}\n" + `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`,
		opening + `[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"a","method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + modern(exec(unknownOutcomeTool, `{}`), inputs(accepts("once"), `{"consent":"the seal"}`), elicitationCapability) + "}\r\n",
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":` + modern(`{"notifications":{"toolsListChanged":true}}`, "", `{}`) + "}\n",
		opening + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if bytes.Contains(input, []byte(blockTool)) {
			return // it waits for a release by the test
		}
		w := newWorld(t, withGate(asksAboutSend))
		var out bytes.Buffer
		err := w.door.ServeStdio(t.Context(), bytes.NewReader(input), &out)
		assert.NilError(t, err, "the door ended with %v", err)
		lines := bufio.NewScanner(&out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			checkLine(t, lines.Bytes())
		}
	})
}

func checkLine(t *testing.T, line []byte) {
	t.Helper()
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		err := json.Unmarshal(line, &parts)
		assert.NilError(t, err, line)
		assert.Assert(t, len(parts) != 0, "not a batch: %s", line)
	}
	for _, part := range parts {
		var m struct {
			JSONRPC       string
			ID            json.RawMessage
			Method        *string
			Result, Error json.RawMessage
		}
		err := json.Unmarshal(part, &m)
		assert.NilError(t, err, part)
		assert.Equal(t, m.JSONRPC, "2.0", part)
		kinds := 0
		for _, there := range []bool{m.Method != nil, m.Result != nil, m.Error != nil} {
			if there {
				kinds++
			}
		}
		assert.Equal(t, kinds, 1, part)
		assert.Assert(t, m.Method != nil || m.ID != nil, "neither a request nor an answer: %s", part)
	}
}
