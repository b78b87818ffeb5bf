package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/doctor"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/drivers/webapi"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/proof"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/secrets"
	"github.com/gybob/aai-gateway/internal/vision"
)

// program is one run of the command, with its inputs and outputs.
type program struct {
	getenv func(string) string
	// environ holds all variables; nil: they are not searched.
	environ []string
	in      io.Reader
	out     io.Writer
	err     io.Writer
	// secret asks the user at the terminal for a passphrase; nil without a terminal.
	secret func(ctx context.Context, prompt string) (string, error)
	// client is the identity of the client on standard input while the program serves it; empty: none or unknown.
	client     string
	hostAccess hostAccess
	// home overrides the home folder of the environment.
	home string
	// args are the arguments of this run. sessionFolder is the folder of the isolated session that
	// they are for, once it exists.
	args          []string
	sessionFolder string
	// desktopEnviron is the environment of the isolated session's programs; nil: there is none.
	desktopEnviron []string
	desktopEnter   []string // begins the commands of those programs
}

// components are the gateway and its dependencies.
type components struct {
	gateway         *gateway.Gateway
	catalog         *catalog.Catalog      // the apps of this computer
	watchBackground func(context.Context) // logs interrupted workflows, watches stored workflows, scans for integrations
	visibleApps     *policy.VisibleCatalog
	// favourites returns the apps that the user uses most.
	favourites func() []string
	listCache  *fileListCache
	pins       *pinStore
	dialog     *dialog.Dialog
	desktop    *aai.App // nil on a platform without one
	leases     *active.LeaseStore
	doctor     *doctor.Doctor // of the doctor command; nil: each call creates one
	log        *slog.Logger
	closers    []io.Closer
}

