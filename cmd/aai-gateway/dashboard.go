package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/doors/web"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/gui/eventlog"
	"github.com/gybob/aai-gateway/internal/oauth"
)

// serveWeb serves the dashboard to the user of this computer until ctx ends.
func (p *program) serveWeb(ctx context.Context, f cli.Flags, o cli.WebOptions) error {
	cfg, err := p.config(f)
	if err != nil {
		return err
	}
	for _, change := range o.Changes {
		if err := cfg.Set(change.Key, change.Value, change.Flag); err != nil {
			return err
		}
	}
	ignoreBrokenPipe()
	built, err := p.build(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	stopped := built.catalog.Start(ctx)
	go built.visibleApps.Watch(ctx)
	err = p.servePage(ctx, cfg, built, o)
	cancel()
	<-stopped
	return errors.Join(err, built.close())
}

// servePage serves the dashboard of the built components.
func (p *program) servePage(ctx context.Context, cfg *setup, built *components, o cli.WebOptions) error {
	door, err := web.New(web.Config{Gateway: built.gateway, AskAtTerminal: o.Ask, WatchEvents: cfg.watchEvents(built), Programs: programsOf(built.desktop), WatchSession: watchSession, Log: built.log})
	if err != nil {
		return err
	}
	listener, err := door.Listen(ctx, cfg.HTTPPort)
	if err != nil {
		return err
	}
	end, err := announceDashboard(door.Host())
	if err != nil {
		_ = listener.Close() // it had no connections
		return aai.Errorf(aai.AutomationFailed, "the page is not opened, since it could not be hidden from tools on windows: %w", err)
	}
	defer end()
	o.Print(door.Link())
	if o.Open {
		gone, err := cfg.openDashboard(ctx, door)
		if err != nil {
			built.log.Warn("the page cannot be opened in a browser; open the link yourself", "cause", err)
		}
		defer gone()
	}
	if err := door.Serve(ctx, listener); ctx.Err() == nil {
		return err
	}
	return nil // ended as requested
}

// programsOf gives the dashboard access to the running programs; nil without a desktop.
func programsOf(desk *aai.App) *web.Programs {
	watcher, ok := gui.WatcherOf(desk)
	if !ok {
		return nil
	}
	return &web.Programs{Names: watcher.Names, WatchNames: watcher.Programs, WatchEvents: func(ctx context.Context, name string, changed func()) (func(), error) {
		return watcher.Program(ctx, name, eventlog.Events, changed)
	}}
}

// openDashboard opens the dashboard in the user's browser through a file that redirects to the link.
// Every account of the computer can read a program's arguments, so the link must not be one. The
// file lies in the home folder itself: browsers in a snap read neither hidden folders nor the
// runtime folder. It is removed after its use, at the latest by gone.
func (s *setup) openDashboard(ctx context.Context, door *web.Door) (gone func(), err error) {
	file, remove, err := web.WriteRedirectFile(s.home, door.Link())
	if err != nil {
		return func() {}, err
	}
	ended, end := context.WithCancel(ctx)
	removed := make(chan struct{})
	go func() {
		defer close(removed)
		select {
		case <-door.LinkUsed():
		case <-ended.Done():
		}
		remove()
	}()
	return func() { end(); <-removed }, oauth.OpenFile(ctx, file, withoutSecrets(s.personSession.Environ(os.Environ())))
}

// watchEvents returns a function that notifies the dashboard of changes by any of the user's
// gateways, by watching their shared files.
func (s *setup) watchEvents(built *components) func(context.Context, func(kind string)) {
	files := map[string]string{
		s.AuditLog: web.EventJournal,
		s.File():   web.EventSettings,
		filepath.Join(s.platform.data, "consent.json"): web.EventConsent,
		filepath.Join(s.platform.data, "revoked"):      web.EventConsent,
		filepath.Join(s.platform.data, "secrets"):      web.EventConsent,
		filepath.Join(s.platform.data, "mode"):         web.EventConsent,
	}
	for _, folder := range stopFolders(s.platform.data) {
		files[folder] = web.EventActiveCalls
		if err := os.MkdirAll(folder, 0o700); err != nil { // so that it is watched from the beginning
			built.log.Warn("the running processes are not kept up to date", "cause", err)
		}
	}
	return func(ctx context.Context, tell func(kind string)) {
		if err := atomicfile.Watch(ctx, files, tell); err != nil {
			built.log.Warn("pages are not kept up to date", "cause", err)
		}
		context.AfterFunc(ctx, built.visibleApps.OnChange(func() { tell(web.EventApps) }))
	}
}

// dashboardFolder returns the folder in which the user's gateways announce their dashboards.
func dashboardFolder() (string, error) {
	folder, err := inputlock.Folder()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(folder), "pages"), nil
}

// announceDashboard protects the dashboard at a host from the window tools of all gateways, until end.
func announceDashboard(host string) (end func(), err error) {
	folder, err := dashboardFolder()
	if err != nil {
		return nil, err
	}
	return web.AnnounceDashboard(folder, host)
}

// dashboardHosts returns the hosts of all dashboards of the user's gateways.
func dashboardHosts() ([]string, error) {
	folder, err := dashboardFolder()
	if err != nil {
		return nil, err
	}
	return web.DashboardHosts(folder)
}

// credentialsPage returns the page of an open dashboard where the user enters the credentials of an app; "" if none is open.
func credentialsPage(app string) string {
	hosts, err := dashboardHosts()
	if err != nil || len(hosts) == 0 {
		return ""
	}
	return "http://" + hosts[0] + "/logins?" + url.Values{"app": {app}}.Encode()
}
