package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/gui"
)

// stopControl publishes this gateway's active calls to the user's other gateways, and applies their stops.
type stopControl struct {
	stopper   *active.StopList
	publisher *active.Publisher
	leases    *active.LeaseStore
	tools     []*aai.Tool
}

// stopFolders returns the folders of stops, of active calls, and of their pictures.
func stopFolders(data string) []string {
	return []string{filepath.Join(data, "halt"), filepath.Join(data, "running"), filepath.Join(data, "pictures")}
}

// leaseStore returns the store of leases. current returns the gateway that asks the person.
func leaseStore(data string, current func() *gateway.Gateway, log *slog.Logger) *active.LeaseStore {
	return &active.LeaseStore{
		Folder: filepath.Join(data, "leases"), Log: log, Now: time.Now,
		Ask: func(ctx context.Context, q aai.Question) (aai.Answer, error) { return current().Ask(ctx, q) },
	}
}

// stopFile returns the file that lists the stops.
func stopFile(data string) string { return filepath.Join(stopFolders(data)[0], "stopped") }

// minimalGateway returns a gateway with only the tools that stop calls and list active ones. It works
// with an unreadable configuration, and writes no journal, because its path is then unknown. Starting
// again grants callers more, so it needs a full gateway, which asks for confirmation.
func (p *program) minimalGateway() (*gateway.Gateway, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, err
	}
	if err := userinfo.CheckHome(home); err != nil {
		return nil, err
	}
	data := hostPlatform(home, p.getenv).data
	stops := active.NewStopList(active.StopConfig{Path: stopFile(data)})
	tools := slices.DeleteFunc(stops.Tools(), func(t *aai.Tool) bool { return t.Name == active.StartToolName })
	b := minimalApp{&aai.App{ID: aai.BuiltinApp, Tools: append(tools, active.NewActiveTool(stopFolders(data)[1], stops, leaseStore(data, nil, slog.New(slog.DiscardHandler))))}}
	return &gateway.Gateway{Catalog: b, Gates: []aai.Gate{b}, Journal: b}, nil
}

// minimalApp is the only app, its gate and its journal: it admits every call and records nothing.
type minimalApp struct{ app *aai.App }

func (b minimalApp) Apps() []*aai.App                               { return []*aai.App{b.app} }
func (b minimalApp) Find(context.Context, string) (*aai.App, error) { return b.app, nil }
func (minimalApp) OnChange(func()) (stop func())                    { return func() {} }
func (minimalApp) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}
func (minimalApp) Record(context.Context, *aai.Entry) error { return nil }

// newStopControl creates the stop control. The gateway and its own app are created later. endRecording ends the recording of
// the person, which goes on without a call, when everything is stopped.
func newStopControl(data string, current func() *gateway.Gateway, self func() *aai.App, endRecording func(), log *slog.Logger) stopControl {
	folders := stopFolders(data)
	var stopped *active.StopList
	stopped = active.NewStopList(active.StopConfig{
		Path: stopFile(data),
		Exempt: func(w gateway.CallScope) bool {
			if w.App != aai.BuiltinApp || w.Caller.Door != aai.DoorCLI && w.Caller.Door != aai.DoorWeb {
				return false
			}
			tool := self().Tool(w.Tool)
			return tool != nil && !tool.Assessment(nil).OnlyMakesCalls // the user needs them to see the state, and to start again
		},
		OnChange: func() {
			current().CancelStopped()
			if stopped.CheckStopped(gateway.CallScope{App: aai.DesktopApp, Tool: gui.RecordTool}) != nil {
				endRecording()
			}
		},
		Log: log,
	})
	folder := folders[1]
	leases := leaseStore(data, current, log)
	return stopControl{
		leases:    leases,
		stopper:   stopped,
		publisher: active.NewPublisher(folder, func() []gateway.ActiveCall { return current().Active() }, log),
		tools:     append(stopped.Tools(), active.NewActiveTool(folder, stopped, leases)),
	}
}

// stopByKey returns the function that stops all calls when the person presses the stop key. It stops
// through the gateway, so that the journal records it.
func stopByKey(current func() *gateway.Gateway, log *slog.Logger) func() {
	return func() {
		call := &aai.Call{App: aai.BuiltinApp, Tool: active.StopToolName, Caller: aai.Caller{Name: "stop key", Door: aai.DoorCLI}}
		if _, err := current().Do(context.Background(), call); err != nil {
			log.Error("the person's stop key did not stop the agents", "error", err)
		}
	}
}

// Close implements io.Closer.
func (h stopControl) Close() error {
	return errors.Join(h.stopper.Close(), h.publisher.Close(), h.leases.Close())
}
