package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// desktopExaminations returns the examinations of the desktop integrations.
func (d *Doctor) desktopExaminations() []examination {
	return []examination{
		{"bus", "session bus", "searched for the session bus, and connected to it", d.bus},
		{"screen", "screen", "searched for the screen of your session", d.screen},
		{"accessibility", "accessibility", "asked the session bus for the accessibility bus, and whether it is switched on", d.accessibility},
		{"window", "a window", "opened a window, found its field, typed, took a screenshot, clicked its button", d.window},
		{"question", "a question to you", "", d.question},
		{"service", "an app on the bus", "started a test service on the session bus, called its tool, compared the answer", d.service},
	}
}

// busTimeout limits the connection to a bus.
const busTimeout = 3 * time.Second

// connect connects to a bus within busTimeout.
func connect(ctx context.Context, address string) (*dbus.Conn, error) {
	if address == "" {
		return nil, aai.Errorf(aai.AppNotRunning, "there is no bus")
	}
	ctx, cancel := context.WithCancel(ctx) // the context also closes the connection
	late := time.AfterFunc(busTimeout, cancel)
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if !late.Stop() {
		if conn != nil {
			_ = conn.Close() // too late
		}
		return nil, fmt.Errorf("the socket accepts connections, but sends no answer for %s", busTimeout)
	}
	if err != nil {
		cancel()
	}
	return conn, err
}

// busAddress returns the address of the session bus, or "".
func (d *Doctor) busAddress() string {
	found, _ := d.facts.gatewayCheck() // another examination reports the error
	return found.value("DBUS_SESSION_BUS_ADDRESS")
}

// busAnswers reports whether the session bus answers; if not, the error says why.
func (d *Doctor) busAnswers(ctx context.Context) (bool, error) {
	conn, err := connect(ctx, d.busAddress())
	if err != nil {
		return false, err
	}
	return true, conn.Close()
}

// dial connects to the session bus. It returns nil without an error if there is none, and does
// not retry a bus that failed before.
func (d *Doctor) dial(ctx context.Context) (*dbus.Conn, error) {
	address := d.busAddress()
	if address == "" {
		return nil, nil
	}
	if _, err := d.facts.busAnswers(); err != nil {
		return nil, err
	}
	return connect(ctx, address)
}

// onBus adds the variables to a command that it needs to find the session bus.
func (d *Doctor) onBus(command string) string {
	address := d.busAddress()
	if address == "" || address == d.cfg.Getenv("DBUS_SESSION_BUS_ADDRESS") {
		return command
	}
	if folder := filepath.Dir(strings.TrimPrefix(address, "unix:path=")); filepath.IsAbs(folder) && d.cfg.Getenv("XDG_RUNTIME_DIR") == "" && folder == runFolder() {
		command = "XDG_RUNTIME_DIR=" + sanitize.ShellJoin(folder) + " " + command
	}
	return "DBUS_SESSION_BUS_ADDRESS=" + sanitize.ShellJoin(address) + " " + command
}

// runFolder returns the runtime folder of this user.
func runFolder() string { return "/run/user/" + strconv.Itoa(os.Getuid()) }

