package discovery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
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
type integrationKind struct {
	name    string
	matches func(iface string) bool
	// benefit says what is won by it, given the names of what a program lists, if it does.
	benefit func(listed []string) string
	// call is what a tool of a descriptor calls, "" where there is no one such call.
	call string
}

// integrationKinds are all, the most telling first.
func integrationKinds() []integrationKind {
	return []integrationKind{
		{"mpris", namedInterfaces("org.mpris.MediaPlayer2"), constantBenefit("plays, pauses, skips and says what is playing"), "org.mpris.MediaPlayer2.Player.PlayPause"},
		{"gtk-actions", namedInterfaces("org.gtk.Actions"), listingBenefit("the app's own actions, without its window", "actions"), "org.gtk.Actions.Activate"},
		{kindApplication, namedInterfaces("org.freedesktop.Application"), constantBenefit("starts it, opens files in it and runs the actions of its entry"), "org.freedesktop.Application.ActivateAction"},
		{"kde", namedInterfaces("org.kde", "org.qtproject"), listingBenefit("the windows' actions and the app's own calls", "interfaces"), "org.kde.KMainWindow.activateAction"},
		{"portal", namedInterfaces("org.freedesktop.portal"), listingBenefit("what the desktop grants programs after it has asked the person", "portals"), ""},
		{"tray", namedInterfaces("org.kde.StatusNotifierItem"), constantBenefit("the icon in the tray: what it says, and a click on it"), "org.kde.StatusNotifierItem.Activate"},
		{"tray-menu", namedInterfaces("com.canonical.dbusmenu"), constantBenefit("the entries of its menu, without opening it"), "com.canonical.dbusmenu.GetLayout"},
		{"gtk-menus", namedInterfaces("org.gtk.Menus"), constantBenefit("the menus as the app describes them: labels for its actions"), "org.gtk.Menus.Start"},
		{kindService, func(string) bool { return true }, listingBenefit("what its methods do", "interfaces"), ""},
	}
}

// namedInterfaces tells interfaces that have one of the names or are below it. Those of a tray are
// KDE's in name alone.
func namedInterfaces(names ...string) func(string) bool {
	return func(iface string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			if name == "org.kde" && strings.HasPrefix(iface, "org.kde.StatusNotifier") {
				return false
			}
			return iface == name || strings.HasPrefix(iface, name+".")
		})
	}
}

func constantBenefit(words string) func([]string) string {
	return func([]string) string { return words }
}

// listingBenefit is words with the names that a program lists.
func listingBenefit(words, what string) func([]string) string {
	return func(listed []string) string {
		if len(listed) == 0 {
			return words
		}
		if len(listed) == 1 {
			return words + ": " + listed[0]
		}
		return words + ": " + fmt.Sprintf("%d %s, such as %s", len(listed), what, firstNames(listed))
	}
}

// isToolkitInternal reports whether an interface is of a toolkit's own workings.
func isToolkitInternal(iface string) bool {
	return namedInterfaces("org.freedesktop.DBus", "org.gtk.Application", "org.gtk.private", "org.a11y.atspi")(iface)
}

// firstNames are the first few of the names.
func firstNames(names []string) string { return strings.Join(names[:min(len(names), 3)], ", ") }

// kindOf is the first that an interface is of.
func kindOf(iface string) int {
	return slices.IndexFunc(integrationKinds(), func(k integrationKind) bool { return k.matches(iface) })
}

// kindRank orders kinds.
func kindRank(name string) int {
	order := []string{}
	for _, k := range integrationKinds() {
		order = append(order, k.name)
	}
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// maxLabel is how long a stranger's name may be, in bytes.
const maxLabel = 120

// cleanName is a stranger's name on one line.
func cleanName(s string) string { return aai.CleanLabel(s, maxLabel) }

// maxCommand is how long a command may be, in bytes.
const maxCommand = 500

// cleanLine is a command on one line.
func cleanLine(s string) string { return aai.CleanLabel(s, maxCommand) }

// stableName is a name on the bus without what is another one at each start: the number of the
// process, and which instance it is.
func stableName(name string) string {
	passing := regexp.MustCompile(`([-._](instance_?)?_?[0-9]+)+$`)
	if short := passing.ReplaceAllString(name, ""); strings.Contains(short, ".") {
		return short
	}
	return name
}

// descriptorFor is how one gets what a service offers.
func descriptorFor(service, call, path string) string {
	return cleanName("aai-gateway generate "+stableName(service)) + " makes tools of it, such as for " + cleanName(call) + " at " + cleanName(path) + "."
}

// DeniedHowTo stands where the person keeps a program from every tool.
const DeniedHowTo = "None: the security policy of this computer (security.denied_apps, security.allowed_apps) keeps it from every tool."

// NeverCalledHowTo stands where a way is closed for good.
const NeverCalledHowTo = "None: the gateway never calls it, as it could run programs, read passwords or rule the screen."
