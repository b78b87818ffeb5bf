package main

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// setup is the configuration and its host. build creates the components from it.
type setup struct {
	*config.Config
	home           string // of the user
	platform       platform
	hostAccess     hostAccess
	secretValues   sanitize.SecretSet                          // of the user's secrets, as far as this process knows them
	session        *session.Detector                           // detects the session of the apps
	personSession  *session.Detector                           // detects the user's session; that of the apps, unless theirs is isolated
	defaultSession *session.Detector                           // ignores the configured session
	promptScreen   promptScreen                                // for reauthentication
	isExternal     bool                                        // the installation is not the account's own
	seals          lazyVault                                   // vault of the user's decisions
	roots          *x509.CertPool                              // certificate authorities for sites; nil: the system's
	exitsAfterCall bool                                        // the process ends with the call
	input          setupInput                                  // input of setUp
	isHostProcess  func(pid int) bool                          // reports whether this process runs inside the given one
	stopEverything func()                                      // stops all calls, for the person's stop key
	browsers       *devtools.Browsers                          // those that agents may use
	pagesOf        func(ctx context.Context, pid int) []string // apps of pages that are open in a browser
}

// setupInput is the input of setUp.
type setupInput struct {
	getenv       func(string) string
	environ      []string
	home         string
	platform     platform
	flags        cli.Flags
	client       string // identity of the client on standard input; empty: none or unknown
	hostAccess   hostAccess
	fileOverride []byte // replaces the user's configuration file; nil: read the file
	// desktopEnviron is the environment of the programs of an isolated session, in which the apps
	// are; nil: they are in the user's.
	desktopEnviron []string
	desktopEnter   []string // begins the commands of those programs
}

// setUp reads the configuration.
func setUp(from setupInput) (*setup, error) {
	if from.hostAccess.session == nil {
		from.hostAccess.session = withoutSessionVariables
	}
	room := func(getenv func(string) string, choice string) *session.Detector {
		return session.New(session.Config{Getenv: getenv, Choice: choice, CheckX11: from.platform.checkScreen})
	}
	s := &setup{
		home: from.home, platform: from.platform, hostAccess: from.hostAccess, input: from, defaultSession: room(from.getenv, ""),
		isExternal: from.hostAccess.isExternal(from.platform, from.home),
	}
	clean := from.hostAccess.session(from.getenv)
	s.promptScreen = promptScreen{accountSession: room(clean, "")}
	if err := s.foreignFileError(from.home); err != nil {
		return nil, err
	}
	cfg, err := config.Read(config.Source{
		Getenv: from.getenv, Environ: from.environ, Home: from.home, AuditLog: filepath.Join(s.platform.data, "audit.jsonl"),
		Flags: config.Flags{
			File: from.flags.Config, LogLevel: from.flags.LogLevel, Dev: from.flags.Dev, DevClient: devClient(from.client), InsecureStorage: from.flags.InsecureStorage,
		},
		RootPolicy: s.hostAccess.policy, CheckOwned: s.hostAccess.checkOwnership, FileOverride: from.fileOverride,
		Confirmed: func(read *config.Config, w reauth.Setting) (aai.Channel, error) {
			s.Config = read // confirmedBy needs its setting for the vault key
			return s.confirmedBy(w)
		},
	})
	if err != nil {
		return nil, err
	}
	s.Config = cfg
	s.personSession = room(from.getenv, cfg.Session)
	s.session = s.personSession
	if from.desktopEnviron != nil {
		s.session = room(environmentSnapshot(from.desktopEnviron), "")
		s.platform.refsFolder = filepath.Join(s.session.Getenv("XDG_RUNTIME_DIR"), "refs")
	}
	s.promptScreen = promptScreen{accountSession: room(clean, cfg.Session), environmentSession: s.personSession}
	return s, nil
}

// appEnviron returns the environment of apps that the gateway starts.
func (s *setup) appEnviron() []string {
	if s.input.desktopEnviron != nil {
		return s.input.desktopEnviron
	}
	return s.session.Environ(os.Environ())
}

// foreignFileError returns an error that names a file or folder of the installation that is not this
// account's alone.
func (s *setup) foreignFileError(home string) error {
	paths := []string{filepath.Join(home, ".aai"), s.platform.data}
	for _, name := range []string{"consent.json", "passphrase.json", "mode", "revoked", "secrets"} {
		paths = append(paths, filepath.Join(s.platform.data, name))
	}
	for _, path := range paths {
		if err := s.hostAccess.checkOwnership(path); err != nil {
			return err
		}
	}
	return nil
}

