package mcp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
	if !slices.Equal(s.told, want) {
		s.t.Errorf("told %q, want %q", s.told, want)
	}
	s.told = nil
}

func TestChangesAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		if err := s.follow("a", s.offer(100*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
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
		if s.reads != 5 {
			t.Errorf("%d reads", s.reads)
		}
	})
}

// TestOnlyThoseConcernedAreTold checks that only clients with a changed content are notified,
// including, once, a client that may no longer read it.
func TestOnlyThoseConcernedAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		o := s.offer(0)
		if err := errors.Join(s.follow("a", o), s.follow("b", o), s.follow("b", o)); err != nil {
			t.Fatal(err)
		}
		if s.watches != 1 {
			t.Errorf("it is watched %d times", s.watches)
		}
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
		if s.stops != 1 || s.changed != nil || len(s.byURI) != 0 {
			t.Errorf("nobody follows, but it is watched: %d stops, %d kept", s.stops, len(s.byURI))
		}
	})
}

// TestRefusedSubscriber checks that a client that may no longer read is notified once, is read for again only ten seconds
// later, cannot subscribe anew, and is notified when it may read again.
func TestRefusedSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		o := s.offer(0)
		if err := s.follow("a", o); err != nil {
			t.Fatal(err)
		}
		s.content["a"] = "" // may not be read
		for range 5 {
			s.changed()
			time.Sleep(time.Second)
		}
		s.after(0, "a@0s")
		if s.reads != 2 {
			t.Errorf("%d reads", s.reads)
		}
		if err := s.follow("a", o); err == nil {
			t.Error("it subscribed again")
		}
		s.content["a"] = "2"
		s.after(time.Minute, "a@10s")
	})
}

// TestTheLastFollowerTakesTheTimerAlong checks that pending changes cause no notification after the
// last subscriber has gone.
func TestTheLastFollowerTakesTheTimerAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSubscriptionTest(t)
		if err := s.follow("a", s.offer(time.Minute)); err != nil {
			t.Fatal(err)
		}
		s.content["a"] = "2"
		s.changed()
		s.after(time.Second, "a@0s")
		s.content["a"] = "3"
		s.changed()
		s.remove(s.clients["a"], "test://x")
		s.after(time.Hour)
		if s.reads != 2 {
			t.Errorf("%d reads", s.reads)
		}
	})
}

func TestWhatCannotBeFollowed(t *testing.T) {
	s := newSubscriptionTest(t)
	if err := s.follow("a", &listedResource{}); err == nil || !strings.Contains(err.Error(), "has no subscription") {
		t.Errorf("without a watch: %v", err)
	}
	s.content["a"] = ""
	if err := s.follow("a", s.offer(0)); err == nil || s.stops != 1 {
		t.Errorf("one that may not be read: %v, %d stops", err, s.stops)
	}
	broken := s.offer(0)
	broken.Watch = func(map[string]string, func()) (func(), error) {
		return nil, aai.Errorf(aai.AutomationNotSupported, "no events")
	}
	s.content["a"] = "1"
	if err := s.follow("a", broken); err == nil || !strings.Contains(err.Error(), "no events") {
		t.Errorf("one that cannot be watched: %v", err)
	}
	if len(s.byURI) != 0 {
		t.Errorf("%d are kept", len(s.byURI))
	}
	for i := range maxSubscriptions + 1 {
		err := s.add(s.clients["a"], fmt.Sprintf("test://%d", i), s.offer(0), nil, aai.Caller{Session: "a"})
		if (err != nil) != (i == maxSubscriptions) {
			t.Errorf("the resource %d: %v", i, err)
		}
	}
}