func (p *components) close() error {
	var errs []error
	for _, c := range p.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// open creates the gateway for a command. It reads the configuration and does no other I/O: the
// first call scans the apps and opens the journal.
func (p *program) open(f cli.Flags) (*gateway.Gateway, func() error, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Origin("logLevel") == config.Default {
		// A user at a terminal reads results, not the log.
		cfg.LogLevel = slog.LevelWarn
	}
	cfg.exitsAfterCall = true
	built, err := p.build(cfg)
	if err != nil {
		return nil, nil, err
	}
	return built.gateway, built.close, nil
}

// serveMCP serves one agent on standard input and output, or any number over HTTP.
func (p *program) serveMCP(ctx context.Context, f cli.Flags, o cli.ServeOptions) error {
	if !o.HTTP {
		p.client = p.peerIdentity()
	}
	if choices := o.Session; choices != nil && o.HTTP && p.sessionFolder == "" {
		return p.serveConversations(ctx, f, o)
	} else if choices != nil {
		o.Session = nil
		return p.inSession(ctx, *choices, func(ctx context.Context) error { return p.serveMCP(ctx, f, o) })
	}
	cfg, err := p.serveConfig(f, o)
	if err != nil {
		return err
	}
	if !o.HTTP {
		p.secret = nil // the input comes from the agent
	}
	ignoreBrokenPipe()
	built, err := p.build(cfg)
	if err != nil {
		return err
	}
	cfg.warnOfNames(built.log)
	cfg.warnOfIdle(built.log)
	ctx, cancel := context.WithCancel(ctx)
	defer exitIfHung(ctx, p.err)()
	door := mcp.New(doorConfig(built, cfg, p.client))
	stopped := built.watchApps(ctx, door.ReadyToScan())
	go built.visibleApps.Watch(ctx)
	go built.watchBackground(ctx)
	go built.pins.watch(ctx, door.Refresh)
	go cfg.askAboutDev(ctx, built, door.ReadyToScan())
	if o.HTTP && p.sessionFolder != "" {
		err = p.serveConversation(ctx, door, cfg)
	} else if o.HTTP {
		err = p.serveHTTP(ctx, func(c streamable.Config) (httpServer, error) { return door.HTTP(c) }, cfg, built.log)
	} else {
		read, stop := contextWhileRead(ctx, p.out)
		err = door.ServeStdio(read, p.in, p.out)
		stop()
	}
	cancel()
	<-stopped
	return errors.Join(err, built.close())
}

// peerIdentity returns the identity of the process at the other end of standard input. It is
// called early, because that process may exit.
func (p *program) peerIdentity() string {
	in, ok := p.in.(*os.File)
	if !ok {
		return ""
	}
	return process.PeerIdentity(in)
}

// isHostProcess returns a function that reports whether this process runs inside the given one,
// based on the other end of standard input.
func (p *program) isHostProcess() func(pid int) bool {
	in, _ := p.in.(*os.File)
	return process.HostChecker(in)
}

// doorConfig returns the configuration of the MCP door.
func doorConfig(built *components, cfg *setup, asks string) mcp.Config {
	c := mcp.Config{
		Gateway: built.gateway, Version: programVersion(), Log: built.log,
		UseCanonicalNames: cfg.ToolNames == config.NamesCanonical, OnlyDirect: cfg.Profile == config.ProfileDesktop, OwnDesktop: cfg.input.desktopEnviron != nil, ListWebDiscovery: true, ListSearch: true, FavouriteApps: built.favourites,
		PeerIdentity: asks, ListCache: built.listCache, ToolGuide: toolGuide, Pinned: built.pins.current, AskForHelp: cfg.AskForHelp, ProjectFolder: cfg.ProjectFolder, Resources: desktopResources(built.desktop), OnConversationEnd: built.leases.EndConversation,
	}
	if cfg.Profile != config.ProfileApps {
		c.DirectApps = []string{aai.DesktopApp}
	}
	return c
}

// toolGuide returns the guide to a tool.
func toolGuide(app *aai.App, tool string) string {
	text, _ := catalog.GuideForTool(app, tool)
	return text
}

// describeDesktop returns the desktop's app for descriptions only, or nil if the platform has
// none. Its tools cannot be called.
func describeDesktop() *aai.App {
	if hostPlatform("", func(string) string { return "" }).desktop == nil {
		return nil
	}
	return gui.New(gui.Config{ExtraTools: newCallTools(nil, nil, dataFolders{}, nil, nil).desktop})
}

// builtinApps returns the builtin apps other than the gateway's own. Results of their reading
// tools are cached as configured. The person's stop key calls stop.
func (s *setup) builtinApps(recent *active.ResultCache, calling callTools, on desktopDependencies, stop func(), log *slog.Logger) ([]*aai.App, io.Closer) {
	s.stopEverything = stop
	if s.platform.desktop == nil {
		return nil, io.NopCloser(nil)
	}
	open, closer := s.platform.desktop(s, log)
	app := gui.New(gui.Config{Open: open, InputLock: s.inputLock(), RefsFolder: s.platform.refsFolder, SessionInfo: s.describeSession, PagesOf: s.pagesOf, IsScreenLocked: s.session.Locked, IsCallerHost: s.isHostProcess, IsTerminal: process.ShowsTerminal, DashboardHosts: dashboardHosts,
		UndoDepth: calling.acts.Depth, SecurityMode: func() string { return on.modes.Current().String() }, Log: log, ExtraTools: calling.desktop, Recordings: calling.recordings,
		Baselines: &vision.Baselines{Folder: s.keptFolder("baselines"), Sealer: on.vault.NonInteractive()}, Model: on.model, Leases: on.leases, Do: func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return on.gateway().Do(ctx, call) }, CheckUpload: func(path string) error { return webapi.CheckUpload(path, s.secretFiles()) }})
	recent.CacheTool(app.Tool("ax_get_tree"), s.Cache.TreeMaxAge)
	recent.CacheTool(app.Tool("ax_screenshot"), s.Cache.ScreenshotMaxAge)
	return []*aai.App{app}, closer
}

// desktopOf returns the desktop among the apps, or nil.
func desktopOf(apps []*aai.App) *aai.App {
	for _, app := range apps {
		if app.ID == aai.DesktopApp {
			return app
		}
	}
	return nil
}

// desktopAction returns the action of a tool of the desktop, or nil without a desktop.
func desktopAction(apps []*aai.App, name string) aai.Action {
	for _, app := range apps {
		if tool := app.Tool(name); tool != nil {
			return tool.Run
		}
	}
	return nil
}

// showConfig lists the settings in effect.
func (p *program) showConfig(f cli.Flags) ([]answer.SettingOrigin, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, err
	}
	return cfg.Settings(), nil
}

