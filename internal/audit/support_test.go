package audit

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// TestMain lets the test binary run as another process, which uses the journal in its
// folder as the environment says.
func TestMain(m *testing.M) {
	child := os.Getenv("JOURNAL_TEST_CHILD")
	if child == "" {
		flag.Parse()
		if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
			_ = flag.Set("rapid.checks", "15") // it is a number
		}
		os.Exit(m.Run())
	}
	const path = "audit.jsonl"
	run := map[string]func() error{
		"append":           func() error { return appendAsChild(path, os.Getenv("JOURNAL_TEST_NAME")) },
		"until killed":     func() error { return recordUntilKilled(path, os.Getenv("JOURNAL_TEST_NAME")) },
		"full file system": fillFileSystem, "reserve": reserveOnFullFileSystem,
		"full": func() error { return fillAsChild(path) },
	}[child]
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// childCalls is the number of calls that a child process makes.
const childCalls = 40

func appendAsChild(path, name string) error {
	j := NewFromConfig(Config{Path: path, RotateSize: 40_000})
	for i := range childCalls {
		id := fmt.Sprintf("%s%d", name, i)
		entries := append(mutation(id), reading(id+"r"), refusal(id+"f", aai.AppNotFound))
		for _, e := range append(entries, asked(id+"a")...) {
			if err := j.Record(nil, e); err != nil { //nolint:staticcheck // Record has no use for a context
				return err
			}
		}
	}
	return j.Close()
}

const notes = "org.example.Notes"

func epoch() time.Time {
	return time.Date(2026, 5, 4, 10, 0, 0, 120_000_000, time.FixedZone("", 2*60*60))
}

func journalPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state", "aai", "audit.jsonl")
}

func received(call string) *aai.Entry {
	return &aai.Entry{
		Kind: aai.Received, Time: epoch(), Call: call, Parent: "c0",
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "Claude-AI", Session: "s1", Principal: "somebody"},
		App:    "notes", Tool: "add",
	}
}

func intent(call string) *aai.Entry {
	return &aai.Entry{
		Kind: aai.Intent, Time: epoch().Add(time.Millisecond), Call: call, App: notes, Tool: "add", Target: notes,
		Durable: true, Admitted: true, Effect: aai.Changes, Digest: "d1", Consent: "once (client)", Args: map[string]any{"text": "milk\n\u2028<&>", "n": json.Number("1e400")},
	}
}

func outcome(call string) *aai.Entry {
	return &aai.Entry{Kind: aai.Outcome, Time: epoch().Add(time.Second), Call: call, Elapsed: 1234567 * time.Nanosecond}
}

func failure(call string, code aai.Code) *aai.Entry {
	e := outcome(call)
	e.Code, e.Message, e.Delivery = code, "it said no", aai.NotDelivered
	return e
}

func wholeCall(call string) []*aai.Entry {
	return []*aai.Entry{received(call), intent(call), outcome(call)}
}

func record(t *testing.T, j *Journal, entries ...*aai.Entry) {
	t.Helper()
	for _, e := range entries {
		assert.NilError(t, j.Record(t.Context(), e))
	}
}

// open returns a journal that is closed with the test.
func open(t *testing.T, path string) *Journal {
	t.Helper()
	j := New(path)
	t.Cleanup(func() {
		assert.Check(t, j.Close())
	})
	return j
}

// lines returns the lines of the file, each of which must be a JSON object.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Check(t, len(b) <= 0 || b[len(b)-1] == '\n', "the last line has no end")
	var found []map[string]any
	for line := range bytes.Lines(b) {
		assert.Assert(t, json.Valid(line), "line %d is %q", len(found)+1, line)
		var m map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		assert.NilError(t, d.Decode(&m), "%d %q", len(found)+1, line)
		found = append(found, m)
	}
	return found
}

// past returns the whole history.
func past(t *testing.T, path string) []answer.CallRecord {
	t.Helper()
	found, err := New(path).History(t.Context(), Filter{Limit: 1 << 30})
	assert.NilError(t, err)
	return found
}

// write writes content to the journal's path.
func write(t *testing.T, path, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
}
