package mcp

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A subscriptionTest has contents by caller, in a synctest bubble.
type subscriptionTest struct {
	*subscriptions
	t       *testing.T
	guard   sync.Mutex        // guards content and reads
	content map[string]string // by session; "": refused
	changed func()            // of the watch; nil: there is none
	watches int
	stops   int
	reads   int
	told    []string
	clients map[string]*mcp.ServerSession
}

func newSubscriptionTest(t *testing.T) *subscriptionTest {
	s := &subscriptionTest{t: t, content: map[string]string{"a": "1", "b": "1"}, clients: map[string]*mcp.ServerSession{"a": {}, "b": {}}}
	s.subscriptions = &subscriptions{byURI: make(map[string]*subscribedResource)}
	s.read = func(_ *listedResource, _ map[string]string, caller aai.Caller) (fingerprint, error) {
		s.guard.Lock()
		defer s.guard.Unlock()
		s.reads++
		if s.content[caller.Session] == "" {
			return fingerprint{}, aai.Errorf(aai.PermissionDenied, "no")
		}
		return sha256.Sum256([]byte(s.content[caller.Session])), nil
	}
	begun := time.Now()
	s.notify = func(uri string) {
		for _, name := range []string{"a", "b"} {
			if s.takeDue(s.clients[name], uri) {
				s.told = append(s.told, fmt.Sprintf("%s@%s", name, time.Since(begun)))
			}
		}
	}
	return s
}

func (s *subscriptionTest) offer(debounce time.Duration) *listedResource {
	return &listedResource{Resource: Resource{URI: "test://x", Debounce: debounce, Watch: func(_ map[string]string, changed func()) (func(), error) {
		s.watches++
		s.changed = changed
		return func() { s.stops++; s.changed = nil }, nil
	}}}
}

func (s *subscriptionTest) follow(name string, o *listedResource) error {
	return s.add(s.clients[name], "test://x", o, nil, aai.Caller{Session: name})
}

// after advances the time and checks the notified clients since then.
func (s *subscriptionTest) after(d time.Duration, want ...string) {
	s.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	assert.Check(s.t, slices.Equal(s.told, want), "told %q, want %q", s.told, want)
	s.told = nil
}

func TestChangesAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		assert.NilError(t, s.follow("a", s.offer(100*time.Millisecond)))
		s.content["a"] = "2"
		for range 9 { // one every 22 ms: the first one is reported at once
			s.changed()
			time.Sleep(22 * time.Millisecond)
			s.guard.Lock()
			s.content["a"] += "."
			s.guard.Unlock()
		}
		s.after(time.Second, "a@0s", "a@100ms", "a@200ms")
		s.changed()
		s.after(time.Second) // unchanged
		assert.Check(t, is.Equal(s.reads, 5))
	})
}

// TestOnlyThoseConcernedAreTold checks that only clients with a changed content are notified,
// including, once, a client that may no longer read it.
func TestOnlyThoseConcernedAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		o := s.offer(0)
		assert.NilError(t, errors.Join(s.follow("a", o), s.follow("b", o), s.follow("b", o)))
		assert.Check(t, is.Equal(s.watches, 1), "it is watched %d times", s.watches)
		s.content["b"] = "2"
		s.changed()
		s.after(time.Millisecond, "b@0s")
		s.content["a"] = ""
		s.changed()
		s.after(time.Millisecond, "a@1ms")
		s.changed()
		s.after(time.Millisecond)
		s.remove(s.clients["b"], "test://x")
		s.content["b"] = "3"
		s.changed()
		s.after(time.Millisecond)
		s.removeAll(s.clients["a"])
		s.removeAll(s.clients["a"])
		assert.Equal(t, s.stops, 1)
		assert.Assert(t, s.changed == nil, "nobody follows, but it is watched: %d stops, %d kept", s.stops, len(s.byURI))
		assert.Assert(t, is.Len(s.byURI, 0))
	})
}

// TestRefusedSubscriber checks that a client that may no longer read is notified once, is read for again only ten seconds
// later, cannot subscribe anew, and is notified when it may read again.
func TestRefusedSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		o := s.offer(0)
		assert.NilError(t, s.follow("a", o))
		s.content["a"] = "" // may not be read
		for range 5 {
			s.changed()
			time.Sleep(time.Second)
		}
		s.after(0, "a@0s")
		assert.Check(t, is.Equal(s.reads, 2))
		assert.Check(t, s.follow("a", o) != nil, "it subscribed again")
		s.content["a"] = "2"
		s.after(time.Minute, "a@10s")
	})
}

