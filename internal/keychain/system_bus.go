//go:build unix && !darwin

package keychain

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// reachable says why there is no session bus to ask for the keychain. The library
// would start a bus of its own where it finds none, which nobody would ever end and
// on which no keychain is unlocked; so it is asked only where it will find one. It
// looks into the environment, and then in /run/user.
func reachable(getenv func(string) string) error {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		if strings.HasPrefix(address, "autolaunch:") {
			return errors.New("DBUS_SESSION_BUS_ADDRESS names no bus that runs")
		}
		return nil
	}
	runtime := filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	if own := getenv("XDG_RUNTIME_DIR"); own != "" && filepath.Clean(own) != runtime {
		return errors.New("there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set")
	}
	if info, err := os.Stat(filepath.Join(runtime, "bus")); err != nil || info.Mode().Type() != os.ModeSocket {
		return errors.New("there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and " + runtime + " has none")
	}
	return nil
}
