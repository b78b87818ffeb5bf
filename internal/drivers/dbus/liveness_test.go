package dbus

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestErrorsOfTheAppAreDelivered(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	action := compile(t, newDriver(t, b), methodRecipe("Fail", "name", "text"))
	table := map[string]aai.Code{
		"org.freedesktop.DBus.Error.Failed":              aai.AutomationFailed,
		"org.freedesktop.DBus.Error.InvalidArgs":         aai.AutomationFailed,
		"org.freedesktop.DBus.Error.UnknownObject":       aai.AutomationFailed,
		"org.freedesktop.DBus.Error.PropertyReadOnly":    aai.AutomationFailed,
		"org.freedesktop.DBus.Error.AccessDenied":        aai.PermissionDenied,
		"org.freedesktop.PolicyKit1.Error.NotAuthorized": aai.PermissionDenied,
		"org.freedesktop.DBus.Error.TimedOut":            aai.Timeout,
		"org.freedesktop.DBus.Error.NoReply":             aai.Timeout,
		"org.freedesktop.DBus.Error.NameHasNoOwner":      aai.AppNotRunning,
		// An app may send the bus's error about another service. The call was delivered, so it
		// must not be repeated.
		"org.freedesktop.DBus.Error.ServiceUnknown": aai.AppNotFound,
		"org.example.Error.OutOfPaper":              aai.AutomationFailed,
	}
	for name, code := range table {
		err := fail(t, action, map[string]any{"name": name, "text": "bad\x1b[31m\nthing"}, code, aai.Delivered)
		if want := service + " answered Fail with the error " + name + ": bad[31m thing"; err.Message != want {
			t.Errorf("message:\n%q, expected\n%q", err.Message, want)
		}
	}
	if n := s.Calls("Fail"); n != len(table) {
		t.Errorf("%d deliveries of %d calls", n, len(table))
	}
}

func TestDeliveryOfErrors(t *testing.T) {
	for name, want := range map[string]aai.Delivery{
		"NoReply": aai.DeliveryUnknown, "Timeout": aai.DeliveryUnknown, "TimedOut": aai.DeliveryUnknown, "Disconnected": aai.DeliveryUnknown,
		"ServiceUnknown": aai.NotDelivered, "AccessDenied": aai.NotDelivered, "LimitsExceeded": aai.NotDelivered,
	} {
		if got := deliveryOf(&wire.Message{Sender: wire.BusName, ErrorName: errorPrefix + name}); got != want {
			t.Errorf("%s of the bus: %s", name, got)
		}
		if got := deliveryOf(&wire.Message{Sender: ":1.2", ErrorName: errorPrefix + name}); got != aai.Delivered {
			t.Errorf("%s of an app: %s", name, got)
		}
	}
}

func TestDenialByTheBusIsNotDelivered(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, service)
	r := methodRecipe("Open")
	r.DBus.Interface = "org.example.Forbidden"
	fail(t, compile(t, newDriver(t, b), r), nil, aai.PermissionDenied, aai.NotDelivered)
}

func TestNobodyHasTheName(t *testing.T) {
	b := testkit.StartBus(t)
	d := newDriver(t, b)
	fail(t, compile(t, d, methodRecipe("Open")), nil, aai.AppNotRunning, aai.NotDelivered)
	fail(t, compile(t, d, &aai.Recipe{IPC: &aai.IPCRecipe{}}), nil, aai.AppNotRunning, aai.NotDelivered)
}

// The bus can start the service; a repeated call would find it.
func TestServiceThatDiesIsNotCalledAgain(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	activatable(t, b, service)
	err := fail(t, compile(t, newDriver(t, b), methodRecipe("Die")), nil, aai.AppNotRunning, aai.DeliveryUnknown)
	if n := s.Calls("Die"); n != 1 {
		t.Errorf("%d deliveries: %s", n, err.Message)
	}
	if hasOwner(t, b.Connect(t), service) {
		t.Error("the service was started again")
	}
}

// activatable makes the bus start this test binary as the service.
func activatable(t *testing.T, b *testkit.Bus, name string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.AddService(t, name, "/usr/bin/env", testkit.ServiceEnv+"="+name, self)
}

func TestBusStartsTheService(t *testing.T) {
	b := testkit.StartBus(t)
	activatable(t, b, service)
	d := newDriver(t, b)
	action := compile(t, d, methodRecipe("Join", "to", "subject_line", "urgency"))
	args := map[string]any{"to": "a", "subject_line": "b", "urgency": 1}
	if got := run(t, action, args); got.Data != "to=a subject=b urgency=1" {
		t.Errorf("got %v", got.Data)
	}
	// And again after it has died.
	fail(t, compile(t, d, methodRecipe("Die")), nil, aai.AppNotRunning, aai.DeliveryUnknown)
	run(t, action, args)
}

func TestServiceThatCannotBeStarted(t *testing.T) {
	b := testkit.StartBus(t)
	d := newDriver(t, b)
	b.AddService(t, service, "/bin/false")
	fail(t, compile(t, d, methodRecipe("Open")), nil, aai.AppNotRunning, aai.NotDelivered)
	b.AddService(t, service, "/nowhere/at/all")
	fail(t, compile(t, d, methodRecipe("Open")), nil, aai.AppNotFound, aai.NotDelivered)
}

