package wire

import (
	"errors"
	"slices"
	"testing"

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
		if got, err := socketPath(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v", address, got, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	if _, err := SessionAddress(func(string) string { return "" }); !errors.Is(err, errNoBus) {
		t.Errorf("without anything: %v", err)
	}
	b := testkit.StartBus(t)
	if got := SocketPaths("tcp:host=localhost,port=1;unix:path=/a%20b;unix:abstract=/c,guid=00"); !slices.Equal(got, []string{"/a b", "@/c"}) {
		t.Errorf("the sockets: %q", got)
	}
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
	if err := dialled(t, "tcp:host=localhost,port=1;;"+b.Address+",guid=00"); err != nil {
		t.Errorf("the second address: %v", err)
	}
	for _, bad := range []string{"", ";", "autolaunch:", "unix:path=%zz", "unix:path=" + t.TempDir() + "/nobody"} {
		if err := dialled(t, bad); err == nil {
			t.Errorf("dialled %q", bad)
		}
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