// TestTheLastFollowerTakesTheTimerAlong checks that pending changes cause no notification after the
// last subscriber has gone.
func TestTheLastFollowerTakesTheTimerAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		assert.NilError(t, s.follow("a", s.offer(time.Minute)))
		s.content["a"] = "2"
		s.changed()
		s.after(time.Second, "a@0s")
		s.content["a"] = "3"
		s.changed()
		s.remove(s.clients["a"], "test://x")
		s.after(time.Hour)
		assert.Check(t, is.Equal(s.reads, 2))
	})
}

func TestWhatCannotBeFollowed(t *testing.T) {
	s := newSubscriptionTest(t)
	err := s.follow("a", &listedResource{})
	assert.Check(t, is.ErrorContains(err, "has no subscription"), "without a watch: %v", err)
	s.content["a"] = ""
	if err := s.follow("a", s.offer(0)); err == nil || s.stops != 1 {
		t.Errorf("one that may not be read: %v, %d stops", err, s.stops)
	}
	broken := s.offer(0)
	broken.Watch = func(map[string]string, func()) (func(), error) {
		return nil, aai.Errorf(aai.AutomationNotSupported, "no events")
	}
	s.content["a"] = "1"
	err = s.follow("a", broken)
	assert.Check(t, is.ErrorContains(err, "no events"), "one that cannot be watched: %v", err)
	assert.Check(t, is.Len(s.byURI, 0), "%d are kept", len(s.byURI))
	for i := range maxSubscriptions + 1 {
		err := s.add(s.clients["a"], fmt.Sprintf("test://%d", i), s.offer(0), nil, aai.Caller{Session: "a"})
		assert.Check(t, is.Equal((err != nil), (i == maxSubscriptions)), "%d %v", i, err)
	}
}

// TestReadingWaitsForTheClient checks that further requests are read only after a client that is behind
// has read its answers, and that every request is answered.
func TestReadingWaitsForTheClient(t *testing.T) {
	const sent = 3 * maxUnanswered
	for name, c := range map[string]struct{ size, answered, begun int }{
		"many requests":                     {1, 1, maxUnanswered},
		"a long answer":                     {maxUnwritten, 1, 2}, // the second was read before
		"requests that wait for the client": {1, 0, sent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines strings.Builder
				for i := range sent {
					fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i)
				}
				read, out := io.Pipe()
				s := newStdio(strings.NewReader(lines.String()), out)
				_, err := s.Connect(t.Context())
				assert.NilError(t, err)
				answer := func(m jsonrpc.Message) {
					text, _ := json.Marshal(strings.Repeat("x", c.size))
					assert.Check(t, s.Write(t.Context(), &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: text}))
				}
				var begun atomic.Int64
				for range c.answered {
					m, err := s.Read(t.Context())
					assert.NilError(t, err)
					begun.Add(1)
					go answer(m)
					synctest.Wait()
				}
				reads := make(chan struct{})
				c.size = 1
				go func() {
					for {
						m, err := s.Read(t.Context())
						if err != nil {
							return
						}
						begun.Add(1)
						go func() { <-reads; answer(m) }()
					}
				}()
				synctest.Wait()
				n := begun.Load()
				assert.Check(t, is.Equal(n, int64(c.begun)), "%d requests are begun, expected %d", n, c.begun)
				close(reads)
				scanner := bufio.NewScanner(read)
				scanner.Buffer(nil, 2*maxUnwritten)
				for n := range sent {
					assert.Assert(t, scanner.Scan(), "only %d of %d are answered", n, sent)
				}
			})
		})
	}
}

// TestOutputsAreBounded checks the limits of stored outputs: in time, of each conversation, and of all.
func TestOutputsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newOutputs()
		mib := func(n int) string { return strings.Repeat("x", n<<20) }
		first, second, third := k.keep("a", "", mib(7)), k.keep("a", "", mib(7)), k.keep("b", "", mib(7))
		fourth := k.keep("a", "", mib(7))
		for uri, there := range map[*output]bool{first: false, second: true, third: true, fourth: true} {
			assert.Check(t, is.Equal((k.find(uri.conversation, uri.uri) != nil), there), "an output is there: %v, want %v", !there, there)
		}
		assert.Assert(t, k.find("b", second.uri) == nil, "another conversation finds it")
		assert.Assert(t, k.find("a", third.uri) == nil, "another conversation finds it")
		assert.Check(t, k.keep("a", "", strings.Repeat("x", maxOutput+1)) == nil, "one that is too long is kept")
		time.Sleep(outputTTL / 2)
		for _, conversation := range strings.Split("cdefghijklmn", "") {
			k.keep(conversation, "", mib(7))
		}
		assert.Check(t, k.bytes <= maxOutputs, "%d bytes are kept", k.bytes)
		assert.Check(t, k.find("b", third.uri) == nil, "%d bytes are kept", k.bytes)
		time.Sleep(outputTTL/2 + time.Second)
		synctest.Wait()
		assert.Assert(t, k.find("a", fourth.uri) == nil, "after its time it is there, or all is gone: %d", k.bytes)
		assert.Assert(t, k.bytes != 0, "after its time it is there, or all is gone: %d", k.bytes)
		time.Sleep(outputTTL / 2)
		synctest.Wait()
		assert.Equal(t, k.bytes, 0)
		assert.Equal(t, k.order.Len(), 0)
		assert.Assert(t, is.Len(k.byURI, 0))
		assert.Assert(t, is.Len(k.of, 0))
	})
}

