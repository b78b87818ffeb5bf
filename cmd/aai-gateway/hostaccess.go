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
)

// The grounds are what of the computer the program stands on whatever its environment
// and its flags say: those are whoever's that started it. What is nil counts as absent.
type hostAccess struct {
	// policy returns what root allows for everybody, nil where there is nothing.
	policy func() ([]byte, error)
	// home returns the home folder of this account as the system knows it, "" where it
	// does not.
	home func() string
	// session is the environment in which the person's screen is looked for.
	session func(getenv func(string) string) func(string) string
	// checkOwned says why a file or folder is not this account's alone, nil if it is or is absent.
	checkOwned func(path string) error
	// isolationFault says why what this process sees may not be the whole computer, so that a screen
	// may be hidden from it.
	isolationFault func() error
	// now is the time of day; nil: the computer's.
	now func() time.Time

	// For tests, and set by nothing that whoever starts the program could set: by which
	// way a setting counts as confirmed, and who is there to prove that it is they.
	confirmed func(reauth.Setting) aai.Channel
	person    func() (policy.Authenticator, aai.Asker)
}

// realHostAccess is the real one.
func realHostAccess() hostAccess {
	return hostAccess{
		policy: func() ([]byte, error) { return userinfo.ReadRootOwned(policy.RootPolicyPath, config.MaxFileSize) },
		home:   userinfo.HomeDir, session: withoutSessionVariables, checkOwned: userinfo.CheckOwned, isolationFault: userinfo.CheckUserNamespace,
	}
}

// withoutSessionVariables is the environment without all that says which screen, which bus,
// which folders or which language are the person's. Those are looked for as by a program that was started
// with nothing.
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

// isExternal reports whether what this installation keeps is not where the account's own
// is: then whoever started the program said where.
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

// An asked screen is where the person is asked to prove that it is they: the one that is
// found without the environment, or else the one that the environment names.
type promptScreen struct {
	accountSession, environmentSession *session.Detector
}

// isTrusted reports whether the screen is the person's whatever the environment says.
func (a promptScreen) isTrusted() bool {
	return a.accountSession != nil && (a.accountSession.Getenv("DISPLAY") != "" || a.accountSession.Getenv("WAYLAND_DISPLAY") != "")
}

// hiddenScreenError says why the person may have a screen that cannot be reached from here.
func (s *setup) hiddenScreenError(context.Context) error {
	if s.hostAccess.isolationFault != nil {
		if err := s.hostAccess.isolationFault(); err != nil {
			return err
		}
	}
	if l := s.promptScreen.accountSession.UnreachedLogin(); l != nil {
		return fmt.Errorf("you have a graphical session, and no window in it can be reached from here: %s", l)
	}
	if why := s.promptScreen.accountSession.Login1Problem(); why != "" {
		return fmt.Errorf("login1 does not say whether you have a graphical session: %s", why)
	}
	return nil
}

// Getenv looks up a variable of the session that the screen is of.
func (a promptScreen) Getenv(name string) string {
	if name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") {
		return a.languageSession().Getenv(name)
	}
	if a.isTrusted() {
		return a.accountSession.Getenv(name)
	}
	return a.environmentSession.Getenv(name)
}

// languageSession is the session that says which language the person reads: that of their login,
// or the environment where no login says any. Whoever starts us must not choose one that
// they do not read.
func (a promptScreen) languageSession() *session.Detector {
	if a.accountSession != nil && slices.ContainsFunc(languageNames(), func(name string) bool { return a.accountSession.Getenv(name) != "" }) {
		return a.accountSession
	}
	return a.environmentSession
}

// language is the person's, as languageOf has it.
func (a promptScreen) language() string { return languageOf(a.Getenv) }

// lazyVault are what the installation keeps by a key, made when it is first asked for.
type lazyVault struct {
	once  sync.Once
	vault *secrets.Vault
}
