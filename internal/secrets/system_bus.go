//go:build unix && !darwin

package secrets

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// reachable returns an error if there is no session bus for the keychain. getenv knows the
// address of the bus. The library takes no address: it reads the environment of this
// process and then /run/user. Without a bus it would start one that never ends and has no
// unlocked keychain. So the library is used only if it finds the bus in getenv.
func reachable(getenv func(string) string) error {
	const name = "DBUS_SESSION_BUS_ADDRESS"
	address, own := getenv(name), os.Getenv(name)
	switch {
	case address == "" && own != "":
		return errors.New("no session bus answers: " + name + " is set, and leads to none that can be trusted")
	case address == "":
		return errors.New("there is no session bus: " + name + " is not set, and none was found")
	case strings.HasPrefix(address, "autolaunch:"):
		return errors.New(name + " names no bus that runs")
	case address == own, own == "" && address == "unix:path=/run/user/"+strconv.Itoa(os.Getuid())+"/bus":
		return nil
	}
	return errors.New("the session bus is where the keychain's library does not look; start the gateway with " + name)
}