func TestSummary(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, test := range []struct {
		app  aai.App
		want string
	}{
		{aai.App{Name: "Reminders|提醒事项", Description: "macOS reminders", Aliases: []string{"todo", "待办"}}, "【Reminders|提醒事项】macOS reminders. Aliases: todo, 待办. Call to get guide."},
		{aai.App{Name: "Mail", Description: "Sends mail."}, "【Mail】Sends mail. Call to get guide."},
		{aai.App{Name: "Mail", Description: "Really?\x1b[2J\nYes!"}, "【Mail】Really?[2J Yes! Call to get guide."},
		{aai.App{Name: "Mail"}, "【Mail】Call to get guide."},
		{
			aai.App{Name: "Mail】x", Description: "Say \"hi\" <b> ![a](b).", Site: aai.Site{Origin: "https://mail.example"}, Aliases: []string{"`m`"}},
			"【Mail]x】Web app of mail.example, in its words: \"Say 'hi' ‹b› ![a] (b).\". Aliases: 'm'. Call to get guide.",
		},
		{aai.App{Name: "РayРal", Description: "Pays."}, "【РayРal】Pays. Take care: the name mixes Cyrillic and Latin letters in one word. Call to get guide."},
	} {
		assert.Check(t, is.Equal(summary(&test.app), test.want))
	}
	got := summary(&aai.App{Name: long + "|" + long, Description: long, Aliases: []string{long, long, "x"}})
	assert.Assert(t, len(got) <= 120+maxSummary+80+60, "%d bytes: %s", len(got), got)
	assert.Assert(t, strings.HasSuffix(got, " Call to get guide."), "%d bytes: %s", len(got), got)
	assert.Assert(t, !strings.Contains(got, "…."), "%d bytes: %s", len(got), got)
}

// TestRow19ToolPoisoningInTheList: the list of tools is in every conversation. A site's text is one
// line of visible characters, in quotation marks after the site's host.
func TestRow19ToolPoisoningInTheList(t *testing.T) {
	source, err := os.ReadFile("../../catalog/testdata/poison.json")
	assert.NilError(t, err)
	var poisons []struct{ Name, Text string }
	err = json.Unmarshal(source, &poisons)
	assert.NilError(t, err, "%d", len(poisons))
	assert.Assert(t, len(poisons) >= 50, "%d poisons, error %v", len(poisons), err)
	for _, p := range poisons {
		app := &aai.App{ID: "mail.example/org.example.Mail", Name: p.Text, Description: p.Text, Site: aai.Site{Origin: "https://mail.example"}}
		line := summary(app)
		_, rest, bracket := strings.Cut(strings.TrimPrefix(line, "【"), "】Web app of mail.example, in its words: \"")
		words, after, quote := strings.Cut(rest, "\".")
		after = strings.ReplaceAll(after, " Take care: the name "+sanitize.ConfusableReason(p.Text)+".", "")
		assert.Assert(t, bracket, "%s %s", p.Name, line)
		assert.Assert(t, quote, "%s %s", p.Name, line)
		assert.Equal(t, after, " Call to get guide.", "%s %s", p.Name, line)
		assert.Assert(t, words != "", "%s %s", p.Name, line)
		assert.Assert(t, !strings.ContainsAny(line, "\n`<>"), "%s %s", p.Name, line)
		assert.Assert(t, !strings.Contains(line, "]("), "%s %s", p.Name, line)
		assert.Check(t, is.Equal(line, aai.CleanLabel(line, len(line))), "%s %d", p.Name, len(line))
		assert.Check(t, len(line) <= 120+maxSummary+200, "%s: %d bytes: %q", p.Name, len(line), line)
		name := displayName(app)
		assert.Assert(t, strings.HasSuffix(name, " (mail.example)"), "%s %q", p.Name, name)
		assert.Equal(t, name, sanitize.NeutralizeMarkup(name, len(name)), p.Name)
	}
}
