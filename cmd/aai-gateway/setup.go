package main

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"aai"
	"aai/internal/answers"
	"aai/internal/config"
	"aai/internal/doors/cli"
	"aai/internal/journal"
	"aai/internal/keychain"
	"aai/internal/pictures"
	"aai/internal/proof"
	"aai/internal/session"
)

// A setup is the configuration and what of the computer it stands on: of it the rooms are
// made.
type setup struct {
	*config.Config
	home      string // the person's
	platform  platform
	grounds   grounds
	session   *session.Room      // finds what the person's session is, for all rooms
	found     *session.Room      // as session, whatever screen is chosen
	asks      askedScreen        // where a person is asked
	elsewhere bool               // the installation is not the account's own
	seals     seals              // what was confirmed
	roots     *x509.CertPool     // authorities for sites; nil: the system's
	brief     bool               // the process ends with the call
	from      start              // what it was made from
	host      func(pid int) bool // says of a process whether this one runs in it
}

// start is what a setup is made from.
type start struct {
	getenv   func(string) string
	environ  []string
	home     string
	platform platform
	flags    cli.Flags
	grounds  grounds
	instead  []byte // in the place of what the person's file holds; nil: that
}

// setUp reads the configuration on what it stands on.
func setUp(from start) (*setup, error) {
	if from.grounds.session == nil {
		from.grounds.session = cleanEnvironment
	}
	room := func(getenv func(string) string, choice string) *session.Room {
		return session.New(session.Config{Getenv: getenv, Choice: choice, Accepts: from.platform.accepts})
	}
	s := &setup{
		home: from.home, platform: from.platform, grounds: from.grounds, from: from, found: room(from.getenv, ""),
		elsewhere: from.grounds.elsewhere(from.platform, from.home),
	}
	clean := from.grounds.session(from.getenv)
	s.asks = askedScreen{clean: room(clean, "")}
	if err := s.ofOthers(from.home); err != nil {
		return nil, err
	}
	cfg, err := config.Read(config.Source{
		Getenv: from.getenv, Environ: from.environ, Home: from.home, AuditLog: filepath.Join(s.platform.data, "audit.jsonl"),
		Flags: config.Flags{
			File: from.flags.Config, LogLevel: from.flags.LogLevel, Dev: from.flags.Dev, InsecureStorage: from.flags.InsecureStorage,
		},
		Root: s.grounds.policy, Mine: s.grounds.own, Instead: from.instead,
		Confirmed: func(read *config.Config, w proof.Setting) (aai.Channel, error) {
			s.Config = read // what it says of the key of secrets is asked for
			return s.confirmedBy(w)
		},
	})
	if err != nil {
		return nil, err
	}
	s.Config = cfg
	s.session = room(from.getenv, cfg.Session)
	s.asks = askedScreen{clean: room(clean, cfg.Session), own: s.session}
	return s, nil
}

// ofOthers says which of the installation's files and folders are not this account's alone.
func (s *setup) ofOthers(home string) error {
	paths := []string{filepath.Join(home, ".aai"), s.platform.data}
	for _, name := range []string{"consent.json", "passphrase.json", "mode", "revoked", "secrets"} {
		paths = append(paths, filepath.Join(s.platform.data, name))
	}
	for _, path := range paths {
		if err := s.grounds.own(path); err != nil {
			return err
		}
	}
	return nil
}

// own says why others may have changed what the installation keeps.
func (g grounds) own(paths ...string) error {
	if g.mine == nil {
		return nil
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, g.mine(path))
	}
	if err := errors.Join(errs...); err != nil {
		e := invalid("what others may have changed is not used: %w", err)
		e.Hint = "Look at what it says, and make it your own before you use it."
		return e
	}
	return nil
}

// confirmedBy is the way by which a person confirmed the setting, "" for none.
func (s *setup) confirmedBy(w proof.Setting) (aai.Channel, error) {
	if s.grounds.confirmed != nil {
		return s.grounds.confirmed(w), nil
	}
	return s.confirmed().Confirmed(context.Background(), w)
}

// confirmed are the settings that a person has confirmed.
func (s *setup) confirmed() *proof.Settings { return proof.NewSettings(s.sealed()) }

// sealed is the vault of what people decided. Nobody is asked for a key; and where the
// installation is not the account's own, the environment names none either.
func (s *setup) sealed() *keychain.Vault {
	s.seals.once.Do(func() {
		cfg := keychain.Config{Folder: filepath.Join(s.platform.data, "secrets"), Insecure: s.InsecureFromStart, Getenv: s.found.Getenv}
		if s.elsewhere {
			cfg.Insecure, cfg.Getenv = false, s.asks.clean.Getenv
			cfg.Distrusted = "it counts for nothing, since the environment names it, which also says where HOME or XDG_DATA_HOME is"
		}
		s.seals.vault = keychain.New(cfg).Unattended()
	})
	return s.seals.vault
}

// tokenFile is where the secret of this computer is kept.
func (s *setup) tokenFile() string { return filepath.Join(s.platform.data, "http-token") }

// tokensFile is where the agents' own tokens are kept, as digests.
func (s *setup) tokensFile() string { return filepath.Join(s.platform.data, "http-tokens.json") }

// journalOf is the journal as configured.
func (s *setup) journalOf(warn func(error)) *journal.Journal {
	const megabyte = 1 << 20
	return journal.With(journal.Config{
		Path:   s.AuditLog,
		MaxAge: time.Duration(s.Journal.MaxAge) * 24 * time.Hour, MaxSize: int64(s.Journal.MaxSize) * megabyte,
		RotateSize: int64(s.Journal.RotateSize) * megabyte, KeepFull: s.Journal.KeepFull, Warn: warn,
	})
}

// answersOf keeps what calls answered as configured.
func (s *setup) answersOf(vault *keychain.Vault, log *slog.Logger) *answers.Keeper {
	return answers.New(answers.Config{
		Folder: filepath.Join(s.platform.data, "answers"), Apps: s.Journal.Answers,
		Age: time.Duration(s.Journal.AnswersDays) * 24 * time.Hour, Vault: vault.Unattended(), Log: log,
	})
}

// picturesOf keeps what windows looked like after acts, as configured.
func (s *setup) picturesOf(desktop *aai.App, next aai.Deeds, vault *keychain.Vault, log *slog.Logger) *pictures.Album {
	keeper := answers.New(answers.Config{
		Folder: filepath.Join(s.platform.data, "pictures"), Apps: s.Journal.Pictures,
		Age: 24 * time.Hour, Most: pictures.Most, Vault: vault.Unattended(), Log: log,
	})
	return pictures.New(pictures.Config{Keeper: keeper, Apps: s.Journal.Pictures, Desktop: desktop, Next: next, Log: log})
}

func invalid(format string, args ...any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, format, args...)
}
