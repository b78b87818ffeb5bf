package aai_test

import (
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

func TestListeners(t *testing.T) {
	var l aai.Listeners
	l.Call() // no listener
	var called []string
	stopA := l.Add(func() { called = append(called, "a") })
	stopB := l.Add(func() { called = append(called, "b") })
	l.Add(func() { called = append(called, "c") })
	l.Call()
	stopB()
	stopB() // twice does no harm
	l.Call()
	stopA()
	l.Call()
	want := []string{"a", "b", "c", "a", "c", "c"}
	assert.Check(t, slices.Equal(called, want), "called %q, want %q", called, want)
}

// TestRemovingWaits: after remove has returned, f does not run.
func TestRemovingWaits(t *testing.T) {
	var l aai.Listeners
	entered, release := make(chan struct{}), make(chan struct{})
	running := false
	remove := l.Add(func() {
		running = true
		close(entered)
		<-release
		running = false
	})
	var calling sync.WaitGroup
	calling.Go(l.Call)
	<-entered
	go close(release)
	remove()
	assert.Check(t, !running, "it runs on")
	calling.Wait()
}

// TestListenerStopsAnother: a listener may remove a later one.
func TestListenerStopsAnother(t *testing.T) {
	var l aai.Listeners
	var stop func()
	l.Add(func() { stop() })
	stop = l.Add(func() { t.Error("called after stop") })
	l.Call()
}