// homeFolder returns the user's home folder.
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
	if err := userinfo.CheckHome(home); err != nil {
		return nil, err
	}
	cfg, err := setUp(setupInput{getenv: p.getenv, environ: p.environ, home: home, platform: p.hostAccess.hostPlatform(home, p.getenv), flags: f, client: p.client, hostAccess: p.hostAccess, desktopEnviron: p.desktopEnviron, desktopEnter: p.desktopEnter})
	if err != nil {
		return nil, err
	}
	for _, note := range cfg.Notes {
		_, _ = fmt.Fprintf(p.err, "warning: %s\n", note) // the output may have no reader
	}
	_, _ = io.WriteString(p.err, firstStartNotice(cfg.platform.data, proof.Sentence(runtime.GOOS)))
	return cfg, makeDataFolder(cfg.platform.data)
}

// firstStartNotice says before the first start of the program, which makes the data folder, how far it was tried on this system.
func firstStartNotice(data, tried string) string {
	if _, err := os.Stat(data); tried == "" || !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return "note: " + tried + " Details: docs/platforms.md\n"
}

// warnOfNames warns about settings without effect because they name a caller by its self-chosen
// name.
func (s *setup) warnOfNames(log *slog.Logger) {
	if slices.ContainsFunc(s.Preapproved, policy.Grant.IsNameOnly) {
		log.Warn("consent.preapproved has callers with only a name, which any caller can use: these allow nothing without an identity")
	}
	if slices.ContainsFunc(s.Policy.ElicitationClients, func(who string) bool { return who != policy.Wildcard && !aai.IsIdentity(who) }) {
		log.Warn("consent.elicitation has names that any client can use: only identities, such as /usr/bin/claude, count there")
	}
}

// warnOfIdle warns about settings without effect in this version.
func (s *setup) warnOfIdle(log *slog.Logger) {
	if s.WebUI {
		log.Warn("enableWebUI is set, but the page has a command of its own: aai-gateway web")
	}
}

