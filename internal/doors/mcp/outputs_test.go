package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
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

// slowly is an app with a tool that reports its progress.
func slowly(run aai.Action) *aai.App {
	return &aai.App{ID: "org.example.Slow", Name: "Slow", Tools: []*aai.Tool{tool("work", aai.Reads, run)}}
}

func work(meta string) string {
	return `{"name":"aai_exec","arguments":{"app":"org.example.Slow","tool":"work"}` + meta + `}`
}

func TestProgress(t *testing.T) {
	var late func()
	c := newWorld(t, adding(slowly(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		late = func() { gateway.Progress(ctx, 9, 9, "late") }
		for _, done := range []float64{1, 1, 0.5, 2, 12, 3} {
			gateway.Progress(ctx, done, 9, fmt.Sprintf("Step %v\x1b", done))
		}
		return &aai.Result{Text: "done"}, nil
	}))).dial(t).open("2025-11-25", `{}`)
	for _, token := range []string{`"p-42"`, `7`} {
		news, answer := c.until(c.request("tools/call", work(`,"_meta":{"progressToken":`+token+`}`)))
		answer.result(t).succeeds(t)
		var got []string
		for _, m := range news {
			got = append(got, m.Method+" "+string(m.Params))
		}
		expectLines(t, token, got,
			`notifications/progress {"progressToken":`+token+`,"message":"Step 1","progress":1,"total":9}`,
			`notifications/progress {"progressToken":`+token+`,"message":"Step 2","progress":2,"total":9}`,
			`notifications/progress {"progressToken":`+token+`,"message":"Step 3","progress":3,"total":9}`)
		late()
	}
	news, _ := c.until(c.request("tools/call", work(``)))
	assert.Check(t, is.Len(news, 0), "without a token came %+v", news)
	late()
	c.ends()
}

// TestProgressOfAToolThatIsSilent checks that a silent tool also has progress, in seconds of its timeout.
func TestProgressOfAToolThatIsSilent(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-11-25", `{}`)
	id := c.request("tools/call", strings.TrimSuffix(exec(blockTool, `{}`), "}")+`,"_meta":{"progressToken":1}}`)
	last := 0.0
	for range 2 {
		m := c.receive()
		var p struct {
			Progress, Total float64
			Message         string
		}
		err := json.Unmarshal(m.Params, &p)
		assert.NilError(t, err, m.Params)
		assert.Equal(t, m.Method, "notifications/progress", m.Params)
		assert.Assert(t, !(p.Progress <= last), m.Params)
		assert.Assert(t, p.Total == 30, m.Params)
		assert.Equal(t, p.Message, "Waiting for Notes", m.Params)
		last = p.Progress
	}
	close(w.release)
	_, answer := c.until(id)
	answer.result(t).succeeds(t)
}

// TestArgumentsArriveWhole checks that arguments of every size arrive unchanged, by every way.
func TestArgumentsArriveWhole(t *testing.T) {
	sizes := []int{1, 1000, 1025, 70_000, 1_000_000}
	check := func(t *testing.T, w *world, size int) {
		t.Helper()
		text, _ := (<-w.added).Args["text"].(string)
		assert.Check(t, is.Equal(text, strings.Repeat("x", size)), "of %d bytes there came %d", size, len(text))
	}
	args := func(size int) string { return fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", size)) }
	t.Run("stdio", func(t *testing.T) {
		w := newWorld(t)
		c := w.dial(t).open(oldEra, `{}`)
		for _, size := range sizes {
			c.ask("tools/call", exec(addTool, args(size))).result(t).succeeds(t)
			check(t, w, size)
			c.ask("tools/call", `{"arguments":`+args(size)+`,"name":"`+notes+`:add"}`).result(t).succeeds(t)
			check(t, w, size)
			quoted, _ := json.Marshal(args(size)) // some models send a string
			c.ask("tools/call", exec(addTool, string(quoted))).result(t).succeeds(t)
			check(t, w, size)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		s := newWorld(t).serve(t)
		for _, c := range []*caller{s.as("").open(t), s.as("").modern()} {
			for _, size := range sizes {
				c.ask(t, "tools/call", exec(addTool, args(size))).result(t).succeeds(t)
				check(t, s.world, size)
			}
		}
	})
	t.Run("SSE", func(t *testing.T) {
		s := newWorld(t).serve(t, withSSE)
		client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
		session, err := client.Connect(t.Context(), &mcp.SSEClientTransport{
			Endpoint: strings.TrimSuffix(s.url, "/mcp") + "/sse", HTTPClient: &http.Client{Transport: s.client.Transport},
		}, nil)
		assert.NilError(t, err)
		defer session.Close() //nolint:errcheck // the test is over
		for _, size := range sizes {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{
				"app": notes, "tool": addTool, "args": map[string]any{"text": strings.Repeat("x", size)},
			}})
			assert.NilError(t, err, "%+v", result)
			assert.Assert(t, !result.IsError, "the call gave %+v, %v", result, err)
			check(t, s.world, size)
		}
	})
}

// TestWhatARefusedCallCosts checks that a call that is refused for its size takes twice the memory of
// its message, for every content, and is recorded.
func TestWhatARefusedCallCosts(t *testing.T) {
	const size = 8 << 20
	for name, filling := range map[string]string{
		"text": `"` + strings.Repeat("x", size) + `"`, "lists": "[" + strings.Repeat("[],", size/3) + "0]",
		"objects": "[" + strings.Repeat(`{"a":0},`, size/8) + "0]", "escapes": `"` + strings.Repeat(`\u0061`, size/6) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.dial(t).open(oldEra, `{}`)
			c.lives()
			params := exec(addTool, `{"password":`+filling+`}`)
			line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":%s}`+"\n", params)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = c.in.Write(line)
			m := c.receive()
			runtime.ReadMemStats(&after)
			m.result(t).fails(t, string(aai.InvalidParams))
			if took := int(after.TotalAlloc - before.TotalAlloc); took > 5*len(line)/2 {
				t.Errorf("%.1f times the message", float64(took)/float64(len(line)))
			}
			n := w.journal.outcomes(addTool)[aai.InvalidParams]
			assert.Check(t, is.Equal(n, 1), "%d are on record", n)
		})
	}
}
