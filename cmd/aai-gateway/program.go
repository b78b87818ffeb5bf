package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aai"
	"aai/internal/account"
	"aai/internal/again"
	"aai/internal/ax"
	"aai/internal/catalog"
	"aai/internal/config"
	"aai/internal/dialog"
	"aai/internal/doctor"
	"aai/internal/doors/cli"
	"aai/internal/doors/mcp"
	"aai/internal/keychain"
	"aai/internal/own"
	"aai/internal/peer"
	"aai/internal/policy"
	"aai/internal/process"
	"aai/internal/proof"
	"aai/internal/seat"
	"aai/internal/workflow/kept"
)

// A program is one run of the command: what it was started with.
type program struct {
	getenv func(string) string
	// environ are all variables; nil: they are not looked through.
	environ []string
	in      io.Reader
	out     io.Writer
	err     io.Writer
	// secret asks the person at the terminal for a passphrase; nil where there is nobody.
	secret  func(ctx context.Context, prompt string) (string, error)
	grounds grounds
	// home is the home folder, where that is not the environment's.
	home string
}

// parts are the gateway and the rooms behind it.
type parts struct {
	gateway *aai.Gateway
	catalog *catalog.Catalog      // the apps of this computer
	watch   func(context.Context) // says what was left of workflows, looks whether those that are kept change, and for new ways into apps
	visible *policy.Visible
	// favourites are the apps that the person uses most.
	favourites func() []string
	shown      *shownBefore
	dialog     *dialog.Dialog
	doctor     *doctor.Doctor // of the command doctor; nil: each call has its own
	log        *slog.Logger
	closers    []io.Closer
}

func (p *parts) close() error {
	var errs []error
	for _, c := range p.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// open makes the gateway for a command. It reads the configuration and does no
// other I/O: the apps are looked for, and the journal is made, by the first call.
func (p *program) open(f cli.Flags) (*aai.Gateway, func() error, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Origin("logLevel") == config.Default {
		// A person at a terminal reads results, not the log.
		cfg.LogLevel = slog.LevelWarn
	}
	cfg.brief = true
	built, err := p.build(cfg)
	if err != nil {
		return nil, nil, err
	}
	return built.gateway, built.close, nil
}

// serveMCP serves one agent on standard input and output, or any number over
// HTTP.
func (p *program) serveMCP(ctx context.Context, f cli.Flags, o cli.ServeOptions) error {
	cfg, err := p.config(f)
	if err != nil {
		return err
	}
	if o.Profile != "" {
		cfg.Profile = o.Profile
	}
	for _, change := range o.Changes {
		if err := cfg.Set(change.Key, change.Value, change.Flag); err != nil {
			return err
		}
	}
	asks := ""
	if !o.HTTP {
		p.secret = nil // who types there is the agent
		asks = p.peer()
	}
	outlive()
	built, err := p.build(cfg)
	if err != nil {
		return err
	}
	cfg.warnOfNames(built.log)
	ctx, cancel := context.WithCancel(ctx)
	door := mcp.New(doorConfig(built, cfg, asks))
	stopped := built.follow(ctx, door.Rested())
	go built.visible.Watch(ctx)
	go built.watch(ctx)
	if o.HTTP {
		err = p.serveHTTP(ctx, door, cfg, built.log)
	} else {
		read, stop := whileRead(ctx, p.out)
		err = door.ServeStdio(read, p.in, p.out)
		stop()
	}
	cancel()
	<-stopped
	return errors.Join(err, built.close())
}

// peer is the identity of who is at the other end of standard input. It is asked for
// first: who has sent a message may be gone.
func (p *program) peer() string {
	in, ok := p.in.(*os.File)
	if !ok {
		return ""
	}
	return peer.Of(in)
}

// hosts says which processes this one runs in, with who is at the other end of standard
// input.
func (p *program) hosts() func(pid int) bool {
	in, _ := p.in.(*os.File)
	return peer.Hosts(in)
}

// doorConfig is the door for agents as configured.
func doorConfig(built *parts, cfg *setup, asks string) mcp.Config {
	c := mcp.Config{
		Gateway: built.gateway, Version: ownVersion(), Log: built.log,
		CanonicalNames: cfg.ToolNames == config.NamesCanonical, OnlyDirect: cfg.Profile == config.ProfileDesktop, Web: true, Search: true, Favourites: built.favourites,
		Peer: asks, Memory: built.shown,
	}
	if cfg.Profile != config.ProfileApps {
		c.Direct = []string{aai.DesktopApp}
	}
	return c
}

// describeDesktop is the desktop for those who only want to know what it can do,
// or nil where the platform has none. Nothing of it can be called.
func describeDesktop() *aai.App {
	if hostPlatform("", func(string) string { return "" }).desktop == nil {
		return nil
	}
	return ax.New(ax.Config{More: newCalling(nil, nil, callingPlaces{}, nil).desktop})
}

// ownApps are the apps that come with the gateway, besides the gateway itself. What they
// only look at is given again for as long as configured.
func (s *setup) ownApps(recent *again.Answers, more []*aai.Tool, log *slog.Logger) ([]*aai.App, io.Closer) {
	if s.platform.desktop == nil {
		return nil, io.NopCloser(nil)
	}
	open, closer := s.platform.desktop(s, log)
	app := ax.New(ax.Config{Open: open, Seat: s.seat(), RefsFolder: s.platform.refs, Session: s.describeSession, Locked: s.session.Locked, Host: s.host, Terminal: process.Terminal, OwnPages: ownPages, Log: log, More: more})
	recent.Keep(app.Tool("ax_get_tree"), s.Cache.Tree)
	recent.Keep(app.Tool("ax_screenshot"), s.Cache.Screenshot)
	return []*aai.App{app}, closer
}

// desktopOf is the desktop among the apps; nil where there is none.
func desktopOf(apps []*aai.App) *aai.App {
	for _, app := range apps {
		if app.ID == aai.DesktopApp {
			return app
		}
	}
	return nil
}

// checkOf is how the desktop says whether windows can be read; nil without a desktop.
func checkOf(apps []*aai.App) aai.Action {
	for _, app := range apps {
		if tool := app.Tool("ax_is_accessible"); tool != nil {
			return tool.Run
		}
	}
	return nil
}

// describeSession says what the person's session is and where it was found.
func (s *setup) describeSession() (lines []string, data map[string]any) {
	report := s.session.Report()
	return report.Lines(), report.Data()
}

// showConfig lists the settings in effect.
func (p *program) showConfig(f cli.Flags) ([]cli.Setting, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, err
	}
	var shown []cli.Setting
	for _, s := range cfg.Settings() {
		shown = append(shown, cli.Setting(s))
	}
	return shown, nil
}

