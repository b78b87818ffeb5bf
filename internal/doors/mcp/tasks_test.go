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

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
)

// TestTaskTranscripts plays the messages of clients that support tasks. Besides the lines of
// TestTranscripts, ">>" sends without waiting for the answer, "<<" waits for the answer to the request
// with an id, "~" for the next notification and "?" for the next question of the server; ">*" asks
// until a task is no longer working; "!" changes the world. TASK1 is the id of the first task.
func TestTaskTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/tasks/*.txt")
	assert.NilError(t, err)
	assert.Assert(t, len(files) >= 4, "expected a transcript of each form, found %q", files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			assert.NilError(t, err)
			golden(t, filepath.Join("tasks", filepath.Base(file)), playTasks(t, string(script)))
		})
	}
}

// A tasker is a wire that separates answers, questions and notifications: the order between different
// kinds is undefined.
type tasker struct {
	*wire
	world   *world
	ids     []string // of the tasks, in the order of creation
	waiting map[string][]string
}

// The kinds of messages that a tasker waits for, besides the answers, which it finds by id.
const (
	question     = "?"
	notification = "~"
)

var (
	taskID = regexp.MustCompile(`"taskId":"([A-Z2-7]{26})"`)
	stamps = regexp.MustCompile(`"(createdAt|lastUpdatedAt)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	cursor = regexp.MustCompile(`TASK(\d+)`)
)

func playTasks(t *testing.T, script string) []byte {
	t.Helper()
	patience := time.Hour
	if _, said, ok := strings.Cut(script, "! patience "); ok {
		line, _, _ := strings.Cut(said, "\n")
		var err error
		patience, err = time.ParseDuration(line)
		assert.NilError(t, err)
	}
	w := newWorld(t, withPatience(patience))
	w.gate = func(r *aai.Request) ([]aai.Question, error) {
		if r.Tool.Name == unknownOutcomeTool && patience < time.Second && len(r.Call.Answers) == 0 {
			<-w.release // the call must be a task before the question
		}
		return asksAboutSend(r)
	}
	c := &tasker{wire: w.dial(t), world: w, waiting: make(map[string][]string)}
	var played strings.Builder
	for line := range strings.Lines(script) {
		if line[0] == '<' && !strings.HasPrefix(line, "<<") || line[0] == '=' {
			continue
		}
		played.WriteString(line)
		for _, came := range c.do(strings.TrimSuffix(line, "\n")) {
			played.WriteString("< " + c.settled(came) + "\n")
		}
	}
	c.ends()
	for kind, left := range c.waiting {
		assert.Check(t, is.Len(left, 0), "of %q nobody waited for %q", kind, left)
	}
	for _, line := range w.journal.byCall() {
		played.WriteString("= " + line + "\n")
	}
	return []byte(played.String())
}

// byCall returns the lines of the journal, grouped by call: tasks run concurrently.
func (j *journal) byCall() []string {
	lines := j.lines()
	j.mu.Lock()
	defer j.mu.Unlock()
	var calls []string
	of := make(map[string][]string)
	for i, e := range j.entries {
		if of[e.Call] == nil {
			calls = append(calls, e.Call)
		}
		of[e.Call] = append(of[e.Call], lines[i])
	}
	var together []string
	for _, call := range calls {
		together = append(together, of[call]...)
	}
	return together
}

func withPatience(patience time.Duration) change {
	return func(w *world) {
		w.options = func(c *door.Config) { c.TaskSyncTimeout = patience }
	}
}

// do executes one line of a script, and returns the received lines.
func (c *tasker) do(line string) []string {
	c.t.Helper()
	order, rest, _ := strings.Cut(line, " ")
	switch order {
	case ">":
		c.send(c.named(rest))
		return []string{c.next(idOf(rest))}
	case ">>":
		c.send(c.named(rest))
	case ">*":
		for {
			c.send(c.named(rest))
			if came := c.next(idOf(rest)); !strings.Contains(came, `"status":"working"`) {
				return []string{came}
			}
			time.Sleep(time.Millisecond)
		}
	case "<<":
		return []string{c.next(rest)}
	case question, notification:
		return []string{c.next(order)}
	case "!":
		c.change(rest)
	}
	return nil
}

func (c *tasker) change(what string) {
	c.t.Helper()
	switch what {
	case "entered":
		await(c.t, c.world.entered, "the tool does not run")
	case "stopped":
		c.world.stopped(c.t)
	case "release":
		close(c.world.release)
	}
}

func await[T any](t *testing.T, from <-chan T, missing string) T {
	t.Helper()
	select {
	case it := <-from:
		return it
	case <-time.After(patience):
		t.Fatal(missing)
	}
	panic("unreachable")
}

// stopped waits until a call of "block" was cancelled.
func (w *world) stopped(t *testing.T) {
	t.Helper()
	err := await(t, w.ended, "the tool still runs")
	assert.Check(t, is.ErrorIs(err, context.Canceled), "the tool was stopped by %v", err)
}

func idOf(line string) string {
	var m message
	if json.Unmarshal([]byte(line), &m) != nil {
		return ""
	}
	return string(m.ID)
}

// next returns the next message of the kind, or the answer to the request.
func (c *tasker) next(kind string) string {
	c.t.Helper()
	for len(c.waiting[kind]) == 0 {
		line := c.line()
		var m message
		assert.NilError(c.t, json.Unmarshal([]byte(line), &m))
		came := string(m.ID)
		switch {
		case m.Method != "" && m.ID != nil:
			came = question
		case m.Method != "":
			came = notification
		}
		c.waiting[came] = append(c.waiting[came], line)
	}
	first := c.waiting[kind][0]
	c.waiting[kind] = c.waiting[kind][1:]
	return first
}

// settled replaces ids by names, and hides times.
func (c *tasker) settled(line string) string {
	for _, found := range taskID.FindAllStringSubmatch(line, -1) {
		id, known := found[1], false
		for _, other := range c.ids {
			known = known || other == id
		}
		if !known {
			c.ids = append(c.ids, id)
		}
	}
	for i, id := range c.ids {
		line = strings.ReplaceAll(line, id, fmt.Sprintf("TASK%d", i+1))
	}
	return stamps.ReplaceAllString(line, `"$1":"TIME"`)
}

// named replaces names by ids.
func (c *tasker) named(line string) string {
	return cursor.ReplaceAllStringFunc(line, func(name string) string {
		var n int
		if _, err := fmt.Sscanf(name, "TASK%d", &n); err != nil || n > len(c.ids) {
			return name
		}
		return c.ids[n-1]
	})
}
