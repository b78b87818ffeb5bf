package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/secrets"
	"github.com/gybob/aai-gateway/internal/secrets/named"
)

// hostAccess is the program's view of the computer that does not depend on its environment and
// flags, which the starting program controls. A nil function counts as absent.
type hostAccess struct {
	// policy returns root's policy for all users, or nil.
	policy func() ([]byte, error)
	// home returns the account's home folder according to the system, or "".
	home func() string
	// session returns the environment for finding the user's screen.
	session func(getenv func(string) string) func(string) string
	// checkOwned returns an error if a file or folder is not this account's alone, and nil if it is or is absent.
	checkOwned func(path string) error
	// isolationFault explains why this process may see only a part of the computer, so that a screen
	// may be hidden from it.
	isolationFault func() error
	// now returns the time of day; nil: the computer's.
	now func() time.Time

	// For tests only; the starting program cannot set them: the channel by which a setting was
	// confirmed, the user who reauthenticates, the values that the user types, and the system.
	confirmed func(reauth.Setting) aai.Channel
	person    func() (policy.Authenticator, aai.Asker)
	value     func(context.Context, *aai.Call, named.ValueRequest) (string, error)
	platform  func(home string, getenv func(string) string) platform
}

// hostPlatform returns the platform of this computer.
func (g hostAccess) hostPlatform(home string, getenv func(string) string) platform {
	if g.platform != nil {
		return g.platform(home, getenv)
	}
	return hostPlatform(home, getenv)
}

// realHostAccess returns the access to the real computer.
func realHostAccess() hostAccess {
	return hostAccess{
		policy: func() ([]byte, error) { return userinfo.ReadRootOwned(policy.RootPolicyPath, config.MaxFileSize) },
		home:   userinfo.HomeDir, session: withoutSessionVariables, checkOwned: userinfo.CheckOwned, isolationFault: userinfo.CheckUserNamespace,
	}
}

// withoutSessionVariables returns the environment without variables for the screen, the buses, the folders
// and the language. Those are then detected as for a program without environment.
func withoutSessionVariables(getenv func(string) string) func(string) string {
	return func(name string) string {
		if name == "PATH" || strings.HasPrefix(name, "GDK_") && strings.HasSuffix(name, "SCALE") || strings.HasPrefix(name, "QT_") && strings.HasSuffix(name, "FACTOR") {
			return getenv(name)
		}
		if name == "HOME" {
			return userinfo.HomeDir()
		}
		return ""
	}
}

// isExternal reports whether the installation's data is outside the account's own folder: then the
// starting program chose it.
func (g hostAccess) isExternal(p platform, home string) bool {
	if g.home == nil {
		return true
	}
	own := g.home()
	if own == "" || !filepath.IsAbs(own) {
		return true
	}
	if userinfo.SameDir(own, home) {
		own = home
	}
	return hostPlatform(own, func(string) string { return "" }).data != p.data
}

// promptScreen is the screen for reauthentication: the one detected without the environment,
// otherwise the one that the environment names.
type promptScreen struct {
	accountSession, environmentSession *session.Detector
}

// isTrusted reports whether the screen is the user's regardless of the environment.
func (a promptScreen) isTrusted() bool {
	return a.accountSession != nil && (a.accountSession.Getenv("DISPLAY") != "" || a.accountSession.Getenv("WAYLAND_DISPLAY") != "")
}

// hiddenScreenError explains why the user may have a screen that this process cannot reach.
func (s *setup) hiddenScreenError(context.Context) error {
	if s.hostAccess.isolationFault != nil {
		if err := s.hostAccess.isolationFault(); err != nil {
			return err
		}
	}
	if l := s.promptScreen.accountSession.UnreachedLogin(); l != nil {
		return fmt.Errorf("you have a graphical session, but its windows cannot be reached from here: %s", l)
	}
	if names := s.promptScreen.accountSession.UnchosenCompositors(); len(names) > 0 {
		return fmt.Errorf("several Wayland compositors run for you, and nothing says which one is your screen: %s", strings.Join(names, ", "))
	}
	if why := s.promptScreen.accountSession.Login1Problem(); why != "" {
		return fmt.Errorf("login1 does not report whether you have a graphical session: %s", why)
	}
	return nil
}

// Getenv returns a variable of the screen's session.
func (a promptScreen) Getenv(name string) string {
	if name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") {
		return a.languageSession().Getenv(name)
	}
	if a.isTrusted() {
		return a.accountSession.Getenv(name)
	}
	return a.environmentSession.Getenv(name)
}

// languageSession returns the session that determines the user's language: that of their login, or
// the environment if no login has one. The starting program must not choose a language that the
// user cannot read.
func (a promptScreen) languageSession() *session.Detector {
	if a.accountSession != nil && slices.ContainsFunc(languageNames(), func(name string) bool { return a.accountSession.Getenv(name) != "" }) {
		return a.accountSession
	}
	return a.environmentSession
}

// language returns the user's language according to languageOf.
func (a promptScreen) language() string { return languageOf(a.Getenv) }

// lazyVault is the installation's vault, created at its first use.
type lazyVault struct {
	once  sync.Once
	vault *secrets.Vault
}
