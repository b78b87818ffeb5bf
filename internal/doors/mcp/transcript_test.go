package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
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
	rest, err := c.hangUp()
	assert.Assert(t, is.Len(rest, 0))
	assert.NilError(t, err)
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
