package discovery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Kinds of integrations other than D-Bus interfaces.
const (
	kindService = "dbus"            // other members of a service
	kindActions = "desktop-actions" // of a desktop entry
	kindServer  = "mcp-server"
)

// kindApplication is the kind of programs that a bus and a desktop entry both describe.
const kindApplication = "application"

// An integrationKind is a kind of D-Bus interfaces.
type integrationKind struct {
	name    string
	matches func(iface string) bool
	// benefit describes its use, with the names that the program lists, if any.
	benefit func(listed []string) string
	// call is the member that a descriptor's tool would call, or "" if there is no typical one.
	call string
}

// integrationKinds returns all kinds, most specific first.
func integrationKinds() []integrationKind {
	return []integrationKind{
		{"mpris", namedInterfaces("org.mpris.MediaPlayer2"), constantBenefit("plays, pauses, skips and reports the track"),
			"org.mpris.MediaPlayer2.Player.PlayPause"},
		{"gtk-actions", namedInterfaces("org.gtk.Actions"),
			listingBenefit("the app's own actions, without its window", "actions"), "org.gtk.Actions.Activate"},
		{kindApplication, namedInterfaces("org.freedesktop.Application"),
			constantBenefit("starts it, opens files in it and runs the actions of its entry"),
			"org.freedesktop.Application.ActivateAction"},
		{"kde", namedInterfaces("org.kde", "org.qtproject"),
			listingBenefit("the windows' actions and the app's own calls", "interfaces"), "org.kde.KMainWindow.activateAction"},
		{"portal", namedInterfaces("org.freedesktop.portal"),
			listingBenefit("services that the desktop grants after asking the person", "portals"), ""},
		{"tray", namedInterfaces("org.kde.StatusNotifierItem"),
			constantBenefit("the icon in the tray: its text, and a click on it"), "org.kde.StatusNotifierItem.Activate"},
		{"tray-menu", namedInterfaces("com.canonical.dbusmenu"),
			constantBenefit("the entries of its menu, without opening it"), "com.canonical.dbusmenu.GetLayout"},
		{"gtk-menus", namedInterfaces("org.gtk.Menus"),
			constantBenefit("the menus as the app describes them: labels for its actions"), "org.gtk.Menus.Start"},
		{kindService, func(string) bool { return true }, listingBenefit("calls of its methods", "interfaces"), ""},
	}
}

// namedInterfaces returns a predicate for interfaces that have one of the names or are below it.
// It excludes tray interfaces from org.kde, because they only share the prefix.
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

// listingBenefit returns words with the names that a program lists.
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

// isToolkitInternal reports whether an interface is internal to a toolkit.
func isToolkitInternal(iface string) bool {
	return namedInterfaces("org.freedesktop.DBus", "org.gtk.Application", "org.gtk.private", "org.a11y.atspi")(iface)
}

// firstNames returns the first three names.
func firstNames(names []string) string { return strings.Join(names[:min(len(names), 3)], ", ") }

// kindOf returns the index of the first kind that matches an interface.
func kindOf(iface string) int {
	return slices.IndexFunc(integrationKinds(), func(k integrationKind) bool { return k.matches(iface) })
}

// kindRank returns the sort rank of a kind.
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

// maxLabel limits an untrusted name, in bytes.
const maxLabel = 120

// cleanName returns an untrusted name on one line.
func cleanName(s string) string { return aai.CleanLabel(s, maxLabel) }

// maxCommand limits a command, in bytes.
const maxCommand = 500

// cleanLine returns an untrusted command on one line.
func cleanLine(s string) string { return aai.CleanLabel(s, maxCommand) }

// stableName returns a bus name without the parts that change at each start: the process number
// and the instance.
func stableName(name string) string {
	passing := regexp.MustCompile(`([-._](instance_?)?_?[0-9]+)+$`)
	if short := passing.ReplaceAllString(name, ""); strings.Contains(short, ".") {
		return short
	}
	return name
}

// descriptorFor returns how to make tools for a service.
func descriptorFor(service, call, path string) string {
	return cleanName("aai-gateway generate "+stableName(service)) + " makes tools of it, such as for " + cleanName(call) +
		" at " + cleanName(path) + "."
}

// DeniedHowTo is the Integration.HowTo of programs that the policy denies.
const DeniedHowTo = "None: the security policy of this computer (security.denied_apps, security.allowed_apps) blocks " +
	"it for all tools."

// NeverCalledHowTo is the Integration.HowTo of services that the gateway never calls.
const NeverCalledHowTo = "None: the gateway never calls it, as it could run programs, read passwords or control the " +
	"screen."
