package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"
)

// keyringTimeout limits the start of a keyring and the query of its state.
const keyringTimeout = 4 * time.Second

// locked reports whether a keyring is locked, and then sets the finding. Unlike use of the keyring, the
// query does not prompt the person.
func (d *Doctor) locked(ctx context.Context, f *Finding) bool {
	const service = "org.freedesktop.secrets"
	conn, err := d.dial(ctx)
	if conn == nil || err != nil {
		return false // the bus examination reports it
	}
	ctx, cancel := context.WithTimeout(ctx, keyringTimeout)
	defer cancel()
	defer conn.Close() //nolint:errcheck // nothing was written
	for _, path := range []dbus.ObjectPath{"/org/freedesktop/secrets/collection/login",
		"/org/freedesktop/secrets/aliases/default"} {
		var locked dbus.Variant
		if err := conn.Object(service, path).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0,
			"org.freedesktop.Secret.Collection", "Locked").Store(&locked); err != nil {
			continue
		}
		if locked.Value() != true {
			return false
		}
		f.Did = "asked the keyring on the session bus whether it is locked"
		command := "secret-tool lookup service aai-gateway"
		advice := "Unlock it: it asks for its password at a lookup."
		var pid uint32
		if conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0,
			service).Store(&pid) == nil && programName(int(pid)) == "gnome-keyring-daemon" {
			command = "gnome-keyring-daemon --replace --unlock --components=secrets --daemonize"
			advice = "Unlock it: type its password (usually that of your login), and press Ctrl-D twice."
		}
		f.setBroken("the keyring is locked: encrypted permissions and logins cannot be read", advice, d.onBus(command))
		return true
	}
	return false
}

// programName returns the name of a process's program.
func programName(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return filepath.Base(path)
}
