package dbus

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Targets that no descriptor may reach: their callers could run programs as the user, control the
// screen, read all passwords or decide about permissions. The driver checks at compile time and
// again at each call.

// isTainting reports whether the owner of the name is denied under its other names too. Desktop
// shells own a name for keyring prompts and some for portal back ends. The guard denies those
// objects by interface and path, so that the shell's other tools stay usable.
func isTainting(name string) bool {
	if isDenied(name, []string{"org.gnome.keyring.SystemPrompter", "org.freedesktop.impl.portal*"}) {
		return false
	}
	return isDenied(name, deniedNames())
}

// IsNeverCalled reports whether the guard denies the interface of the service to every descriptor.
// An empty interface means the service as a whole.
func IsNeverCalled(service, iface string) bool {
	return isDenied(service, deniedNames()) || isDenied(iface, deniedNames()) || isDenied(iface, deniedInterfaces())
}

// busMembers lists the methods of the bus itself that a tool may call. They only read.
func busMembers() []string {
	return []string{
		"ListNames", "ListActivatableNames", "ListQueuedOwners", "NameHasOwner", "GetNameOwner", "GetId",
		"GetConnectionUnixUser", "GetConnectionUnixProcessID", "GetConnectionCredentials",
		"Get", "GetAll", "Introspect", "Ping", "GetMachineId",
	}
}

// checkReach rejects denied targets. member is a method's name, or "Set" for a property that is
// set. Its error is an *aai.Error with code PERMISSION_DENIED. The message begins with the
// descriptor's field.
func checkReach(service, path, iface, member string) error {
	switch {
	case isDenied(service, deniedNames()):
		return unreachable("service", service)
	case isDenied(iface, deniedNames()), isDenied(iface, deniedInterfaces()):
		return unreachable("interface", iface)
	case isDeniedMember(iface, member):
		return unreachable("method", iface+"."+member)
	case isDenied(path, deniedPaths()):
		return unreachable("object", path)
	case service == wire.BusName && !slices.Contains(busMembers(), member):
		return unreachable("method", wire.BusName+"."+member)
	}
	return nil
}

// checkRequest is checkReach for a message before it is sent. In a message to the Properties
// interface, the first argument names the real interface. In messages that write settings, it
// names the setting.
func (p *peer) checkRequest(m *wire.Message) error {
	if err := checkReach(p.service, p.path, m.Interface, m.Member); err != nil {
		return err
	}
	if m.Interface == propertyInterface {
		named, err := textsOf(m, 1)
		if err != nil {
			return unreachable("interface", "a property of an interface that is not named")
		}
		return checkReach(p.service, p.path, named[0], m.Member)
	}
	if settings := deniedSettings(m.Interface, m.Member); settings != nil {
		if named, err := textsOf(m, 1); err != nil || isDenied(named[0], settings) {
			return unreachable("method", m.Interface+"."+m.Member+" for settings that contain commands")
		}
	}
	return nil
}

func unreachable(field, name string) *aai.Error {
	err := aai.Errorf(aai.PermissionDenied, "%s: %s can never be reached through this gateway", field,
		aai.CleanLabel(name, wire.MaxName))
	err.Hint = "It could run programs, control the screen, read passwords or grant permissions. No setting allows it."
	err.Delivery = aai.NotDelivered
	return err
}

// The tables of denied names. An entry is a whole name, or a prefix if it ends in "*". Matching
// ignores case: desktops have renamed services in case alone, and no two services differ only in
// case.

