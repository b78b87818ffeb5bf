package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// answering is an app with a tool that returns the result.
func answering(r aai.Result) *aai.App {
	return slowly(func(context.Context, *aai.Call) (*aai.Result, error) { return &r, nil })
}

// A longAnswer holds the fields of an answer to tools/call that matter for long ones.
type longAnswer struct {
	Content []struct {
		Type, Text, URI, MIMEType, Data string
		Size                            int
	}
	StructuredContent struct {
		Result                     any
		Text, Head, Note, Resource string
		Bytes                      int
	}
}

func TestLongOutputIsALink(t *testing.T) {
	long := "x" + strings.Repeat("é", 60<<10) // two bytes each, and cut between them
	lines := make([]string, 30<<10)
	for i := range lines {
		lines[i] = "entry"
	}
	data, err := json.Marshal(lines)
	assert.NilError(t, err)
	for _, try := range []struct {
		name, whole, mime string
		result            aai.Result
		text              string // "": the head of the output
		kept              any
	}{
		{"text", long, "text/plain", aai.Result{Text: long}, "", nil},
		{"data", string(data), "application/json", aai.Result{Data: lines}, "", nil},
		{"data with words", string(data), "application/json", aai.Result{Data: lines, Text: "many"}, "many", nil},
		{"words with data", long, "text/plain", aai.Result{Data: 7, Text: long}, "", 7.0},
	} {
		t.Run(try.name, func(t *testing.T) {
			w := newWorld(t, adding(answering(try.result)))
			c := w.dial(t).open("2025-06-18", `{}`)
			var got longAnswer
			c.get("tools/call", work(``), &got)
			s := got.StructuredContent
			assert.Equal(t, s.Bytes, len(try.whole), "%d", len(s.Head))
			assert.Equal(t, s.Result, try.kept, "%d", len(s.Head))
			assert.Assert(t, strings.HasPrefix(try.whole, s.Head), "%d bytes, result %v, a head of %d", s.Bytes, s.Result, len(s.Head))
			assert.Assert(t, len(s.Head) >= 16000, "%d bytes, result %v, a head of %d", s.Bytes, s.Result, len(s.Head))
			assert.Assert(t, utf8.ValidString(s.Head), "%d bytes, result %v, a head of %d", s.Bytes, s.Result, len(s.Head))
			want := try.text
			if want == "" {
				want = s.Head + "…\n" + s.Note
			}
			assert.Check(t, is.Equal(got.Content[0].Text, want))
			assert.Check(t, is.Contains(s.Note, s.Resource))
			if len(got.Content) != 2 || got.Content[1].Type != "resource_link" || got.Content[1].URI != s.Resource || got.Content[1].Size != len(try.whole) {
				t.Errorf("there is no link: %.300v", got.Content[1:])
			}
			read := c.textOf(s.Resource)
			assert.Check(t, is.Equal(read, try.mime+" "+try.whole), "the resource has %d bytes: %.50q…", len(read), read)
			ids := c.completed(`{"type":"ref/resource","uri":"output:{id}"}`, "id", "", "{}")
			assert.Assert(t, is.Len(ids, 1))
			assert.Equal(t, "output:"+ids[0], s.Resource)
		})
	}
}

// TestLongOutputOfOldVersions checks that a version without links gets the URI in the text.
func TestLongOutputOfOldVersions(t *testing.T) {
	c := newWorld(t, adding(answering(aai.Result{Text: strings.Repeat("x", 200<<10)}))).dial(t).open("2025-03-26", `{}`)
	var got longAnswer
	c.get("tools/call", work(``), &got)
	assert.Assert(t, is.Len(got.Content, 1))
	assert.Assert(t, is.Contains(got.Content[0].Text, "output:"))
	c.textOf(got.StructuredContent.Resource)
}

