package dbus

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// signalRecipe returns a recipe for an event of the test service.
func signalRecipe(event, signal string, fields ...string) *aai.Recipe {
	return &aai.Recipe{Platform: "linux", Event: event, DBus: &aai.DBusRecipe{
		Bus: "session", Service: service, Interface: testkit.ServiceInterface, Signal: signal, Fields: fields,
	}}
}

// received are the events of a source that runs until the end of the test.
type received struct {
	events chan aai.Event
	ended  chan error
}

func receive(t *testing.T, d *Driver, recipes ...*aai.Recipe) received {
	t.Helper()
	source, err := d.CompileEvents(recipes)
	assert.NilError(t, err)
	r, ready := received{make(chan aai.Event, 20_000), make(chan error, 1)}, make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() { r.ended <- source(ctx, func() { close(ready) }, func(e aai.Event) { r.events <- e }) }()
	select {
	case <-ready:
	case err := <-r.ended:
		t.Fatalf("the source ended: %v", err)
	}
	return r
}

func (r received) next(t *testing.T) aai.Event {
	t.Helper()
	select {
	case e := <-r.events:
		return e
	case <-soon(t).Done():
		t.Fatal("no event")
	}
	return aai.Event{}
}

func emit(t *testing.T, s *testkit.BusService, signal string, values ...any) {
	t.Helper()
	assert.NilError(t, s.Conn.Emit(testkit.ServicePath, testkit.ServiceInterface+"."+signal, values...))
}

func TestEventsAreSignalsOfTheOwner(t *testing.T) {
	bus := testkit.StartBus(t)
	app, impostor := testkit.ServeOnBus(t, bus, service), testkit.ServeOnBus(t, bus, "org.example.Impostor")
	r := receive(t, newDriver(t, bus), signalRecipe("added", "Added", "id", "title"), signalRecipe("moved", "Moved"))
	emit(t, impostor, "Added", int32(1), "false")
	if _, err := impostor.Conn.RequestName("org.example.Barrier", 0); err != nil { // the bus has its signal before
		t.Fatal(err)
	}
	emit(t, app, "Other", "x")
	emit(t, app, "Added", int32(7), "Milk", true)
	emit(t, app, "Moved", "a", []string{"b"})
	e := r.next(t)
	assert.Check(t, is.Equal(e.Type, "added"))
	assert.Check(t, is.DeepEqual(e.Fields, any(map[string]any{"id": int64(7), "title": "Milk"})))
	e = r.next(t)
	assert.Check(t, is.Equal(e.Type, "moved"))
	assert.Check(t, is.DeepEqual(e.Fields, any(map[string]any{"args": []any{"a", []any{"b"}}})))
}

func TestEventsGoOnWithTheNextOwner(t *testing.T) {
	bus, first, d := served(t)
	r := receive(t, d, signalRecipe("added", "Added"))
	_ = first.Conn.Close()
	e := r.next(t)
	assert.Check(t, is.Equal(e.Type, "program_ended"), "after the end of the service the event is %+v", e)
	second := testkit.ServeOnBus(t, bus, service)
	e = r.next(t)
	assert.Check(t, is.Equal(e.Type, "program_started"), "after its start the event is %+v", e)
	emit(t, second, "Added", "x")
	e = r.next(t)
	assert.Check(t, is.Equal(e.Type, "added"), "%+v", e)
}

func TestEventsOfAFlood(t *testing.T) {
	_, app, d := served(t)
	r := receive(t, d, signalRecipe("added", "Added", "n"))
	for n := range 10_000 {
		emit(t, app, "Added", int32(n))
	}
	for n := range 10_000 {
		fields, _ := r.next(t).Fields.(map[string]any)
		assert.Equal(t, fields["n"], int64(n), "%d %v", n, fields)
	}
}

func TestEventsEndWithTheBus(t *testing.T) {
	bus := testkit.StartBus(t)
	r := receive(t, newDriver(t, bus), signalRecipe("added", "Added"))
	bus.Stop()
	select {
	case err := <-r.ended:
		assert.Check(t, err != nil, "the source ended without an error")
	case <-soon(t).Done():
		t.Error("the source has not ended")
	}
}

func TestEventsThatCannotBe(t *testing.T) {
	d := New(Config{})
	for field, change := range map[string]func(*aai.DBusRecipe){
		"service":   func(b *aai.DBusRecipe) { b.Service = "org.freedesktop.secrets" },
		"interface": func(b *aai.DBusRecipe) { b.Interface = "ca.desrt.dconf.Writer" },
		"object":    func(b *aai.DBusRecipe) { b.Object = "/org/gnome/keyring/x" },
		"bus":       func(b *aai.DBusRecipe) { b.Bus = "system" },
	} {
		r := signalRecipe("added", "Added")
		change(r.DBus)
		_, err := d.CompileEvents([]*aai.Recipe{r})
		assert.Assert(t, strings.HasPrefix(refused(t, err, aai.PermissionDenied), field), "%s %v", field, err)
	}
	other := signalRecipe("moved", "Moved")
	other.DBus.Service = "org.example.Other"
	_, err := d.CompileEvents([]*aai.Recipe{signalRecipe("added", "Added"), other})
	assert.Check(t, err != nil, "events of two services are one app's")
}

// A service that also has a denied name is silent.
func TestEventsOfADeniedOwner(t *testing.T) {
	_, app, d := served(t)
	r := receive(t, d, signalRecipe("added", "Added"))
	emit(t, app, "Added", "before")
	e := r.next(t)
	assert.Equal(t, e.Type, "added", "%+v", e)
	_, err := app.Conn.RequestName("org.freedesktop.secrets", 0)
	assert.NilError(t, err)
	emit(t, app, "Added", "denied")
	_, err = app.Conn.ReleaseName("org.freedesktop.secrets")
	assert.NilError(t, err)
	emit(t, app, "Added", "after")
	fields, _ := r.next(t).Fields.(map[string]any)
	args, _ := fields["args"].([]any)
	assert.Check(t, slices.Equal(args, []any{"after"}), "the next event is %v", fields)
}