// bus checks that there is a session bus that answers.
func (d *Doctor) bus(ctx context.Context, f *Finding) {
	found, ok := d.session(f)
	if !ok {
		return
	}
	f.Details = found.refusals()
	const name = "DBUS_SESSION_BUS_ADDRESS"
	conn, err := d.dial(ctx)
	if conn != nil {
		defer conn.Close() //nolint:errcheck // nothing was written
		f.setOK("%s, from %s", found.value(name), found.sourceOf(name))
		f.Details = nil
		return
	}
	socket := filepath.Join(runFolder(), "bus")
	saw, advice := "there is none, so apps on D-Bus and windows cannot be reached", "Start one at the standard address:"
	if err != nil {
		saw = fmt.Sprintf("%s, from %s, does not answer: %v", found.value(name), found.sourceOf(name), err)
		if path, ok := strings.CutPrefix(found.value(name), "unix:path="); ok {
			socket, _, _ = strings.Cut(path, ",")
			advice = "Start one at that address, or unset the variable " + name + ":"
		}
	}
	f.setBroken(saw, advice)
	if _, err := exec.LookPath("dbus-daemon"); err != nil {
		f.Commands = append(f.Commands, InstallCommand("dbus-daemon"))
	}
	folder := filepath.Dir(socket)
	if _, err := os.Stat(folder); err != nil {
		f.Commands = append(f.Commands, asRoot(fmt.Sprintf("install -d -m 0700 -o %d %s", os.Getuid(), sanitize.ShellJoin(folder))))
	}
	if _, err := os.Lstat(socket); err == nil {
		f.Commands = append(f.Commands, "rm "+sanitize.ShellJoin(socket))
	}
	if _, err := os.Stat(filepath.Join(runFolder(), "systemd")); err == nil && folder == runFolder() {
		f.Commands = append(f.Commands, "systemctl --user start dbus.socket")
		return
	}
	start := []string{"dbus-daemon", "--session", "--fork", "--nopidfile", "--address=unix:path=" + socket}
	f.Commands = append(f.Commands, sanitize.ShellJoin(start...))
	if len(f.Commands) == 1 {
		f.Fixes = "start a session bus at " + socket
		f.fix = func(ctx context.Context) error { return run(ctx, start...) }
	}
}

// run runs a command and waits for it.
func run(ctx context.Context, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // a background child still holds the output
		return fmt.Errorf("%s: %w: %s", command[0], err, aai.CleanLabel(string(out), 300))
	}
	return nil
}

// screen reports the screen that was found, and its source.
func (d *Doctor) screen(ctx context.Context, f *Finding) {
	found, ok := d.session(f)
	if !ok {
		return
	}
	display, compositor := found.value("DISPLAY"), found.value("WAYLAND_DISPLAY")
	f.Details = found.refusals()
	switch {
	case compositor != "" && found.Session.Compositor != nil:
		reportCompositor(f, found, compositor)
	case display != "" && found.Session.Passed != "":
		f.setNote(fmt.Sprintf("%s, from %s; DISPLAY says %s, which does not answer", display, found.sourceOf("DISPLAY"), found.Session.Passed), "To use another screen, start the gateway with a DISPLAY that answers.")
	case display != "":
		f.setOK("%s, from %s", display, found.sourceOf("DISPLAY"))
		f.Details = nil
	default:
		d.noScreen(ctx, f)
	}
}

// reportCompositor reports the parts of the screen that the compositor offers.
func reportCompositor(f *Finding, found gatewayCheck, name string) {
	c := found.Session.Compositor
	name += ", from " + found.sourceOf("WAYLAND_DISPLAY")
	if c.Error != "" {
		f.setBroken(name+", does not answer: "+c.Error, "Log in anew if it stays so.")
		return
	}
	var missing []string
	for _, part := range []struct{ name, way string }{
		{"the places of windows", c.Windows}, {"pictures", c.Pictures}, {"pointer and keyboard", c.Input}, {"the clipboard", c.Clipboard},
	} {
		if part.way == "" {
			missing = append(missing, part.name)
		}
	}
	if len(missing) == 0 {
		f.setOK("%s, offers windows, pictures, pointer, keyboard and clipboard", name)
		f.Details = nil
		return
	}
	f.setNote(name+", does not offer "+strings.Join(missing, ", "),
		"Elements are read, pressed and filled in by accessibility; acts that need the missing parts are refused.")
}

