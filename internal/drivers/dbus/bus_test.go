package dbus

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func withEnv(t *testing.T, env map[string]string) *Driver {
	d := New(Config{Getenv: func(name string) string { return env[name] }})
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestNoSessionBus(t *testing.T) {
	notASocket := t.TempDir()
	for name, env := range map[string]map[string]string{
		"nothing is set":  {},
		"autolaunch":      {"DBUS_SESSION_BUS_ADDRESS": "autolaunch:"},
		"other transport": {"DBUS_SESSION_BUS_ADDRESS": "tcp:host=localhost,port=1"},
		"nobody listens":  {"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + filepath.Join(notASocket, "bus")},
		"no address":      {"DBUS_SESSION_BUS_ADDRESS": ";"},
	} {
		t.Run(name, func(t *testing.T) {
			err := fail(t, compile(t, withEnv(t, env), methodRecipe("Open")), nil, aai.AppNotRunning, aai.NotDelivered)
			assert.Assert(t, strings.HasPrefix(err.Message, "no session bus"), "%s %s", err.Message, err.Hint)
			assert.Assert(t, err.Hint != "", "%s %s", err.Message, err.Hint)
		})
	}
}

// listen opens a socket that is not a bus. serve gets every connection.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			go serve(c)
		}
	}()
	return "unix:path=" + path
}

func TestBusThatNeverAnswers(t *testing.T) {
	accepted := make(chan struct{}, 10)
	address := listen(t, func(net.Conn) { accepted <- struct{}{} })
	d := withEnv(t, map[string]string{"DBUS_SESSION_BUS_ADDRESS": address})
	action := compile(t, d, methodRecipe("Open"))

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-accepted
		cancel()
	}()
	failIn(ctx, t, action, nil, aai.AutomationFailed, aai.NotDelivered)
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	failIn(late, t, action, nil, aai.Timeout, aai.NotDelivered)

	// Close unblocks the waiting ones.
	go func() {
		<-late.Done()
		_ = d.Close()
	}()
	fail(t, action, nil, aai.AppNotRunning, aai.NotDelivered)
}

func TestWhatAnswersIsNoBus(t *testing.T) {
	for name, greeting := range map[string]string{
		"refusal":         "REJECTED EXTERNAL\r\n",
		"not D-Bus after": "OK 1234\r\nHTTP/1.1 400 Bad Request\r\n\r\n",
		"huge header":     "OK 1234\r\nl\x02\x00\x01\x00\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff",
		"goodbye":         "",
	} {
		t.Run(name, func(t *testing.T) {
			address := listen(t, func(c net.Conn) {
				_, _ = c.Write([]byte(greeting))
				if greeting == "" {
					_ = c.Close()
				}
			})
			d := withEnv(t, map[string]string{"DBUS_SESSION_BUS_ADDRESS": address})
			fail(t, compile(t, d, methodRecipe("Open")), nil, aai.AppNotRunning, aai.NotDelivered)
		})
	}
}

func TestBusDiesAndComesBack(t *testing.T) {
	b, s, d := served(t)
	block := compile(t, d, methodRecipe("Block"))
	nothing := compile(t, d, methodRecipe("Nothing"))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.WaitBlocked(1)
		b.Stop()
	}()
	fail(t, block, nil, aai.AppNotRunning, aai.DeliveryUnknown)
	<-stopped
	s.Release()
	fail(t, nothing, nil, aai.AppNotRunning, aai.NotDelivered)

	b.Restart(t)
	s = testkit.ServeOnBus(t, b, service)
	run(t, nothing, nil)

	// The driver may detect the loss only at the next call.
	b.Restart(t)
	s = testkit.ServeOnBus(t, b, service)
	run(t, nothing, nil)
	assert.Check(t, is.Equal(s.Calls("Nothing"), 1))
}

func TestClose(t *testing.T) {
	_, s, d := served(t)
	defer s.Release()
	block := compile(t, d, methodRecipe("Block"))
	go func() {
		s.WaitBlocked(1)
		_ = d.Close()
	}()
	fail(t, block, nil, aai.AppNotRunning, aai.DeliveryUnknown)
	fail(t, block, nil, aai.AppNotRunning, aai.NotDelivered)
}

func TestOneConnectionForAll(t *testing.T) {
	_, _, d := served(t)
	links := make(chan *busLink, 32)
	for range cap(links) {
		go func() {
			l, err := d.session.connect(t.Context())
			assert.Check(t, err)
			links <- l
		}()
	}
	first := <-links
	for range cap(links) - 1 {
		assert.Equal(t, <-links, first, "two connections")
	}
}

const service = "org.example.App"

func TestMain(m *testing.M) {
	testkit.ServeIfActivated()
	os.Exit(m.Run())
}

// newDriver returns a driver with the session bus b.
func newDriver(t testing.TB, b *testkit.Bus) *Driver {
	t.Helper()
	d := New(Config{Getenv: b.Getenv})
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// served returns a bus with the test service, and a driver with that bus.
func served(t testing.TB) (*testkit.Bus, *testkit.BusService, *Driver) {
	t.Helper()
	b := testkit.StartBus(t)
	return b, testkit.ServeOnBus(t, b, service), newDriver(t, b)
}

// methodRecipe returns a recipe for a method of the test service.
func methodRecipe(method string, params ...string) *aai.Recipe {
	return &aai.Recipe{Platform: "linux", Params: params, DBus: &aai.DBusRecipe{
		Bus: "session", Service: service, Object: testkit.ServicePath, Interface: testkit.ServiceInterface, Method: method,
	}}
}

func propertyRecipe(property, access string, params ...string) *aai.Recipe {
	r := methodRecipe("", params...)
	r.DBus.Property, r.DBus.Access = property, access
	return r
}

func compile(t testing.TB, d *Driver, r *aai.Recipe) aai.Action {
	t.Helper()
	action, err := d.Compile(r)
	assert.NilError(t, err)
	return action
}

// soon limits a call that must not block. No test waits for it to expire.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func run(t testing.TB, action aai.Action, args map[string]any) *aai.Result {
	t.Helper()
	result, err := action(soon(t), &aai.Call{Args: args})
	assert.NilError(t, err, "the call failed: %v", err)
	return result
}

// fail runs the action and returns its error, which must be an *aai.Error with the code and the
// delivery.
func fail(t testing.TB, action aai.Action, args map[string]any, code aai.Code, delivery aai.Delivery) aai.Error {
	t.Helper()
	return failIn(soon(t), t, action, args, code, delivery)
}

func failIn(ctx context.Context, t testing.TB, action aai.Action, args map[string]any, code aai.Code, delivery aai.Delivery) aai.Error {
	t.Helper()
	result, err := action(ctx, &aai.Call{Args: args})
	assert.Assert(t, err != nil, "expected %s, got the result %+v", code, result)
	e, ok := err.(*aai.Error) //nolint:errorlint // the contract is this exact type
	assert.Assert(t, ok, "expected an *aai.Error, got %T: %v", err, err)
	assert.Equal(t, e.Code, code, e.Message)
	assert.Equal(t, e.Delivery, delivery, e.Message)
	return *e
}

// refused checks that err is an *aai.Error with the code, and returns its message.
func refused(t testing.TB, err error, code aai.Code) string {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "expected %s, got %v", code, err)
	assert.Equal(t, e.Code, code, e.Message)
	return e.Message
}