// TestOutputThatIsTooLong checks that an output that is too long to be stored has a note.
func TestOutputThatIsTooLong(t *testing.T) {
	c := newWorld(t, adding(answering(aai.Result{Text: strings.Repeat("x", 9<<20)}))).dial(t).open("2025-11-25", `{}`)
	var got longAnswer
	c.get("tools/call", work(``), &got)
	s := got.StructuredContent
	assert.Assert(t, is.Len(got.Content, 1), "%q", s.Note)
	assert.Equal(t, s.Resource, "", "%q", s.Note)
	assert.Assert(t, is.Contains(got.Content[0].Text, "too many to store"), "%q", s.Note)
	assert.Equal(t, s.Bytes, 9<<20, "%q", s.Note)
}

// TestOutputThatIsShortEnough checks that an output at the limit is complete.
func TestOutputThatIsShortEnough(t *testing.T) {
	text := strings.Repeat("x", 100<<10)
	c := newWorld(t, adding(answering(aai.Result{Text: text}))).dial(t).open("2025-11-25", `{}`)
	var got longAnswer
	c.get("tools/call", work(``), &got)
	if len(got.Content) != 1 || got.Content[0].Text != text || got.StructuredContent.Result != text {
		t.Errorf("%d contents of %d bytes", len(got.Content), len(got.Content[0].Text))
	}
}

// TestLongOutputIsOfItsSession checks that other sessions and users cannot read it.
func TestLongOutputIsOfItsSession(t *testing.T) {
	s := newWorld(t, adding(answering(aai.Result{Text: strings.Repeat("x", 200<<10)}))).serve(t, withTokens)
	a, b, c := s.as("alice").open(t), s.as("alice").open(t), s.as("bob").open(t)
	var got longAnswer
	assert.NilError(t, json.Unmarshal(a.ask(t, "tools/call", work(``)).Result, &got))
	read := fmt.Sprintf(`{"uri":%q}`, got.StructuredContent.Resource)
	if m := a.ask(t, "resources/read", read); m.Error != nil {
		t.Errorf("its own session: %+v", *m.Error)
	}
	for name, other := range map[string]*caller{"another session": b, "another user": c} {
		assert.Check(t, other.ask(t, "resources/read", read).Error != nil, "%s has read it", name)
	}
	modern := s.connectHTTP(t, "2026-07-28", "alice", nil)
	r, err := modern.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: got.StructuredContent.Resource})
	assert.Check(t, err != nil, "without a session it is read: %v", r)
	// Without sessions a user is one conversation.
	result := callWork(t, modern)
	link, ok := result.Content[1].(*mcp.ResourceLink)
	if !ok {
		t.Fatalf("there is no link: %+v", result.Content)
	}
	_, err = modern.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
	assert.Check(t, err)
}

// TestPicturesAreNotInTheText checks that images are image content, and that the text does not contain
// their bytes.
func TestPicturesAreNotInTheText(t *testing.T) {
	picture := []byte(strings.Repeat("picture", 100))
	c := newWorld(t, adding(answering(aai.Result{Text: "seen", Data: map[string]any{"width": 1}, Images: []aai.Image{{MIME: "image/png", Data: picture}}}))).
		dial(t).open("2025-11-25", `{}`)
	var got longAnswer
	m := c.ask("tools/call", work(``))
	assert.NilError(t, json.Unmarshal(m.Result, &got))
	encoded := base64.StdEncoding.EncodeToString(picture)
	assert.Assert(t, is.Len(got.Content, 2), "%.300s", m.Result)
	assert.Equal(t, got.Content[1].Type, "image", "%.300s", m.Result)
	assert.Equal(t, got.Content[1].Data, encoded, "%.300s", m.Result)
	assert.Assert(t, strings.Count(string(m.Result), encoded[:40]) <= strings.Count(encoded, encoded[:40]), "%.300s", m.Result)
	assert.Check(t, is.Equal(got.StructuredContent.Text, "seen"), "the words are not in the data: %+v", got.StructuredContent)
}
