package wire

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestSocketPath(t *testing.T) {
	for address, want := range map[string]string{
		"unix:path=/run/user/1000/bus":        "/run/user/1000/bus",
		"unix:guid=ab,path=/run/a%2cb%20c":    "/run/a,b c",
		"unix:abstract=/tmp/dbus-1,guid=ab":   "@/tmp/dbus-1",
		"unixexec:path=/bin/sh":               "",
		"tcp:host=localhost,port=1,path=/run": "",
		"launchd:env=X":                       "",
		"unix:dir=/tmp":                       "",
		"unix":                                "",
	} {
		got, err := socketPath(address)
		assert.Check(t, is.Equal(got, want), "%s %v", address, err)
		assert.Check(t, is.Equal((err == nil), (want != "")), "%s %v", address, err)
	}
}

func TestAddresses(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	_, err := SessionAddress(func(string) string { return "" })
	assert.Check(t, is.ErrorIs(err, errNoBus), "without anything: %v", err)
	b := testkit.StartBus(t)
	got := SocketPaths("tcp:host=localhost,port=1;unix:path=/a%20b;unix:abstract=/c,guid=00")
	assert.Check(t, slices.Equal(got, []string{"/a b", "@/c"}), "the sockets: %q", got)
	env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/a"
	if got, err := SessionAddress(getenv); err != nil || got != "unix:path=/a" {
		t.Errorf("by name: %q %v", got, err)
	}
	if got := SystemAddress(getenv); got != "unix:path=/var/run/dbus/system_bus_socket" {
		t.Errorf("the system's: %q", got)
	}
	env["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/b"
	if got := SystemAddress(getenv); got != "unix:path=/b" {
		t.Errorf("the system's by name: %q", got)
	}
	err = dialled(t, "tcp:host=localhost,port=1;;"+b.Address+",guid=00")
	assert.Check(t, err, "the second address: %v", err)
	for _, bad := range []string{"", ";", "autolaunch:", "unix:path=%zz", "unix:path=" + t.TempDir() + "/nobody"} {
		assert.Check(t, dialled(t, bad) != nil, "dialled %q", bad)
	}
}

// dialled opens a connection and calls Hello.
func dialled(t *testing.T, address string) error {
	t.Helper()
	c, err := Dial(soon(t), address, Options{})
	if err != nil {
		return err
	}
	t.Cleanup(c.Close)
	_, err = c.Hello(soon(t))
	return err
}
