package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// The doctor's app and its descriptor. Each process uses a different bus name, so that several
// doctors can run.
const (
	serviceName       = "org.aai.doctor" // also of its interface
	servicePath       = "/org/aai/doctor"
	serviceDescriptor = `{
  "schema_version": "1.0", "version": "1.0.0", "platform": "linux",
  "app": {"id": "org.aai.doctor", "name": "Doctor", "description": "A service of the doctor."},
  "execution": {"type": "dbus", "service": "%s", "object": "/org/aai/doctor", "interface": "org.aai.doctor"},
  "tools": [{"name": "turn", "description": "Turns a text round.", "method": "Turn",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]
}`
	serviceIntrospection = `<node><interface name="org.aai.doctor"><method name="Turn"><arg name="text" type="s" direction="in"/><arg name="turned" type="s" direction="out"/></method></interface></node>`
)

// reverseService is the doctor's D-Bus service: it reverses texts.
type reverseService struct{}

// Turn is the D-Bus method that reverses a text.
func (reverseService) Turn(text string) (string, *dbus.Error) { return reversed(text), nil }

func reversed(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i := range runes {
		b.WriteRune(runes[len(runes)-1-i])
	}
	return b.String()
}

// service calls a tool of the doctor's own app on the session bus.
func (d *Doctor) service(ctx context.Context, f *Finding) {
	address := d.busAddress()
	conn, err := d.dial(ctx)
	if err != nil {
		f.setSkipped("the session bus does not answer; see that check")
		return
	}
	if conn == nil {
		f.Did = "started a test service on a separate bus (there is no session bus), called its tool, compared the answer"
		var desk *private.Session
		if desk, err = private.New("aai-doctor-"); err == nil {
			defer func() { _ = errors.Join(desk.End(), desk.Remove()) }() // leftovers are in /tmp
			desk.Env = append(desk.Env, "PATH="+d.cfg.Getenv("PATH"))
			err = desk.StartBus(ctx)
		}
		if err != nil {
			f.setCallError("no bus can be started", err)
			if _, missing := exec.LookPath("dbus-daemon"); missing != nil {
				f.Advice, f.Commands = "Install what is missing:", []string{InstallCommand("dbus-daemon")}
			}
			return
		}
		address = desk.Getenv("DBUS_SESSION_BUS_ADDRESS")
		conn, err = connect(ctx, address)
	}
	if conn == nil {
		f.setCallError("the bus does not answer", err)
		return
	}
	defer conn.Close() //nolint:errcheck // it ends with its service
	name := fmt.Sprintf("%s.p%d", serviceName, os.Getpid())
	if err := serve(conn, name); err != nil {
		f.setCallError("the bus accepts no service", err)
		return
	}
	s, err := d.newScratch([]string{"DBUS_SESSION_BUS_ADDRESS=" + address},
		scratchFile{".aai/doctor/aai.json", fmt.Appendf(nil, serviceDescriptor, name)})
	if err != nil {
		f.setCallError("no temporary folder", err)
		return
	}
	defer s.end() //nolint:errcheck // leftovers are in the temporary folder
	result, err := call(ctx, s.gateway, serviceName, "turn", map[string]any{"text": typedText})
	switch {
	case err != nil:
		f.setCallError("its tool could not be called", err)
	case result.Data != any(reversed(typedText)):
		f.setBroken(fmt.Sprintf("it answered %q to %q", result.Text, typedText),
			"Report this, with the file of: aai-gateway doctor --bundle report.zip")
	default:
		f.setOK("%q returned as %q", typedText, reversed(typedText))
	}
}

func serve(conn *dbus.Conn, name string) error {
	if err := conn.Export(reverseService{}, servicePath, serviceName); err != nil {
		return err
	}
	if err := conn.Export(introspect.Introspectable(serviceIntrospection), servicePath,
		"org.freedesktop.DBus.Introspectable"); err != nil {
		return err
	}
	reply, err := conn.RequestName(name, dbus.NameFlagDoNotQueue)
	if err == nil && reply != dbus.RequestNameReplyPrimaryOwner {
		err = fmt.Errorf("the name %s is taken", name)
	}
	return err
}