// homeFolder is where the person's files are.
func (p *program) homeFolder() (string, error) {
	if p.home != "" {
		return p.home, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", aai.Errorf(aai.InvalidParams, "there is no home folder: %w", err)
	}
	return home, nil
}

// config reads the configuration of this run.
func (p *program) config(f cli.Flags) (*setup, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(home) {
		return nil, aai.Errorf(aai.InvalidParams, "the home folder is %q; expected an absolute path", home)
	}
	if err := account.CheckHome(home); err != nil {
		return nil, err
	}
	cfg, err := setUp(start{getenv: p.getenv, environ: p.environ, home: home, platform: hostPlatform(home, p.getenv), flags: f, grounds: p.grounds})
	if err != nil {
		return nil, err
	}
	for _, note := range cfg.Notes {
		_, _ = fmt.Fprintf(p.err, "warning: %s\n", note) // nobody may be reading it
	}
	return cfg, nil
}

// warnOfNames says what of the configuration counts for nothing, because it names a
// caller by what that calls itself.
func (s *setup) warnOfNames(log *slog.Logger) {
	if slices.ContainsFunc(s.Preapproved, policy.Grant.ByName) {
		log.Warn("consent.preapproved says of some callers no more than a name, which any caller can give itself: they allow nothing without an identity")
	}
	if slices.ContainsFunc(s.Policy.Elicitation, func(who string) bool { return who != policy.Every && !aai.IsIdentity(who) }) {
		log.Warn("consent.elicitation names clients by what they call themselves, which any client can: only identities, such as /usr/bin/claude, count there")
	}
}

// warnOfIdle says which settings mean nothing in this version.
func (s *setup) warnOfIdle(log *slog.Logger) {
	if s.WebUI {
		log.Warn("enableWebUI is set, but the page has a command of its own: aai-gateway web")
	}
	if idle := s.Idle(); len(idle) > 0 {
		log.Warn("settings mean nothing yet, since this version has no model that looks at pictures", "settings", strings.Join(idle, ", "))
	}
}

