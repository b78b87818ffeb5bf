//go:build unix && !darwin

package secrets

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// reachable says why there is no session bus to ask for the keychain, whose address
// getenv knows. The library takes no address: it looks into the environment of this
// process and then in /run/user, and starts a bus of its own where it finds none, which
// nobody would ever end and on which no keychain is unlocked. So it is asked only where
// it will find the bus that is meant.
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