// noScreen suggests how to provide a screen: by naming an existing one, or by starting one.
func (d *Doctor) noScreen(ctx context.Context, f *Finding) {
	conn, _ := d.dial(ctx) // without a connection there is no manager
	managed := conn != nil && hasOwner(ctx, conn, userManager)
	if conn != nil {
		defer conn.Close() //nolint:errcheck // nothing was written
	}
	whom := "your login"
	if !managed {
		whom = "programs started from here, and add it to the settings of each client"
	}
	display, cookie := d.unknownScreen(ctx)
	if display != "" {
		f.setBroken("the screen "+display+" accepts you, but is not confirmed as yours", "Make it known to "+whom+":")
	} else {
		f.setBroken("there is none, so windows cannot be operated or show questions",
			"Log in to a desktop as this user. If this computer needs none, skip it: aai-gateway doctor --skip bus,screen,accessibility,window. "+
				"Or start an invisible screen, and make it known to "+whom+":")
		if _, err := exec.LookPath("Xvfb"); err != nil {
			f.Commands = append(f.Commands, InstallCommand("xvfb"))
		}
		display = freeDisplay()
		f.Commands = append(f.Commands, "Xvfb "+display+" -screen 0 1280x1024x24 -nolisten tcp &")
	}
	variables, names := []string{"DISPLAY=" + display}, "DISPLAY"
	if cookie != "" {
		variables, names = append(variables, "XAUTHORITY="+cookie), "DISPLAY XAUTHORITY"
	}
	if !managed {
		f.Commands = append(f.Commands, "export "+sanitize.ShellJoin(variables...))
		return
	}
	f.Commands = append(f.Commands, d.onBus(sanitize.ShellJoin(variables...)+" dbus-update-activation-environment --systemd "+names))
	if len(f.Commands) == 1 {
		f.Fixes = "set in the user manager of your login: " + strings.Join(variables, " ")
		f.fix = func(ctx context.Context) error { return d.setManagerEnvironment(ctx, variables) }
	}
}

// userManager is the bus name of systemd's user manager.
const userManager = "org.freedesktop.systemd1"

// setManagerEnvironment sets variables in the user manager.
func (d *Doctor) setManagerEnvironment(ctx context.Context, variables []string) error {
	conn, err := d.dial(ctx)
	if err != nil || conn == nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the answer came
	return conn.Object(userManager, "/org/freedesktop/systemd1").CallWithContext(ctx, userManager+".Manager.SetEnvironment", 0, variables).Err
}

func hasOwner(ctx context.Context, conn *dbus.Conn, name string) bool {
	var has bool
	err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, name).Store(&has)
	return err == nil && has
}

// xSockets is the folder of X servers' sockets.
const xSockets = "/tmp/.X11-unix"

// unknownScreen returns a local display that accepts this user, and its cookie.
func (d *Doctor) unknownScreen(ctx context.Context) (display, cookie string) {
	if d.cfg.CheckScreen == nil {
		return "", ""
	}
	cookies := []string{""}
	for _, pattern := range []string{"gdm/Xauthority", "xauth_*", ".mutter-Xwaylandauth.*"} {
		files, _ := filepath.Glob(filepath.Join(runFolder(), pattern))
		cookies = append(cookies, files...)
	}
	sockets, _ := filepath.Glob(filepath.Join(xSockets, "X*"))
	for _, socket := range sockets[:min(len(sockets), 20)] {
		for _, cookie := range cookies {
			display := ":" + strings.TrimPrefix(filepath.Base(socket), "X")
			if isOwnedByUser(socket) && d.cfg.CheckScreen(ctx, display, cookie) == nil {
				return display, cookie
			}
		}
	}
	return "", ""
}

// freeDisplay returns an unused display.
func freeDisplay() string {
	for n := 90; ; n++ {
		_, socket := os.Lstat(fmt.Sprintf("%s/X%d", xSockets, n))
		_, lock := os.Lstat(fmt.Sprintf("/tmp/.X%d-lock", n))
		if socket != nil && lock != nil {
			return ":" + strconv.Itoa(n)
		}
	}
}

