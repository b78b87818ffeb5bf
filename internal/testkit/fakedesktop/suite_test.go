package fakedesktop_test

import (
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

func TestSuite(t *testing.T) {
	d := fakedesktop.New()
	f := d.Fixture("Fixture")
	desktoptest.Run(t, desktoptest.Subject{
		Backend:  d.Backend(),
		PID:      f.PID(),
		Title:    "Fixture",
		State:    func(testing.TB) map[string]any { return f.State() },
		Person:   func(testing.TB) any { return d.Person() },
		Stop:     func(testing.TB) { f.Hang() },
		Continue: func(testing.TB) { f.Resume() },
		Kill:     func(testing.TB) { f.Quit() },
	})
}
