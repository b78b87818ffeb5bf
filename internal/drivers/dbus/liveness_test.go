package dbus

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestErrorsOfTheAppAreDelivered(t *testing.T) {
	_, s, d := served(t)
	action := compile(t, d, methodRecipe("Fail", "name", "text"))
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
		assert.Check(t, is.Equal(err.Message, service+" answered Fail with the error "+name+": bad[31m thing"))
	}
	assert.Check(t, is.Equal(s.Calls("Fail"), len(table)))
}

func TestDeliveryOfErrors(t *testing.T) {
	for name, want := range map[string]aai.Delivery{
		"NoReply": aai.DeliveryUnknown, "Timeout": aai.DeliveryUnknown, "TimedOut": aai.DeliveryUnknown, "Disconnected": aai.DeliveryUnknown,
		"ServiceUnknown": aai.NotDelivered, "AccessDenied": aai.NotDelivered, "LimitsExceeded": aai.NotDelivered,
	} {
		assert.Check(t, is.Equal(deliveryOf(&wire.Message{Sender: wire.BusName, ErrorName: errorPrefix + name}), want), name)
		assert.Check(t, is.Equal(deliveryOf(&wire.Message{Sender: ":1.2", ErrorName: errorPrefix + name}), aai.Delivered), name)
	}
}

func TestDenialByTheBusIsNotDelivered(t *testing.T) {
	_, _, d := served(t)
	r := methodRecipe("Open")
	r.DBus.Interface = "org.example.Forbidden"
	fail(t, compile(t, d, r), nil, aai.PermissionDenied, aai.NotDelivered)
}

func TestNobodyHasTheName(t *testing.T) {
	b := testkit.StartBus(t)
	d := newDriver(t, b)
	fail(t, compile(t, d, methodRecipe("Open")), nil, aai.AppNotRunning, aai.NotDelivered)
	fail(t, compile(t, d, &aai.Recipe{IPC: &aai.IPCRecipe{}}), nil, aai.AppNotRunning, aai.NotDelivered)
}

// The bus can start the service; a repeated call would find it.
func TestServiceThatDiesIsNotCalledAgain(t *testing.T) {
	b, s, d := served(t)
	activatable(t, b, service)
	err := fail(t, compile(t, d, methodRecipe("Die")), nil, aai.AppNotRunning, aai.DeliveryUnknown)
	assert.Check(t, is.Equal(s.Calls("Die"), 1), err.Message)
	assert.Check(t, !hasOwner(t, b.Connect(t), service), "the service was started again")
}

// activatable makes the bus start this test binary as the service.
func activatable(t *testing.T, b *testkit.Bus, name string) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	b.AddService(t, name, "/usr/bin/env", testkit.ServiceEnv+"="+name, self)
}

func TestBusStartsTheService(t *testing.T) {
	b := testkit.StartBus(t)
	activatable(t, b, service)
	d := newDriver(t, b)
	action := compile(t, d, methodRecipe("Join", "to", "subject_line", "urgency"))
	args := map[string]any{"to": "a", "subject_line": "b", "urgency": 1}
	assert.Check(t, is.Equal(run(t, action, args).Data, "to=a subject=b urgency=1"))
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
	b, first, d := served(t)
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
	assert.Check(t, is.Equal(pauses, 2))
	assert.Check(t, is.Equal(second.Calls("EchoString"), 1))

	// The wait has a limit.
	_ = second.Conn.Close()
	gone(t, b, service)
	pauses = 2
	fail(t, action, args, aai.AppNotRunning, aai.NotDelivered)
	assert.Check(t, is.Equal(pauses, 4), "%d", pauses-2)
}

func TestSleeperCostsOnlyItsOwnCallers(t *testing.T) {
	b, _, d := served(t)
	sleeper := testkit.ServeOnBus(t, b, "org.example.Sleeper")
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
	assert.Check(t, <-asleep)
}

