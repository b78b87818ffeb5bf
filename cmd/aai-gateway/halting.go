package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"aai"
	"aai/internal/account"
	"aai/internal/halt"
	"aai/internal/running"
)

// halting is what runs in this gateway, told to the person's others, and what they stopped.
type halting struct {
	halt   *halt.Halt
	teller *running.Teller
	tools  []*aai.Tool
}

// halted are the folders of what is stopped, of what runs, and of pictures of it.
func halted(data string) []string {
	return []string{filepath.Join(data, "halt"), filepath.Join(data, "running"), filepath.Join(data, "pictures")}
}

// stopFile is where it stands what is stopped.
func stopFile(data string) string { return filepath.Join(halted(data)[0], "stopped") }

// stopAnyway stops whatever the configuration says, and however little of it can be read.
func (p *program) stopAnyway(ctx context.Context, call, caller string) error {
	home, err := p.homeFolder()
	if err != nil {
		return err
	}
	if err := account.CheckHome(home); err != nil {
		return err
	}
	stops := halt.New(halt.Config{Path: stopFile(hostPlatform(home, p.getenv).data), Changed: func() {}, Log: slog.New(slog.DiscardHandler)})
	defer stops.Close() //nolint:errcheck // nothing watches
	return stops.Stop(ctx, halt.Stop{Call: call, Caller: caller, At: time.Now(), Door: aai.DoorCLI})
}

// newHalting makes it, of a gateway and its own app that are made later.
func newHalting(data string, gateway func() *aai.Gateway, self func() *aai.App, log *slog.Logger) halting {
	folders := halted(data)
	stopped := halt.New(halt.Config{
		Path: stopFile(data),
		Exempt: func(w aai.Whose) bool {
			if w.App != aai.OwnApp || w.Caller.Door != aai.DoorCLI && w.Caller.Door != aai.DoorWeb {
				return false
			}
			tool := self().Tool(w.Tool)
			return tool != nil && !tool.Calls // what the person needs to see what there is, and to start it
		},
		Changed: func() { gateway().EndStopped() },
		Log:     log,
	})
	folder := folders[1]
	return halting{
		halt:   stopped,
		teller: running.NewTeller(folder, func() []aai.Underway { return gateway().Underway() }, log),
		tools:  append(stopped.Tools(), running.Tool(folder, stopped)),
	}
}

// Close implements io.Closer.
func (h halting) Close() error { return errors.Join(h.halt.Close(), h.teller.Close()) }
