package introspect

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// callTimeout is how long one question to a program may take.
const callTimeout = 5 * time.Second

const (
	introspectable = wire.BusName + ".Introspectable"
	properties     = wire.BusName + ".Properties"
)

// An address is an object of a service.
type address struct{ bus, service, path string }

// busCaller puts questions to programs through the driver.
type busCaller struct {
	driver     aai.Driver
	allowStart bool // a program that does not run, or no more, may be started
}

// call calls a method with constants, and returns its answer.
func (a busCaller) call(ctx context.Context, at address, iface, member string, args ...any) (any, error) {
	fixed := make([]json.RawMessage, len(args))
	for i, arg := range args {
		raw, err := json.Marshal(arg)
		if err != nil {
			return nil, err
		}
		fixed[i] = raw
	}
	return a.run(ctx, &aai.DBusRecipe{Bus: at.bus, Service: at.service, Object: at.path, Interface: iface, Method: member, Args: fixed})
}

// run runs one recipe that takes nothing.
func (a busCaller) run(ctx context.Context, r *aai.DBusRecipe) (any, error) {
	return a.runRecipe(ctx, &aai.Recipe{Platform: "linux", DBus: r}, nil)
}

// runRecipe runs one recipe.
func (a busCaller) runRecipe(ctx context.Context, r *aai.Recipe, args map[string]any) (any, error) {
	if !a.allowStart && r.DBus != nil {
		one, call := *r, *r.DBus
		call.Running, one.DBus, one.Start = true, &call, ""
		r = &one
	}
	run, err := a.driver.Compile(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	result, err := run(ctx, &aai.Call{Args: args})
	if err != nil {
		return nil, err
	}
	return result.Data, nil
}

// callBus asks the bus itself.
func (a busCaller) callBus(ctx context.Context, bus, member string, args ...any) (any, error) {
	return a.call(ctx, address{bus, wire.BusName, wire.BusPath}, wire.BusInterface, member, args...)
}

// names are the texts of a list.
func names(value any) []string {
	list, _ := value.([]any)
	var found []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			found = append(found, s)
		}
	}
	return found
}