// deniedNames lists denied bus names and interfaces. These services exist for the denied purpose,
// so their owners are denied under any other name too.
func deniedNames() []string {
	return []string{
		// They start programs, as another user or with more rights.
		"org.freedesktop.systemd1*", "org.freedesktop.machine1*", "org.freedesktop.portable1*", "org.freedesktop.home1*",
		"org.freedesktop.Flatpak*", "org.freedesktop.portal.Flatpak*", "io.snapcraft.*",
		"org.kde.klauncher*", "org.kde.krunner", "org.kde.krunner.App", "org.kde.khotkeys*", "org.kde.kioexecd*",
		"com.deepin.StartManager*", "com.deepin.SessionManager*", "com.deepin.daemon.Keybinding*",
		"org.deepin.dde.StartManager*", "org.deepin.dde.SessionManager*", "org.deepin.dde.Keybinding*",
		"org.desktopspec.ApplicationManager*", "org.lxqt.global_key_shortcuts*", "org.enlightenment.wm*",
		"org.freedesktop.compiz*", "org.awesomewm.*",
		// Terminals: a caller could type commands.
		"org.gnome.Terminal*", "org.gnome.Console*", "org.gnome.Ptyxis*", "org.xfce.Terminal*", "org.kde.konsole*",
		"org.kde.yakuake*",
		"org.guake*", "com.gexperts.Tilix*", "com.mitchellh.ghostty*", "com.raggesilver.BlackBox*", "io.elementary.terminal*",
		"net.tenshi.Terminator*", "org.lxqt.QTerminal*", "org.mate.Terminal*", "com.deepin.terminal*",
		"com.system76.CosmicTerm*",
		// They decide about permissions, or ask for passwords.
		"org.freedesktop.PolicyKit1*", "org.gnome.PolicyKit*", "org.kde.polkit*", "org.mate.PolicyKit*",
		"org.lxqt.policykit*",
		"org.ukui.PolicyKit*", "com.deepin.dde.Polkit*", "org.deepin.dde.Authenticat*", "com.deepin.daemon.Authenticat*",
		"com.deepin.dde.lockFront*", "org.freedesktop.NetworkManager.SecretAgent*",
		// They keep passwords.
		"org.freedesktop.secrets*", "org.freedesktop.Secret.*", "org.gnome.keyring*", "org.gnome.seahorse*",
		"org.kde.kwallet*", "org.kde.secret*", "com.google.code.AccountsSSO*",
		// Back ends of the portals, which do without a dialog the actions that portals ask about.
		"org.freedesktop.impl.portal*",
		// They install software.
		"org.debian.apt*", "com.ubuntu.SoftwareProperties*", "org.baseurl.Dnf*", "org.rpm.dnf*",
		"org.projectatomic.rpmostree*",
		"org.manjaro.pamac*", "org.archlinux.pamac*", "com.deepin.lastore*", "org.deepin.dde.Lastore*",
		"org.freedesktop.import1*", "org.freedesktop.sysupdate1*",
		// Remote control.
		"org.gnome.RemoteDesktop*", "org.kde.krfb*", "org.gnome.Vino*",
		"org.freedesktop.DBus.Monitoring*",
	}
}

// deniedInterfaces lists interfaces that are denied on every service. A desktop shell has them
// beside usable ones.
func deniedInterfaces() []string {
	return []string{
		// They run code in the shell.
		"org.gnome.Shell", "org.gnome.Shell.Extensions*", "org.Cinnamon", "org.Cinnamon.LookingGlass*",
		"org.kde.kwin.Script*", "org.kde.KWin.Plugins", "org.kde.PlasmaShell*",
		// They press keys, move the pointer, capture the screen, or monitor input.
		"org.gnome.Mutter.RemoteDesktop*", "org.gnome.Mutter.ScreenCast*", "org.gnome.Mutter.InputCapture*",
		"org.gnome.Mutter.InputMapping*",
		"org.gnome.Shell.Screenshot", "org.gnome.Shell.Screencast", "org.gnome.Shell.Introspect",
		"org.cinnamon.Muffin.RemoteDesktop*", "org.cinnamon.Muffin.ScreenCast*",
		"org.kde.KWin.EIS*", "org.kde.KWin.ScreenShot*", "org.kde.kwin.InputCapture*", "org.kde.KGlobalAccel*",
		"org.freedesktop.portal.RemoteDesktop*", "org.freedesktop.portal.ScreenCast*", "org.freedesktop.portal.Screenshot*",
		"org.freedesktop.portal.InputCapture*", "org.a11y.atspi.*",
		// They start programs at login or at a key press.
		"org.freedesktop.portal.Background*", "org.freedesktop.portal.DynamicLauncher*", "org.xfce.Session.Client",
		// All GNOME settings, including the commands of keys and terminals.
		"ca.desrt.dconf.Writer",
		// They hold passwords, keys and cookies.
		"org.freedesktop.portal.Secret*", "org.kde.KPasswdServer*", "org.kde.KCookieServer*",
		"org.gnome.OnlineAccounts.PasswordBased", "org.gnome.OnlineAccounts.OAuth*",
		"org.freedesktop.PackageKit.Modify*",
	}
}

