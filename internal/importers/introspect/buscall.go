package introspect

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// callTimeout limits one call to a program.
const callTimeout = 5 * time.Second

// startTimeout limits one call over COM, which may start the app.
const startTimeout = 20 * time.Second

const (
	introspectable = wire.BusName + ".Introspectable"
	properties     = wire.BusName + ".Properties"
)

// An address is an object of a service.
type address struct{ bus, service, path string }

// busCaller calls D-Bus methods through the driver.
type busCaller struct {
	driver     aai.Driver
	allowStart bool // start programs that do not run
}

// call calls a method with constant arguments, and returns its result.
func (a busCaller) call(ctx context.Context, at address, iface, member string, args ...any) (any, error) {
	fixed := make([]json.RawMessage, len(args))
	for i, arg := range args {
		raw, err := json.Marshal(arg)
		if err != nil {
			return nil, err
		}
		fixed[i] = raw
	}
	return a.run(ctx, &aai.DBusRecipe{Bus: at.bus, Service: at.service, Object: at.path, Interface: iface,
		Method: member, Args: fixed})
}

// run runs a recipe without arguments.
func (a busCaller) run(ctx context.Context, r *aai.DBusRecipe) (any, error) {
	return a.runRecipe(ctx, &aai.Recipe{Platform: "linux", DBus: r}, nil)
}

// runRecipe runs a recipe within callTimeout. It starts no program unless allowStart is set.
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
	limit := callTimeout
	if r.COM != nil {
		limit = startTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := run(ctx, &aai.Call{Args: args})
	if err != nil {
		return nil, err
	}
	return result.Data, nil
}

// callBus calls a method of the bus itself.
func (a busCaller) callBus(ctx context.Context, bus, member string, args ...any) (any, error) {
	return a.call(ctx, address{bus, wire.BusName, wire.BusPath}, wire.BusInterface, member, args...)
}

// names returns the strings in a D-Bus list, or nil for another value.
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
