package dbus

import "strings"

// The tables of what may never be reached. An entry is a whole name, or with "*" the
// beginning of some. Letters of either case are the same: desktops have renamed
// themselves in that alone, and no two services differ in it.

// deniedNames are those of bus names and of interfaces alike: the services exist for
// what is denied, so that their owners are not reached by another name either.
func deniedNames() []string {
	return []string{
		// They start programs, as somebody else or with more rights.
		"org.freedesktop.systemd1*", "org.freedesktop.machine1*", "org.freedesktop.portable1*", "org.freedesktop.home1*",
		"org.freedesktop.Flatpak*", "org.freedesktop.portal.Flatpak*", "io.snapcraft.*",
		"org.kde.klauncher*", "org.kde.krunner", "org.kde.krunner.App", "org.kde.khotkeys*", "org.kde.kioexecd*",
		"com.deepin.StartManager*", "com.deepin.SessionManager*", "com.deepin.daemon.Keybinding*",
		"org.deepin.dde.StartManager*", "org.deepin.dde.SessionManager*", "org.deepin.dde.Keybinding*", "org.desktopspec.ApplicationManager*",
		"org.lxqt.global_key_shortcuts*", "org.enlightenment.wm*", "org.freedesktop.compiz*", "org.awesomewm.*",
		// Terminals: who may call them types commands.
		"org.gnome.Terminal*", "org.gnome.Console*", "org.gnome.Ptyxis*", "org.xfce.Terminal*", "org.kde.konsole*", "org.kde.yakuake*",
		"org.guake*", "com.gexperts.Tilix*", "com.mitchellh.ghostty*", "com.raggesilver.BlackBox*", "io.elementary.terminal*",
		"net.tenshi.Terminator*", "org.lxqt.QTerminal*", "org.mate.Terminal*", "com.deepin.terminal*", "com.system76.CosmicTerm*",
		// They decide about rights, or ask for passwords.
		"org.freedesktop.PolicyKit1*", "org.gnome.PolicyKit*", "org.kde.polkit*", "org.mate.PolicyKit*", "org.lxqt.policykit*",
		"org.ukui.PolicyKit*", "com.deepin.dde.Polkit*", "org.deepin.dde.Authenticat*", "com.deepin.daemon.Authenticat*", "com.deepin.dde.lockFront*",
		"org.freedesktop.NetworkManager.SecretAgent*",
		// They keep passwords.
		"org.freedesktop.secrets*", "org.freedesktop.Secret.*", "org.gnome.keyring*", "org.gnome.seahorse*",
		"org.kde.kwallet*", "org.kde.secret*", "com.google.code.AccountsSSO*",
		// Back ends of the portals, which do what the portals ask a person about.
		"org.freedesktop.impl.portal*",
		// They install software.
		"org.debian.apt*", "com.ubuntu.SoftwareProperties*", "org.baseurl.Dnf*", "org.rpm.dnf*", "org.projectatomic.rpmostree*",
		"org.manjaro.pamac*", "org.archlinux.pamac*", "com.deepin.lastore*", "org.deepin.dde.Lastore*", "org.freedesktop.import1*", "org.freedesktop.sysupdate1*",
		// Control from afar.
		"org.gnome.RemoteDesktop*", "org.kde.krfb*", "org.gnome.Vino*",
		"org.freedesktop.DBus.Monitoring*",
	}
}

