package main

import (
	"errors"
	"log/slog"
	"path/filepath"

	"aai"
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

// newHalting makes it, of a gateway and its own app that are made later.
func newHalting(data string, gateway func() *aai.Gateway, self func() *aai.App, log *slog.Logger) halting {
	folders := halted(data)
	stopped := halt.New(halt.Config{
		Path: filepath.Join(folders[0], "stopped"),
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