// build creates the gateway and its dependencies.
func (p *program) build(cfg *setup) (*components, error) {
	log, closeLog, err := p.logger(cfg)
	if err != nil {
		return nil, err
	}
	record := cfg.journalOf(func(err error) { log.Warn("the journal", "cause", err) })
	vault := secrets.New(secrets.Config{
		Folder: filepath.Join(cfg.platform.data, "secrets"), Getenv: cfg.personSession.Getenv,
		AllowInsecureFile: cfg.InsecureStorage, Ask: p.secret, Log: log,
	})
	responses := cfg.keptResults(vault, log)
	store, passphrase := cfg.kept()
	trust := cfg.gates(store, passphrase, log)
	drivers, closeDrivers := cfg.platform.drivers(cfg, log)
	client := cfg.webClient()
	logins := cfg.logins(client.HTTP(), vault, p.getenv, log)
	drivers = cfg.withWeb(drivers, client.HTTP(), logins, responses)
	cfg.isHostProcess = p.isHostProcess()
	known, built, recent, recorders, self := new(combinedCatalog), new(components), new(active.ResultCache), new(events.Recorders), (*aai.App)(nil)
	finder := cfg.newSearch(func() []*aai.App { return built.visibleApps.Apps() }, store, record, log)
	finds := p.newAppSources(cfg, appDependencies{drivers, client, logins, vault, log, func() *gateway.Gateway { return built.gateway }, recorders}, known, finder)
	calling := newCallTools(func() *gateway.Gateway { return built.gateway }, vault, cfg.dataFolders(), cfg.platform.runScript, log)
	halts := newStopControl(cfg.platform.data, func() *gateway.Gateway { return built.gateway }, func() *aai.App { return self }, calling.recordings.End, log)
	pages, held, seeing, relay := cfg.openPages(log), cfg.secrets(trust.dialog, log), cfg.visionModel(logins, p.getenv), newRelay()
	ownApps, closeDesktop := cfg.builtinApps(recent, calling, desktopDependencies{trust.modes, vault, seeing, func() *gateway.Gateway { return built.gateway }, halts.leases}, stopByKey(func() *gateway.Gateway { return built.gateway }, log), log)
	album := cfg.keptScreenshots(desktopOf(ownApps), calling.acts, vault, log)
	self = builtin.NewApp(
		builtin.Dependencies{
			Journal: record, Pins: cfg.pins(built), KeptResults: responses, Store: store, Preapproved: cfg.Preapproved,
			Modes: trust.modes, Revocations: trust.revocations,
			Web: known, DiscoverLocal: finds.seeker.scan, SiteHints: known.hints, Logins: logins,
			HostPlatform: cfg.platform.name, FetchPage: fetch(client), ModelLogin: seeing.Login,
			Vault: vault, UnsealedReason: store.UnsealedWarning, StoreFault: store.CheckWritable, Unverified: store, ConsentTools: consentTools(), PromptNotice: trust.notice, CheckDesktop: desktopAction(ownApps, "ax_is_accessible"), SessionInfo: desktopAction(ownApps, "ax_session_info"), Version: programVersion(), ProtocolVersion: mcp.NewestVersion,
			Passphrase: passphrase, Confirmed: cfg.confirmed(), Unconfirmed: func() []reauth.Setting { return cfg.Unconfirmed },
			ExtraTools: slices.Concat(calling.builtin, finds.tools, pages.Tools(), held.Tools(), cfg.settings().Tools(), []*aai.Tool{p.doctorTool(cfg, built)}, halts.tools, []*aai.Tool{album.Tool()}, relay.Tools()), WorkflowName: workflow.ParseName,
		},
		func() builtin.Catalog { return known },
	)
	known.local = catalog.New(catalog.Config{
		Places: cfg.platform.descriptorPlaces(cfg), Drivers: drivers, HostPlatform: cfg.platform.name,
		DefaultTimeout: cfg.DefaultTimeout, RescanInterval: cfg.RescanInterval,
		EntryCommand: cfg.entry(), Events: recorders, Builtin: append(ownApps, self, calling.library.ReservedApp()), Log: log,
	})
	known.WebCatalog = cfg.web(known.withPages(pages.Wrap(finds.servers.WithServerTools(calling.library.Wrap(known.local)))), client, drivers, recorders, log)
	shown := &policy.VisibleCatalog{Catalog: known, Modes: trust.modes}
	*built = components{
		gateway: &gateway.Gateway{
			Catalog:          shown,
			Gates:            trust.gates,
			Journal:          &operationLog{Journal: record, log: log, onMutation: recent.Invalidate, keptResults: responses},
			Meter:            trust.limits,
			MutationObserver: album,
			Claims:           inputlock.Claims{Folder: inputlock.Folder}, Pause: cfg.pauseWhileTaken,
			Stops: halts.stopper, Secrets: held, OnActiveChange: halts.publisher.StageChanged,
		},
		catalog: known.local, visibleApps: shown, pins: cfg.pins(built), watchBackground: finds.seeker.alongside(calling.watch), favourites: finder.Favourites,
		dialog: trust.dialog, desktop: desktopOf(ownApps), leases: halts.leases, log: log, listCache: &fileListCache{filepath.Join(cfg.platform.data, "shown.json"), trust.modes},
		closers: []io.Closer{recorders, halts, relay, album, finds.servers, cfg.browsers, logins, closeDrivers, calling.recordings, closeDesktop, calling.runStore, finder, record, closeLog, clientCloser{client}},
	}
	built.gateway.Dialog = cfg.asker(built.dialog)
	return built, nil
}

// entry returns the lookup of a program's desktop entry, or nil if this system has none.
func (s *setup) entry() func(string) string {
	if s.platform.desktopEntry == nil {
		return nil
	}
	return s.platform.desktopEntry(s)
}

// asker returns the dialog for questions, or nil if the user disabled dialogs.
func (s *setup) asker(windows *dialog.Dialog) aai.Asker {
	switch {
	case s.hostAccess.person != nil:
		_, asker := s.hostAccess.person()
		return asker
	case s.Policy.Dialog == config.DialogAuto:
		return windows
	}
	return nil
}

// kept returns the store of the user's decisions, and the passphrase for reauthentication.
func (s *setup) kept() (*policy.GrantStore, *reauth.Passphrase) {
	sealed, plain := s.policyVault(), filepath.Join(s.platform.data, "consent.json")
	if s.isExternal {
		return policy.NewExternalStore(plain, sealed), reauth.NewPassphrase(sealed, "")
	}
	return policy.NewSealedStore(plain, sealed), reauth.NewPassphrase(sealed, filepath.Join(s.platform.data, "passphrase.json"))
}