// deniedMembers lists methods and properties of otherwise usable interfaces.
func deniedMembers() []string {
	return []string{
		"org.xfce.FileManager.Execute", "org.xfce.FileManager.DisplayRunDialog",
		"org.gnome.SessionManager.Setenv", "org.gnome.SessionManager.InitializationError",
		// They unlock the screen.
		"org.gnome.ScreenSaver.SetActive", "org.freedesktop.ScreenSaver.SetActive", "org.cinnamon.ScreenSaver.SetActive",
		"org.mate.ScreenSaver.SetActive", "org.xfce.ScreenSaver.SetActive", "org.kde.screensaver.SetActive",
		"org.freedesktop.login1.Manager.Unlock*", "org.freedesktop.login1.Session.Unlock",
		"org.freedesktop.login1.Session.Take*",
		// They install software.
		"org.freedesktop.PackageKit.Transaction.Install*", "org.freedesktop.PackageKit.Transaction.Remove*",
		"org.freedesktop.PackageKit.Transaction.Update*", "org.freedesktop.PackageKit.Transaction.Upgrade*",
		"org.freedesktop.PackageKit.Transaction.Repo*", "org.freedesktop.PackageKit.Transaction.AcceptEula",
		"org.freedesktop.fwupd.Install",
		// Passwords of users and networks.
		"org.freedesktop.Accounts.CreateUser", "org.freedesktop.Accounts.DeleteUser",
		"org.freedesktop.Accounts.User.SetPassword*",
		"org.freedesktop.Accounts.User.SetAccountType", "org.freedesktop.Accounts.User.SetAutomaticLogin",
		"org.freedesktop.NetworkManager.Settings.Connection.GetSecrets",
	}
}

// deniedSettings lists the prefixes of settings that the member must not write because they hold
// commands. The member's first argument names the setting.
func deniedSettings(iface, member string) []string {
	if iface != "org.xfce.Xfconf" || member != "SetProperty" && member != "ResetProperty" {
		return nil
	}
	return []string{
		"xfce4-keyboard-shortcuts*", "xfce4-session*", "xfce4-panel*", "xfce4-desktop*", "xfce4-terminal*",
		"xfce4-screensaver*", "xfce4-power-manager*", "thunar-volman*",
	}
}

// deniedPaths lists the object paths that no descriptor may reach.
func deniedPaths() []string {
	return []string{
		"/org/freedesktop/systemd1*",
		"/org/freedesktop/PolicyKit1*",
		"/org/freedesktop/secrets*",
		"/org/gnome/keyring*",
		"/modules/kwalletd*",
		"/modules/kpasswdserver*",
		"/modules/kcookiejar*",
		"/org/freedesktop/impl/portal*",
		"/org/freedesktop/Flatpak*",
	}
}

// isDenied reports whether an entry matches the name.
func isDenied(name string, entries []string) bool {
	for _, entry := range entries {
		begin, some := strings.CutSuffix(entry, "*")
		if strings.EqualFold(name, begin) || some && len(name) > len(begin) && strings.EqualFold(name[:len(begin)], begin) {
			return true
		}
	}
	return false
}

// isDeniedMember is isDenied for a member of an interface.
func isDeniedMember(iface, member string) bool {
	for _, entry := range deniedMembers() {
		n := len(iface)
		if len(entry) > n && entry[n] == '.' && strings.EqualFold(entry[:n], iface) &&
			isDenied(member, []string{entry[n+1:]}) {
			return true
		}
	}
	return false
}