// deniedInterfaces are denied whatever service offers them: a desktop's shell has
// them beside others that stay usable.
func deniedInterfaces() []string {
	return []string{
		// They run code in the shell.
		"org.gnome.Shell", "org.gnome.Shell.Extensions*", "org.Cinnamon", "org.Cinnamon.LookingGlass*",
		"org.kde.kwin.Script*", "org.kde.KWin.Plugins", "org.kde.PlasmaShell*",
		// They press the keys, move the pointer, show the screen, or watch them.
		"org.gnome.Mutter.RemoteDesktop*", "org.gnome.Mutter.ScreenCast*", "org.gnome.Mutter.InputCapture*", "org.gnome.Mutter.InputMapping*",
		"org.gnome.Shell.Screenshot", "org.gnome.Shell.Screencast", "org.gnome.Shell.Introspect", "org.cinnamon.Muffin.RemoteDesktop*", "org.cinnamon.Muffin.ScreenCast*",
		"org.kde.KWin.EIS*", "org.kde.KWin.ScreenShot*", "org.kde.kwin.InputCapture*", "org.kde.KGlobalAccel*",
		"org.freedesktop.portal.RemoteDesktop*", "org.freedesktop.portal.ScreenCast*", "org.freedesktop.portal.Screenshot*", "org.freedesktop.portal.InputCapture*",
		"org.a11y.atspi.*",
		// They are started when the person logs in, or at a key.
		"org.freedesktop.portal.Background*", "org.freedesktop.portal.DynamicLauncher*", "org.xfce.Session.Client",
		// Every setting of GNOME's, also the commands of keys and of terminals.
		"ca.desrt.dconf.Writer",
		// They know passwords, keys and cookies.
		"org.freedesktop.portal.Secret*", "org.kde.KPasswdServer*", "org.kde.KCookieServer*",
		"org.gnome.OnlineAccounts.PasswordBased", "org.gnome.OnlineAccounts.OAuth*",
		"org.freedesktop.PackageKit.Modify*",
	}
}

// deniedMembers are methods and properties of interfaces whose others stay usable.
func deniedMembers() []string {
	return []string{
		"org.xfce.FileManager.Execute", "org.xfce.FileManager.DisplayRunDialog",
		"org.gnome.SessionManager.Setenv", "org.gnome.SessionManager.InitializationError",
		// They open a locked screen.
		"org.gnome.ScreenSaver.SetActive", "org.freedesktop.ScreenSaver.SetActive", "org.cinnamon.ScreenSaver.SetActive",
		"org.mate.ScreenSaver.SetActive", "org.xfce.ScreenSaver.SetActive", "org.kde.screensaver.SetActive",
		"org.freedesktop.login1.Manager.Unlock*", "org.freedesktop.login1.Session.Unlock", "org.freedesktop.login1.Session.Take*",
		// They install software.
		"org.freedesktop.PackageKit.Transaction.Install*", "org.freedesktop.PackageKit.Transaction.Remove*",
		"org.freedesktop.PackageKit.Transaction.Update*", "org.freedesktop.PackageKit.Transaction.Upgrade*",
		"org.freedesktop.PackageKit.Transaction.Repo*", "org.freedesktop.PackageKit.Transaction.AcceptEula", "org.freedesktop.fwupd.Install",
		// Passwords, of people and of networks.
		"org.freedesktop.Accounts.CreateUser", "org.freedesktop.Accounts.DeleteUser", "org.freedesktop.Accounts.User.SetPassword*",
		"org.freedesktop.Accounts.User.SetAccountType", "org.freedesktop.Accounts.User.SetAutomaticLogin",
		"org.freedesktop.NetworkManager.Settings.Connection.GetSecrets",
	}
}

// deniedSettings are the settings, by their beginnings, that the member may not write
// because they hold commands. They are named by its first argument.
func deniedSettings(iface, member string) []string {
	if iface != "org.xfce.Xfconf" || member != "SetProperty" && member != "ResetProperty" {
		return nil
	}
	return []string{
		"xfce4-keyboard-shortcuts*", "xfce4-session*", "xfce4-panel*", "xfce4-desktop*", "xfce4-terminal*",
		"xfce4-screensaver*", "xfce4-power-manager*", "thunar-volman*",
	}
}

// deniedPaths are beginnings of object paths.
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

// isDenied reports whether an entry means the name.
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
		if len(entry) > n && entry[n] == '.' && strings.EqualFold(entry[:n], iface) && isDenied(member, []string{entry[n+1:]}) {
			return true
		}
	}
	return false
}