func TestServiceThatIsRestartingIsWaitedFor(t *testing.T) {
	b := testkit.StartBus(t)
	first := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	action := compile(t, d, methodRecipe("EchoString", "v"))
	args := map[string]any{"v": "a"}
	run(t, action, args)
	_ = first.Conn.Close()
	gone(t, b, service)

	var second *testkit.BusService
	pauses := 0
	d.session.sleep = func(context.Context, time.Duration) error {
		if pauses++; pauses == 2 {
			second = testkit.ServeOnBus(t, b, service)
		}
		return nil
	}
	run(t, action, args)
	if pauses != 2 || second.Calls("EchoString") != 1 {
		t.Errorf("%d pauses, %d deliveries", pauses, second.Calls("EchoString"))
	}

	// The wait has a limit.
	_ = second.Conn.Close()
	gone(t, b, service)
	pauses = 2
	fail(t, action, args, aai.AppNotRunning, aai.NotDelivered)
	if pauses != 4 {
		t.Errorf("%d pauses instead of 2", pauses-2)
	}
}

func TestSleeperCostsOnlyItsOwnCallers(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, service)
	sleeper := testkit.ServeOnBus(t, b, "org.example.Sleeper")
	d := newDriver(t, b)
	blocking := methodRecipe("Block")
	blocking.DBus.Service = "org.example.Sleeper"
	block := compile(t, d, blocking)
	asleep := make(chan error, 1)
	ctx := soon(t)
	go func() {
		_, err := block(ctx, &aai.Call{})
		asleep <- err
	}()
	sleeper.WaitBlocked(1)

	action := compile(t, d, methodRecipe("EchoInt32", "v"))
	var calls sync.WaitGroup
	for i := range 64 {
		calls.Go(func() {
			for j := range 10 {
				got, err := action(ctx, &aai.Call{Args: map[string]any{"v": i*10 + j}})
				if err != nil || got.Data != int64(i*10+j) {
					t.Errorf("call %d: %v %v", i, got, err)
				}
			}
		})
	}
	calls.Wait()
	select {
	case err := <-asleep:
		t.Fatalf("the sleeper has answered: %v", err)
	default:
	}
	sleeper.Release()
	if err := <-asleep; err != nil {
		t.Error(err)
	}
}

func TestEndOfTheContextEndsTheCall(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	defer s.Release()
	action := compile(t, newDriver(t, b), methodRecipe("Block"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		s.WaitBlocked(1)
		cancel()
	}()
	err := failIn(ctx, t, action, nil, aai.AutomationFailed, aai.DeliveryUnknown)
	if !errors.Is(&err, context.Canceled) {
		t.Errorf("cause: %v", err.Err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	failIn(ctx, t, action, nil, aai.Timeout, aai.DeliveryUnknown)
	// An ended context sends nothing.
	failIn(ctx, t, action, nil, aai.Timeout, aai.NotDelivered)
	if n := s.Calls("Block"); n != 2 {
		t.Errorf("%d deliveries", n)
	}
}

// The deadline covers the whole call, including the preparation.
func TestHungIntrospection(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	hold := make(chan struct{})
	defer close(hold)
	asked := make(chan struct{}, 1)
	hang := map[string]any{"Introspect": func() (string, *dbus.Error) {
		asked <- struct{}{}
		<-hold
		return "", nil
	}}
	if err := s.Conn.ExportMethodTable(hang, testkit.ServicePath, introspectable); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	action := compile(t, newDriver(t, b), methodRecipe("Nothing"))
	failIn(ctx, t, action, nil, aai.Timeout, aai.NotDelivered)
	<-asked
	if n := s.Calls("Nothing"); n != 0 {
		t.Errorf("%d deliveries", n)
	}
}

// The bus reports that a unique name has no owner: the cached owner is outdated, and nothing was
// delivered.
func TestOwnerThatIsGoneIsLookedForAgain(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	action := compile(t, d, methodRecipe("Nothing"))
	run(t, action, nil)
	settled(t, d, func(n *nameTable) bool {
		n.owners[service] = ":1.99999"
		return true
	})
	run(t, action, nil)
	if n := s.Calls("Nothing"); n != 2 {
		t.Errorf("%d deliveries", n)
	}
}

// The first owner is still on the bus after another has taken over the name.
func TestNameThatChangesHands(t *testing.T) {
	b := testkit.StartBus(t)
	first := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	action := compile(t, d, methodRecipe("Nothing"))
	run(t, action, nil)
	release(t, first, service)
	second := testkit.ServeOnBus(t, b, service)
	settled(t, d, func(n *nameTable) bool { return n.owners[service] == "" })
	run(t, action, nil)
	if first.Calls("Nothing") != 1 || second.Calls("Nothing") != 1 {
		t.Errorf("%d and %d deliveries", first.Calls("Nothing"), second.Calls("Nothing"))
	}
}

// The cache entries of a service end with it.
func TestNothingIsRememberedOfTheDead(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	run(t, compile(t, d, methodRecipe("Nothing")), nil)
	l, err := d.session.connect(soon(t))
	if err != nil || len(l.objects.objects) != 1 {
		t.Fatalf("%v, %d objects", err, len(l.objects.objects))
	}
	_ = s.Conn.Close()
	await(t, "the object to be forgotten", func() bool {
		l.objects.mu.RLock()
		defer l.objects.mu.RUnlock()
		return len(l.objects.objects) == 0
	})
}