func TestEndOfTheContextEndsTheCall(t *testing.T) {
	_, s, d := served(t)
	defer s.Release()
	action := compile(t, d, methodRecipe("Block"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		s.WaitBlocked(1)
		cancel()
	}()
	err := failIn(ctx, t, action, nil, aai.AutomationFailed, aai.DeliveryUnknown)
	assert.Check(t, is.ErrorIs(&err, context.Canceled), err.Err)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	failIn(ctx, t, action, nil, aai.Timeout, aai.DeliveryUnknown)
	// An ended context sends nothing.
	failIn(ctx, t, action, nil, aai.Timeout, aai.NotDelivered)
	assert.Check(t, is.Equal(s.Calls("Block"), 2))
}

// The deadline covers the whole call, including the preparation.
func TestHungIntrospection(t *testing.T) {
	_, s, d := served(t)
	hold := make(chan struct{})
	defer close(hold)
	asked := make(chan struct{}, 1)
	hang := map[string]any{"Introspect": func() (string, *godbus.Error) {
		asked <- struct{}{}
		<-hold
		return "", nil
	}}
	assert.NilError(t, s.Conn.ExportMethodTable(hang, testkit.ServicePath, introspectable))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	action := compile(t, d, methodRecipe("Nothing"))
	failIn(ctx, t, action, nil, aai.Timeout, aai.NotDelivered)
	<-asked
	assert.Check(t, is.Equal(s.Calls("Nothing"), 0))
}

// The bus reports that a unique name has no owner: the cached owner is outdated, and nothing was
// delivered.
func TestOwnerThatIsGoneIsLookedForAgain(t *testing.T) {
	_, s, d := served(t)
	action := compile(t, d, methodRecipe("Nothing"))
	run(t, action, nil)
	settled(t, d, func(n *nameTable) bool {
		n.owners[service] = ":1.99999"
		return true
	})
	run(t, action, nil)
	assert.Check(t, is.Equal(s.Calls("Nothing"), 2))
}

// The first owner is still on the bus after another has taken over the name.
func TestNameThatChangesHands(t *testing.T) {
	b, first, d := served(t)
	action := compile(t, d, methodRecipe("Nothing"))
	run(t, action, nil)
	release(t, first, service)
	second := testkit.ServeOnBus(t, b, service)
	settled(t, d, func(n *nameTable) bool { return n.owners[service] == "" })
	run(t, action, nil)
	assert.Check(t, is.Equal(first.Calls("Nothing"), 1))
	assert.Check(t, is.Equal(second.Calls("Nothing"), 1))
}

// The cache entries of a service end with it.
func TestNothingIsRememberedOfTheDead(t *testing.T) {
	_, s, d := served(t)
	run(t, compile(t, d, methodRecipe("Nothing")), nil)
	l, err := d.session.connect(soon(t))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(l.objects.objects, 1))
	_ = s.Conn.Close()
	await(t, "the object to be forgotten", func() bool {
		l.objects.mu.RLock()
		defer l.objects.mu.RUnlock()
		return len(l.objects.objects) == 0
	})
}

func request(t *testing.T, s *testkit.BusService, name string) {
	t.Helper()
	reply, err := s.Conn.RequestName(name, godbus.NameFlagDoNotQueue)
	assert.NilError(t, err, name)
	assert.Equal(t, reply, godbus.RequestNameReplyPrimaryOwner, name)
}

func release(t *testing.T, s *testkit.BusService, name string) {
	t.Helper()
	_, err := s.Conn.ReleaseName(name)
	assert.NilError(t, err)
}

// await waits until the condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx := soon(t)
	for !condition() {
		assert.NilError(t, aai.Sleep(ctx, time.Millisecond), "waited in vain for: %s", what)
	}
}

// settled waits until the driver has processed the bus's name signals.
func settled(t *testing.T, d *Driver, condition func(*nameTable) bool) {
	t.Helper()
	l, err := d.session.connect(soon(t))
	assert.NilError(t, err)
	await(t, "the news of a name", func() bool {
		l.names.mu.Lock()
		defer l.names.mu.Unlock()
		return condition(l.names)
	})
}

// gone waits until the name has no owner.
func gone(t *testing.T, b *testkit.Bus, name string) {
	t.Helper()
	c := b.Connect(t)
	await(t, name+" to leave the bus", func() bool { return !hasOwner(t, c, name) })
}

func hasOwner(t *testing.T, c *godbus.Conn, name string) bool {
	t.Helper()
	var owned bool
	assert.NilError(t, c.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned))
	return owned
}

// A query from before a name change is not stored.
func TestLearnedTooLate(t *testing.T) {
	names := newNameTable()
	asked := names.version()
	names.changed("org.example.App", ":1.8")
	if names.learn("org.example.App", ":1.7", asked) || names.owner("org.example.App") != "" {
		t.Errorf("the owner is %q", names.owner("org.example.App"))
	}
	if !names.learn("org.example.App", ":1.8", names.version()) || names.owner("org.example.App") != ":1.8" {
		t.Errorf("then the owner is %q", names.owner("org.example.App"))
	}
}
