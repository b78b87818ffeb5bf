package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"aai"
	"aai/internal/doors/cli"
	"aai/internal/doors/web"
	"aai/internal/login"
	"aai/internal/ownpage"
	"aai/internal/seat"
	"aai/internal/watchfile"
)

// serveWeb serves the page to the person at this computer until ctx ends.
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
	outlive()
	built, err := p.build(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	stopped := built.catalog.Start(ctx)
	go built.visible.Watch(ctx)
	err = p.servePage(ctx, cfg, built, o)
	cancel()
	<-stopped
	return errors.Join(err, built.close())
}

// servePage is serveWeb when the rooms are joined.
func (p *program) servePage(ctx context.Context, cfg *setup, built *parts, o cli.WebOptions) error {
	door, err := web.New(web.Config{Gateway: built.gateway, Ask: o.Ask, Watch: cfg.news(built), Log: built.log})
	if err != nil {
		return err
	}
	listener, err := door.Listen(ctx, cfg.HTTPPort)
	if err != nil {
		return err
	}
	end, err := announce(door.Host())
	if err != nil {
		_ = listener.Close() // nobody has used it
		return aai.Errorf(aai.AutomationFailed, "the page is not opened, since tools on windows could not be kept away from it: %w", err)
	}
	defer end()
	o.Say(door.Link())
	if o.Open {
		gone, err := cfg.leadTo(ctx, door)
		if err != nil {
			built.log.Warn("the page cannot be opened in a browser; open the link yourself", "cause", err)
		}
		defer gone()
	}
	if err := door.Serve(ctx, listener); ctx.Err() == nil {
		return err
	}
	return nil // ended as it was asked to
}

// leadTo opens the page in the person's browser by a file that leads to the link, since with
// which arguments a program was started every account of the computer can read. The file lies in
// the home folder itself: browsers in a snap read neither hidden folders nor the runtime folder. It
// goes when the link was used, and at the latest by gone.
func (s *setup) leadTo(ctx context.Context, door *web.Door) (gone func(), err error) {
	file, remove, err := ownpage.Leading(s.home, door.Link())
	if err != nil {
		return func() {}, err
	}
	ended, end := context.WithCancel(ctx)
	removed := make(chan struct{})
	go func() {
		defer close(removed)
		select {
		case <-door.Used():
		case <-ended.Done():
		}
		remove()
	}()
	return func() { end(); <-removed }, login.OpenFile(ctx, file, withoutSecrets(s.session.Environ(os.Environ())))
}

// news is how the page hears of what any gateway of the person does: by the files that they
// share.
func (s *setup) news(built *parts) func(context.Context, func(kind string)) {
	files := map[string]string{
		s.AuditLog: web.NewsJournal,
		s.File():   web.NewsSettings,
		filepath.Join(s.platform.data, "consent.json"): web.NewsConsent,
		filepath.Join(s.platform.data, "revoked"):      web.NewsConsent,
		filepath.Join(s.platform.data, "secrets"):      web.NewsConsent,
		filepath.Join(s.platform.data, "mode"):         web.NewsConsent,
	}
	for _, folder := range halted(s.platform.data) {
		files[folder] = web.NewsRunning
		if err := os.MkdirAll(folder, 0o700); err != nil { // so that it is watched from the beginning
			built.log.Warn("what runs is not kept up to date", "cause", err)
		}
	}
	return func(ctx context.Context, tell func(kind string)) {
		if err := watchfile.Watch(ctx, files, tell); err != nil {
			built.log.Warn("pages are not kept up to date", "cause", err)
		}
		context.AfterFunc(ctx, built.visible.OnChange(func() { tell(web.NewsApps) }))
	}
}

// pagesFolder is where the gateways of the person say where they show their page.
func pagesFolder() (string, error) {
	folder, err := seat.Folder()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(folder), "pages"), nil
}

// announce keeps all gateways' tools on windows away from the page at a host, until end.
func announce(host string) (end func(), err error) {
	folder, err := pagesFolder()
	if err != nil {
		return nil, err
	}
	return ownpage.Announce(folder, host)
}

// ownPages are the hosts of all pages that gateways of the person show now.
func ownPages() ([]string, error) {
	folder, err := pagesFolder()
	if err != nil {
		return nil, err
	}
	return ownpage.Hosts(folder)
}