// checkOwnership returns an error if others may have changed the paths.
func (g hostAccess) checkOwnership(paths ...string) error {
	if g.checkOwned == nil {
		return nil
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, g.checkOwned(path))
	}
	if err := errors.Join(errs...); err != nil {
		e := invalid("files that others may have changed are not used: %w", err)
		e.Hint = "Check its content, and change its owner to yourself before you use it."
		return e
	}
	return nil
}

// confirmedBy returns the channel by which the user confirmed the setting, or "".
func (s *setup) confirmedBy(w reauth.Setting) (aai.Channel, error) {
	if s.hostAccess.confirmed != nil {
		return s.hostAccess.confirmed(w), nil
	}
	return s.confirmed().ConfirmedBy(context.Background(), w)
}

// confirmed returns the settings that the user has confirmed.
func (s *setup) confirmed() *reauth.ConfirmedSettings {
	return reauth.NewConfirmedSettings(s.policyVault())
}

// policyVault returns the vault of the user's decisions. It never asks for a key. For an external
// installation it ignores keys from the environment.
func (s *setup) policyVault() *secrets.Vault {
	s.seals.once.Do(func() {
		cfg := secrets.Config{Folder: filepath.Join(s.platform.data, "secrets"), AllowInsecureFile: s.InsecureStorageAtStart, Getenv: s.defaultSession.Getenv}
		if s.isExternal {
			cfg.AllowInsecureFile, cfg.Getenv = false, s.promptScreen.accountSession.Getenv
			cfg.UntrustedEnvReason = "it is ignored, since the environment names it, and also sets HOME or XDG_DATA_HOME"
		}
		s.seals.vault = secrets.New(cfg).NonInteractive()
	})
	return s.seals.vault
}

// tokenFile returns the file of this computer's token.
func (s *setup) tokenFile() string { return filepath.Join(s.platform.data, "http-token") }

// tokensFile returns the file of the agents' tokens, which it holds as digests.
func (s *setup) tokensFile() string { return filepath.Join(s.platform.data, "http-tokens.json") }

const megabyte = 1 << 20

func (s *setup) dataFolders() dataFolders {
	return dataFolders{s.home, s.platform.data, int64(s.WorkflowMaxMB) * megabyte}
}

// keptFolder returns the folder of kept results or screenshots.
func (s *setup) keptFolder(name string) string { return filepath.Join(s.platform.data, name) }

// journalOf returns the configured journal.
func (s *setup) journalOf(warn func(error)) *audit.Journal {
	return audit.NewFromConfig(audit.Config{
		Path:   s.AuditLog,
		MaxAge: time.Duration(s.Journal.MaxAgeDays) * 24 * time.Hour, MaxSize: int64(s.Journal.MaxSizeMB) * megabyte,
		RotateSize: int64(s.Journal.RotateSizeMB) * megabyte, KeepFull: s.Journal.KeepFull, Warn: warn,
	})
}

// keptResults returns the configured store of kept results.
func (s *setup) keptResults(vault *secrets.Vault, log *slog.Logger) *kept.ResultStore {
	return kept.NewResultStore(kept.ResultConfig{
		Folder: s.keptFolder("answers"), Apps: s.Journal.KeepResultsOf,
		MaxAge: time.Duration(s.Journal.KeepResultsDays) * 24 * time.Hour, Vault: vault.NonInteractive(), Log: log,
	})
}

// keptScreenshots returns the configured store of kept screenshots after mutations.
func (s *setup) keptScreenshots(desktop *aai.App, next gateway.MutationObserver, vault *secrets.Vault, log *slog.Logger) *kept.ScreenshotStore {
	keeper := kept.NewResultStore(kept.ResultConfig{
		Folder: s.keptFolder("pictures"), Apps: s.Journal.KeepScreenshotsOf,
		MaxAge: 24 * time.Hour, MaxBytes: kept.MaxScreenshotBytes, Vault: vault.NonInteractive(), Log: log,
	})
	return kept.NewScreenshotStore(kept.ScreenshotConfig{Results: keeper, Apps: s.Journal.KeepScreenshotsOf, Desktop: desktop, NextObserver: next, Log: log})
}

func invalid(format string, args ...any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, format, args...)
}
