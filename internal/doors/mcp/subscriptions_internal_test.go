package mcp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
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
