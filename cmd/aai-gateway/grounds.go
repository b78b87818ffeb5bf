package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"aai"
	"aai/internal/account"
	"aai/internal/config"
	"aai/internal/keychain"
	"aai/internal/policy"
	"aai/internal/proof"
	"aai/internal/session"
)

// The grounds are what of the computer the program stands on whatever its environment
// and its flags say: those are whoever's that started it. What is nil counts as absent.
type grounds struct {
	// policy returns what root allows for everybody, nil where there is nothing.
	policy func() ([]byte, error)
	// home returns the home folder of this account as the system knows it, "" where it
	// does not.
	home func() string
	// session is the environment in which the person's screen is looked for.
	session func(getenv func(string) string) func(string) string
	// mine says why a file or folder is not this account's alone, nil if it is or is absent.
	mine func(path string) error
	// whole says why what this process sees may not be the whole computer, so that a screen
	// may be hidden from it.
	whole func() error
	// now is the time of day; nil: the computer's.
	now func() time.Time

	// For tests, and set by nothing that whoever starts the program could set: by which
	// way a setting counts as confirmed, and who is there to prove that it is they.
	confirmed func(proof.Setting) aai.Channel
	person    func() (policy.Person, aai.Asker)
}

// computer is the real one.
func computer() grounds {
	return grounds{
		policy: func() ([]byte, error) { return account.Root(policy.PolicyFile, config.MaxFile) },
		home:   account.Home, session: cleanEnvironment, mine: account.Mine, whole: account.WholeComputer,
	}
}

// cleanEnvironment is the environment without all that says which screen, which bus,
// which folders or which language are the person's. Those are looked for as by a program that was started
// with nothing.
func cleanEnvironment(getenv func(string) string) func(string) string {
	return func(name string) string {
		if name == "PATH" || strings.HasPrefix(name, "GDK_") && strings.HasSuffix(name, "SCALE") || strings.HasPrefix(name, "QT_") && strings.HasSuffix(name, "FACTOR") {
			return getenv(name)
		}
		if name == "HOME" {
			return account.Home()
		}
		return ""
	}
}

// elsewhere reports whether what this installation keeps is not where the account's own
// is: then whoever started the program said where.
func (g grounds) elsewhere(p platform, home string) bool {
	if g.home == nil {
		return true
	}
	own := g.home()
	if own == "" || !filepath.IsAbs(own) {
		return true
	}
	if account.SameFolder(own, home) {
		own = home
	}
	return hostPlatform(own, func(string) string { return "" }).data != p.data
}

// An asked screen is where the person is asked to prove that it is they: the one that is
// found without the environment, or else the one that the environment names.
type askedScreen struct {
	clean, own *session.Room
}

// certain reports whether the screen is the person's whatever the environment says.
func (a askedScreen) certain() bool {
	return a.clean != nil && (a.clean.Getenv("DISPLAY") != "" || a.clean.Getenv("WAYLAND_DISPLAY") != "")
}

// hidden says why the person may have a screen that cannot be reached from here.
func (s *setup) hidden(context.Context) error {
	if s.grounds.whole != nil {
		if err := s.grounds.whole(); err != nil {
			return err
		}
	}
	if l := s.asks.clean.Unreached(); l != nil {
		return fmt.Errorf("you have a graphical session, and no window in it can be reached from here: %s", l)
	}
	if why := s.asks.clean.Silent(); why != "" {
		return fmt.Errorf("login1 does not say whether you have a graphical session: %s", why)
	}
	return nil
}

// Getenv looks up a variable of the session that the screen is of.
func (a askedScreen) Getenv(name string) string {
	if name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") {
		return a.speaks().Getenv(name)
	}
	if a.certain() {
		return a.clean.Getenv(name)
	}
	return a.own.Getenv(name)
}

// speaks is the session that says which language the person reads: that of their login,
// or the environment where no login says any. Whoever starts us must not choose one that
// they do not read.
func (a askedScreen) speaks() *session.Room {
	if a.clean != nil && slices.ContainsFunc(languageNames(), func(name string) bool { return a.clean.Getenv(name) != "" }) {
		return a.clean
	}
	return a.own
}

// language is the person's, as languageOf has it.
func (a askedScreen) language() string { return languageOf(a.Getenv) }

// seals are what the installation keeps by a key, made when it is first asked for.
type seals struct {
	once  sync.Once
	vault *keychain.Vault
}
