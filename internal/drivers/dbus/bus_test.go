package dbus

import (
	"context"
	"net"
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
		"bad escape":      {"DBUS_SESSION_BUS_ADDRESS": "unix:path=%zz"},
		"no path":         {"DBUS_SESSION_BUS_ADDRESS": "unix:guid=1"},
	} {
		t.Run(name, func(t *testing.T) {
			err := fail(t, compile(t, withEnv(t, env), methodRecipe("Open")), nil, aai.AppNotRunning, aai.NotDelivered)
			assert.Assert(t, strings.HasPrefix(err.Message, "no session bus"), "%s %s", err.Message, err.Hint)
			assert.Assert(t, err.Hint != "", "%s %s", err.Message, err.Hint)
		})
	}
}

func TestSecondAddressIsTried(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, service)
	d := withEnv(t, map[string]string{"DBUS_SESSION_BUS_ADDRESS": "tcp:host=localhost,port=1;" + b.Address + ",guid=00"})
	run(t, compile(t, d, methodRecipe("Nothing")), nil)
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
		"another protocol": "HTTP/1.1 400 Bad Request\r\n\r\n",
		"refusal":          "REJECTED EXTERNAL\r\n",
		"endless line":     strings.Repeat("x", 100<<10),
		"not D-Bus after":  "OK 1234\r\nHTTP/1.1 400 Bad Request\r\n\r\n",
		"huge header":      "OK 1234\r\nl\x02\x00\x01\x00\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff",
		"goodbye":          "",
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
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
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
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	defer s.Release()
	d := newDriver(t, b)
	block := compile(t, d, methodRecipe("Block"))
	go func() {
		s.WaitBlocked(1)
		_ = d.Close()
	}()
	fail(t, block, nil, aai.AppNotRunning, aai.DeliveryUnknown)
	fail(t, block, nil, aai.AppNotRunning, aai.NotDelivered)
}

func TestOneConnectionForAll(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
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
