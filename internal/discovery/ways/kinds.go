package ways

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"aai"
)

// The kinds of ways that are no interfaces of D-Bus.
const (
	kindService = "dbus"            // what else a service offers
	kindActions = "desktop-actions" // of a desktop entry
	kindServer  = "mcp-server"
)

// kindApplication is the one that both a bus and an entry tell of.
const kindApplication = "application"

// A kind is a sort of interfaces on the bus: a row of the one table of them.
type kind struct {
	name string
	of   func(iface string) bool
	// gains says what is won by it, given the names of what a program lists, if it does.
	gains func(listed []string) string
	// call is what a tool of a descriptor calls, "" where there is no one such call.
	call string
}

// kinds are all, the most telling first.
func kinds() []kind {
	return []kind{
		{"mpris", named("org.mpris.MediaPlayer2"), says("plays, pauses, skips and says what is playing"), "org.mpris.MediaPlayer2.Player.PlayPause"},
		{"gtk-actions", named("org.gtk.Actions"), listing("the app's own actions, without its window", "actions"), "org.gtk.Actions.Activate"},
		{kindApplication, named("org.freedesktop.Application"), says("starts it, opens files in it and runs the actions of its entry"), "org.freedesktop.Application.ActivateAction"},
		{"kde", named("org.kde", "org.qtproject"), listing("the windows' actions and the app's own calls", "interfaces"), "org.kde.KMainWindow.activateAction"},
		{"portal", named("org.freedesktop.portal"), listing("what the desktop grants programs after it has asked the person", "portals"), ""},
		{"tray", named("org.kde.StatusNotifierItem"), says("the icon in the tray: what it says, and a click on it"), "org.kde.StatusNotifierItem.Activate"},
		{"tray-menu", named("com.canonical.dbusmenu"), says("the entries of its menu, without opening it"), "com.canonical.dbusmenu.GetLayout"},
		{"gtk-menus", named("org.gtk.Menus"), says("the menus as the app describes them: labels for its actions"), "org.gtk.Menus.Start"},
		{kindService, func(string) bool { return true }, listing("what its methods do", "interfaces"), ""},
	}
}

// named tells interfaces that have one of the names or are below it. Those of a tray are
// KDE's in name alone.
func named(names ...string) func(string) bool {
	return func(iface string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			if name == "org.kde" && strings.HasPrefix(iface, "org.kde.StatusNotifier") {
				return false
			}
			return iface == name || strings.HasPrefix(iface, name+".")
		})
	}
}

func says(words string) func([]string) string { return func([]string) string { return words } }

// listing is words with the names that a program lists.
func listing(words, what string) func([]string) string {
	return func(listed []string) string {
		if len(listed) == 0 {
			return words
		}
		if len(listed) == 1 {
			return words + ": " + listed[0]
		}
		return words + ": " + fmt.Sprintf("%d %s, such as %s", len(listed), what, some(listed))
	}
}

// tellsNothing reports whether an interface is of a toolkit's own workings.
func tellsNothing(iface string) bool {
	return named("org.freedesktop.DBus", "org.gtk.Application", "org.gtk.private", "org.a11y.atspi")(iface)
}

// some are the first few of the names.
func some(names []string) string { return strings.Join(names[:min(len(names), 3)], ", ") }

// kindOf is the first that an interface is of.
func kindOf(iface string) int {
	return slices.IndexFunc(kinds(), func(k kind) bool { return k.of(iface) })
}

// weight orders kinds.
func weight(name string) int {
	order := []string{}
	for _, k := range kinds() {
		order = append(order, k.name)
	}
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// maxLabel is how long a stranger's name may be, in bytes.
const maxLabel = 120

// clean is a stranger's name on one line.
func clean(s string) string { return aai.CleanLabel(s, maxLabel) }

// maxCommand is how long a command may be, in bytes.
const maxCommand = 500

// cleanLine is a command on one line.
func cleanLine(s string) string { return aai.CleanLabel(s, maxCommand) }

// lasting is a name on the bus without what is another one at each start: the number of the
// process, and which instance it is.
func lasting(name string) string {
	passing := regexp.MustCompile(`([-._](instance_?)?_?[0-9]+)+$`)
	if short := passing.ReplaceAllString(name, ""); strings.Contains(short, ".") {
		return short
	}
	return name
}

// descriptorFor is how one gets what a service offers.
func descriptorFor(service, call, path string) string {
	return clean("aai-gateway generate "+lasting(service)) + " makes tools of it, such as for " + clean(call) + " at " + clean(path) + "."
}

// Refused stands where the person keeps a program from every tool.
const Refused = "None: the security policy of this computer (security.denied_apps, security.allowed_apps) keeps it from every tool."

// NeverCalled stands where a way is closed for good.
const NeverCalled = "None: the gateway never calls it, as it could run programs, read passwords or rule the screen."