// Names of at-spi2-core.
const (
	a11yName   = "org.a11y.Bus"
	a11yPath   = "/org/a11y/bus"
	a11yStatus = "org.a11y.Status"
)

// accessibility checks that the accessibility bus answers and is enabled.
func (d *Doctor) accessibility(ctx context.Context, f *Finding) {
	found, ok := d.session(f)
	if !ok {
		return
	}
	conn, err := d.dial(ctx)
	if conn == nil || err != nil {
		f.setSkipped("it is reached by the session bus; see that check")
		return
	}
	defer conn.Close() //nolint:errcheck // the answers came
	if !found.Enabled {
		d.noAccessibility(f, found.Detail)
		return
	}
	off := false
	if hasOwner(ctx, conn, a11yName) { // the question would start it
		on, err := conn.Object(a11yName, a11yPath).GetProperty(a11yStatus + ".IsEnabled")
		off = err == nil && on.Value() != true
	}
	if !off {
		f.setOK("%s", found.Detail)
		d.javaBridge(f)
		return
	}
	f.setBroken("the accessibility bus answers, but is switched off: Qt and Chromium programs that start now show nothing",
		"The gateway switches it on at its first use, too late for programs that already run. Switch it on now:",
		d.onBus("dbus-send --session --print-reply --dest="+a11yName+" "+a11yPath+" org.freedesktop.DBus.Properties.Set string:"+a11yStatus+" string:IsEnabled variant:boolean:true"))
	f.Fixes = "switch accessibility on"
	f.fix = func(ctx context.Context) error {
		conn, err := d.dial(ctx)
		if err != nil || conn == nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // the answer came
		return conn.Object(a11yName, a11yPath).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Set", 0, a11yStatus, "IsEnabled", dbus.MakeVariant(true)).Err
	}
}

// noAccessibility suggests how to start the accessibility bus.
func (d *Doctor) noAccessibility(f *Finding, saw string) {
	launchers := []string{"/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher", "/usr/lib/at-spi-bus-launcher", "/usr/libexec/at-spi2-core/at-spi-bus-launcher"}
	i := slices.IndexFunc(launchers, isProgram)
	if i < 0 {
		f.setBroken(saw+", so windows cannot be read", "Install it, and log in again:", InstallCommand("at-spi2-core"))
		return
	}
	f.setBroken(saw+", so windows cannot be read", "It is installed, but the session bus does not start it. Start it:",
		d.onBus(sanitize.ShellJoin(launchers[i])+" --launch-immediately --a11y=1 &"))
	f.Fixes = "start " + launchers[i]
	f.fix = func(ctx context.Context) error {
		return run(ctx, "sh", "-c", d.onBus("setsid "+sanitize.ShellJoin(launchers[i])+" --launch-immediately --a11y=1")+" >/dev/null 2>&1 &")
	}
}

// isProgram reports whether a file is executable.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// suggestForBareClient suggests how to give a bare client the missing session variables.
func (d *Doctor) suggestForBareClient(ctx context.Context, f *Finding, there gatewayCheck, lost []string) {
	var variables []string
	for _, name := range lost {
		variables = append(variables, name+"="+there.value(name))
	}
	f.setNote(f.Saw+"; it does not find these parts of your session: "+strings.Join(lost, ", "), "Add them to the settings of such a client, as \"env\": "+strings.Join(variables, " "))
	conn, err := d.dial(ctx)
	if conn == nil || err != nil {
		return
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	if !hasOwner(ctx, conn, userManager) || slices.Contains(lost, "DBUS_SESSION_BUS_ADDRESS") {
		return
	}
	f.Advice = "Make them known to your login:"
	f.Commands = []string{d.onBus(sanitize.ShellJoin(variables...) + " dbus-update-activation-environment --systemd " + strings.Join(lost, " "))}
	f.Fixes = "set " + strings.Join(lost, ", ") + " in the user manager of your login"
	f.fix = func(ctx context.Context) error { return d.setManagerEnvironment(ctx, variables) }
}
