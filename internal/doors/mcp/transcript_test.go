package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestTranscripts plays the messages of clients of every protocol version, and compares the received
// bytes with the recorded ones. In a transcript a line ">" is from the client, "<" from the server and
// "=" a line of the journal at the end. UPDATE_GOLDEN=1 rewrites the latter two.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 5 {
		t.Fatalf("expected a transcript of each version, found %q", files)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
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
	if rest, err := c.hangUp(); len(rest) > 0 || err != nil {
		t.Errorf("at the end came %q and %v", rest, err)
	}
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
