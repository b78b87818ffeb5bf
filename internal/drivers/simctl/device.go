package simctl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A device is a booted simulator.
type device struct {
	UDID, Name, State string
	runtime           string
}

func (d device) String() string {
	return aai.CleanLabel(fmt.Sprintf("%s (%s, %s)", d.Name, d.runtime, d.UDID), 120)
}

// booted lists the simulators that run. The error is an *aai.Error.
func (d *Driver) booted(ctx context.Context) ([]device, error) {
	out, err := d.simctl(ctx, nil, "list", "devices", "booted", "-j")
	if err != nil {
		return nil, undelivered(err)
	}
	var listed struct{ Devices map[string][]device }
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, undelivered(aai.Errorf(aai.AutomationFailed, "the list of simulators cannot be read: %w", err))
	}
	var devices []device
	for runtime, group := range listed.Devices {
		for _, one := range group {
			one.runtime = strings.ReplaceAll(runtime[strings.LastIndexByte(runtime, '.')+1:], "-", ".")
			if one.State == "Booted" && validUDID(one.UDID) {
				devices = append(devices, one)
			}
		}
	}
	slices.SortFunc(devices, func(a, b device) int { return strings.Compare(a.Name+a.UDID, b.Name+b.UDID) })
	return devices, nil
}

// validUDID reports whether an id cannot be taken for an option or another word of simctl.
func validUDID(id string) bool {
	return len(id) >= 8 && len(id) <= 64 && strings.Trim(id, "0123456789ABCDEFabcdef-") == "" && id[0] != '-'
}

// target returns the simulator of a call: the only one, or the one with the name or id in the parameter "device".
func (d *Driver) target(ctx context.Context, args map[string]any) (device, error) {
	devices, err := d.booted(ctx)
	if err != nil {
		return device{}, err
	}
	wanted, _ := args[DeviceParam].(string)
	var fit []device
	var names []string
	for _, one := range devices {
		names = append(names, one.String())
		if wanted == "" || strings.EqualFold(one.UDID, wanted) || strings.EqualFold(one.Name, wanted) {
			fit = append(fit, one)
		}
	}
	listed := strings.Join(names, "; ")
	var problem *aai.Error
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(devices) == 0:
		problem = aai.Errorf(aai.AppNotRunning, "no simulator of iOS is booted")
		problem.Hint = "The person starts one in Xcode or by \"xcrun simctl boot NAME\"."
	case len(fit) == 0:
		problem = aai.Errorf(aai.AppNotRunning, "device: no booted simulator is %q; expected one of %s", aai.CleanLabel(wanted, 60), listed)
	default:
		problem = aai.Errorf(aai.AmbiguousTarget, "several simulators are booted: %s", listed)
		problem.Hint = "Name one by its id in the parameter \"device\", if the tool has it, or let one alone run."
	}
	return device{}, undelivered(problem)
}
