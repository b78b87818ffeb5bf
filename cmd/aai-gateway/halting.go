package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

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

// bare is a gateway of nothing but the tools that stop and that say what runs, whatever the
// configuration says, and however little of it can be read; where the record is nobody knows
// then. To start again is to let callers do more: that wants a whole gateway, which asks.
func (p *program) bare() (*aai.Gateway, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, err
	}
	if err := account.CheckHome(home); err != nil {
		return nil, err
	}
	data := hostPlatform(home, p.getenv).data
	stops := halt.New(halt.Config{Path: stopFile(data)})
	tools := slices.DeleteFunc(stops.Tools(), func(t *aai.Tool) bool { return t.Name == halt.StartTool })
	b := bareApp{&aai.App{ID: aai.OwnApp, Tools: append(tools, running.Tool(halted(data)[1], stops))}}
	return &aai.Gateway{Catalog: b, Gates: []aai.Gate{b}, Journal: b}, nil
}

// bareApp is the only app there is; all of it is admitted, and nothing is kept.
type bareApp struct{ app *aai.App }

func (b bareApp) Apps() []*aai.App                                          { return []*aai.App{b.app} }
func (b bareApp) Find(context.Context, string) (*aai.App, error)            { return b.app, nil }
func (bareApp) OnChange(func()) (stop func())                               { return func() {} }
func (bareApp) Check(context.Context, *aai.Request) ([]aai.Question, error) { return nil, nil }
func (bareApp) Record(context.Context, *aai.Entry) error                    { return nil }

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
