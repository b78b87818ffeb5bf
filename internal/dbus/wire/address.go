package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// defaultSystemBus is the well-known address of the system bus, by the specification.
const defaultSystemBus = "unix:path=/var/run/dbus/system_bus_socket"

// errNoBus reports that no session bus is known.
var errNoBus = errors.New("this person has no known bus")

// SessionAddress returns the address of the session bus in getenv's environment, or an error. It
// never starts a bus, since a new one would have no apps.
func SessionAddress(getenv func(string) string) (string, error) {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address, nil
	}
	return "", errNoBus
}

// SystemAddress returns the address of the system bus: DBUS_SYSTEM_BUS_ADDRESS in getenv's environment, or the
// well-known one.
func SystemAddress(getenv func(string) string) string {
	if address := getenv("DBUS_SYSTEM_BUS_ADDRESS"); address != "" {
		return address
	}
	return defaultSystemBus
}

// dialAddress opens the first usable one of the addresses, which are separated by ";". It only
// supports local sockets: over a network neither end could authenticate the other.
func dialAddress(ctx context.Context, addresses string) (net.Conn, error) {
	err := errors.New("the address is empty")
	for address := range strings.SplitSeq(addresses, ";") {
		if address == "" {
			continue
		}
		var path string
		if path, err = socketPath(address); err != nil {
			continue
		}
		var socket net.Conn
		if socket, err = new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
			return socket, nil
		}
	}
	return nil, err
}

// SocketPaths returns the paths of the local sockets in D-Bus addresses separated by ";". A path in the abstract
// namespace begins with "@".
func SocketPaths(addresses string) []string {
	var paths []string
	for address := range strings.SplitSeq(addresses, ";") {
		if path, err := socketPath(address); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// socketPath parses an address such as "unix:path=/run/user/1000/bus,guid=…".
func socketPath(address string) (string, error) {
	transport, keys, _ := strings.Cut(address, ":")
	if transport == "autolaunch" {
		return "", errors.New("the address is autolaunch:, and this gateway starts no bus of its own")
	}
	if transport != "unix" {
		return "", fmt.Errorf("expected an address that begins with unix:, got %q", transport)
	}
	for pair := range strings.SplitSeq(keys, ",") {
		key, escaped, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(escaped)
		if err != nil {
			return "", fmt.Errorf("the address's %s: %w", key, err)
		}
		switch {
		case value == "":
		case key == "path":
			return value, nil
		case key == "abstract":
			return "@" + value, nil
		}
	}
	return "", errors.New("expected path= or abstract= in the address")
}