// build joins the rooms.
func (p *program) build(cfg *setup) (*parts, error) {
	log, closeLog, err := p.logger(cfg)
	if err != nil {
		return nil, err
	}
	cfg.warnOfIdle(log)
	record := cfg.journalOf(func(err error) { log.Warn("the journal", "cause", err) })
	vault := keychain.New(keychain.Config{
		Folder: filepath.Join(cfg.platform.data, "secrets"), Getenv: cfg.session.Getenv,
		Insecure: cfg.InsecureStorage, Ask: p.secret, Log: log,
	})
	responses := cfg.answersOf(vault, log)
	store, passphrase := cfg.kept()
	trust := cfg.trust(store, passphrase, log)
	drivers, closeDrivers := cfg.platform.drivers(cfg, log)
	client := cfg.wayOut()
	logins := cfg.logins(client.HTTP(), vault, p.getenv, log)
	drivers = withWeb(drivers, client.HTTP(), logins, cfg.Web)
	cfg.host = p.hosts()
	known, built, recent, self := new(everywhere), new(parts), new(again.Answers), (*aai.App)(nil)
	finder := cfg.finder(func() []*aai.App { return built.visible.Apps() }, store, record, log)
	finds := p.newFinding(cfg, grounding{drivers, client, logins, vault, log, func() *aai.Gateway { return built.gateway }}, known, finder)
	calling := newCalling(func() *aai.Gateway { return built.gateway }, vault, callingPlaces{cfg.home, cfg.platform.data}, log)
	halts := newHalting(cfg.platform.data, func() *aai.Gateway { return built.gateway }, func() *aai.App { return self }, log)
	ownApps, closeDesktop := cfg.ownApps(recent, calling.desktop, log)
	album := cfg.picturesOf(desktopOf(ownApps), calling.acts, vault, log)
	self = own.App(
		own.Sources{
			Journal: record, Answers: responses, Store: store, Preapproved: cfg.Preapproved,
			Modes: trust.modes, Revocations: trust.revocations,
			Web: known, Here: finds.seeker.look, Hints: known.hints, Logins: logins,
			HostPlatform: cfg.platform.name, Fetch: fetch(client),
			Vault: vault, Unsealed: store.Unsealed, Keeps: store.Keeps, Aside: asideOf(store), Asks: askedTools(), Asked: trust.notice, Check: checkOf(ownApps),
			Passphrase: passphrase, Confirmed: cfg.confirmed(), Unconfirmed: func() []proof.Setting { return cfg.Unconfirmed },
			More: slices.Concat(calling.own, finds.tools, cfg.settings().Tools(), []*aai.Tool{p.doctors(cfg, built)}, halts.tools, []*aai.Tool{album.Tool()}), Workflow: kept.Check,
		},
		func() own.Catalog { return known },
	)
	known.local = catalog.New(catalog.Config{
		Places: cfg.platform.places(cfg), Drivers: drivers, HostPlatform: cfg.platform.name,
		DefaultTimeout: cfg.DefaultTimeout, Rescan: cfg.RescanInterval,
		Entry: cfg.entry(), Own: append(ownApps, self, calling.library.Reserved()), Log: log,
	})
	known.Web = cfg.web(finds.servers.Over(calling.library.Over(known.local)), client, drivers, log)
	shown := &policy.Visible{Catalog: known, Modes: trust.modes}
	*built = parts{
		gateway: &aai.Gateway{
			Catalog: shown,
			Gates:   trust.gates,
			Journal: &operationLog{Journal: record, log: log, acts: recent.Acted, kept: responses},
			Meter:   trust.limits,
			Deeds:   album,
			Claims:  seat.Claims{Folder: seat.Folder},
			Halt:    halts.halt, Moved: halts.teller.Moved,
		},
		catalog: known.local, visible: shown, watch: finds.seeker.beside(calling.watch), favourites: finder.Favourites,
		dialog: trust.dialog, log: log, shown: &shownBefore{filepath.Join(cfg.platform.data, "shown.json"), trust.modes},
		closers: []io.Closer{halts, album, finds.servers, logins, closeDrivers, closeDesktop, calling.runs, finder, record, closeLog, closeClient{client}},
	}
	built.gateway.Dialog = cfg.asker(built.dialog)
	return built, nil
}

// entry is what finds the desktop entry of a program, nil where this system has none.
func (s *setup) entry() func(string) string {
	if s.platform.entry == nil {
		return nil
	}
	return s.platform.entry(s)
}

// asker is what puts questions, nil where the person wants no windows.
func (s *setup) asker(windows *dialog.Dialog) aai.Asker {
	switch {
	case s.grounds.person != nil:
		_, asker := s.grounds.person()
		return asker
	case s.Policy.Dialog == config.DialogAuto:
		return windows
	}
	return nil
}

// A keptStore is a store that says what is in a plain file.
type keptStore interface {
	policy.Store
	Unsealed() string
}

// asideOf is what a plain file allows beside the store, nil where it may have been put
// there with all the rest.
func asideOf(store policy.Store) own.Aside {
	if sealed, ok := store.(*policy.SealedStore); ok {
		return sealed
	}
	return nil
}

// kept is what people decided, and by what they prove that they may.
func (s *setup) kept() (keptStore, *proof.Passphrase) {
	sealed, plain := s.sealed(), policy.NewFileStore(filepath.Join(s.platform.data, "consent.json"))
	if s.elsewhere {
		return policy.NewElsewhereStore(plain, sealed), proof.NewPassphrase(sealed, "")
	}
	return policy.NewSealedStore(plain, sealed), proof.NewPassphrase(sealed, filepath.Join(s.platform.data, "passphrase.json"))
}
