package main

import (
	"context"
	"errors"
	"os"

	"aai/internal/doors/cli"
	"aai/internal/doors/web"
	"aai/internal/login"
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
	door, err := web.New(web.Config{Gateway: built.gateway, Ask: o.Ask, Log: built.log})
	if err != nil {
		return err
	}
	listener, err := door.Listen(ctx, cfg.HTTPPort)
	if err != nil {
		return err
	}
	o.Say(door.Link())
	if o.Open {
		if err := login.OpenBrowser(ctx, door.Link(), withoutSecrets(cfg.session.Environ(os.Environ()))); err != nil {
			built.log.Warn("the page cannot be opened in a browser; open the link yourself", "cause", err)
		}
	}
	if err := door.Serve(ctx, listener); ctx.Err() == nil {
		return err
	}
	return nil // ended as it was asked to
}
