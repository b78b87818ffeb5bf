package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

// stopControl is what runs in this gateway, told to the person's others, and what they stopped.
type stopControl struct {
	stopper   *active.StopList
	publisher *active.Publisher
	tools     []*aai.Tool
}

// stopFolders are the folders of what is stopped, of what runs, and of pictures of it.
func stopFolders(data string) []string {
	return []string{filepath.Join(data, "halt"), filepath.Join(data, "running"), filepath.Join(data, "pictures")}
}

// stopFile is where it stands what is stopped.
func stopFile(data string) string { return filepath.Join(stopFolders(data)[0], "stopped") }

// minimalGateway is a gateway of nothing but the tools that stop and that say what runs, whatever the
// configuration says, and however little of it can be read; where the record is nobody knows
// then. To start again is to let callers do more: that wants a whole gateway, which asks.
func (p *program) minimalGateway() (*aai.Gateway, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, err
	}
	if err := userinfo.CheckHome(home); err != nil {
		return nil, err
	}
	data := hostPlatform(home, p.getenv).data
	stops := active.NewStopList(active.StopConfig{Path: stopFile(data)})
	tools := slices.DeleteFunc(stops.Tools(), func(t *aai.Tool) bool { return t.Name == active.StartTool })
	b := minimalApp{&aai.App{ID: aai.BuiltinApp, Tools: append(tools, active.ActiveTool(stopFolders(data)[1], stops))}}
	return &aai.Gateway{Catalog: b, Gates: []aai.Gate{b}, Journal: b}, nil
}

// minimalApp is the only app there is; all of it is admitted, and nothing is kept.
type minimalApp struct{ app *aai.App }

func (b minimalApp) Apps() []*aai.App                               { return []*aai.App{b.app} }
func (b minimalApp) Find(context.Context, string) (*aai.App, error) { return b.app, nil }
func (minimalApp) OnChange(func()) (stop func())                    { return func() {} }
func (minimalApp) CheckPassphrase(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}
func (minimalApp) Record(context.Context, *aai.Entry) error { return nil }

// newStopControl makes it, of a gateway and its own app that are made later.
func newStopControl(data string, gateway func() *aai.Gateway, self func() *aai.App, log *slog.Logger) stopControl {
	folders := stopFolders(data)
	stopped := active.NewStopList(active.StopConfig{
		Path: stopFile(data),
		Exempt: func(w aai.CallScope) bool {
			if w.App != aai.BuiltinApp || w.Caller.Door != aai.DoorCLI && w.Caller.Door != aai.DoorWeb {
				return false
			}
			tool := self().Tool(w.Tool)
			return tool != nil && !tool.OnlyMakesCalls // what the person needs to see what there is, and to start it
		},
		OnChange: func() { gateway().CancelStopped() },
		Log:      log,
	})
	folder := folders[1]
	return stopControl{
		stopper:   stopped,
		publisher: active.NewPublisher(folder, func() []aai.ActiveCall { return gateway().Active() }, log),
		tools:     append(stopped.Tools(), active.ActiveTool(folder, stopped)),
	}
}

// Close implements io.Closer.
func (h stopControl) Close() error { return errors.Join(h.stopper.Close(), h.publisher.Close()) }
