package doctor

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// gatewayCheck is the result of the gateway's own check.
type gatewayCheck struct {
	Enabled    bool
	Detail     string
	Suggestion string
	Session    struct {
		Found   map[string]struct{ Value, From string }
		Refused []struct{ What, From, Why string }
		Passed  string
		// Compositor has the way to each part of a screen of Wayland; "" where the compositor offers none.
		Compositor *struct{ Windows, Pictures, Input, Clipboard, Error string }
	}
}

func (c gatewayCheck) value(name string) string { return c.Session.Found[name].Value }

func (c gatewayCheck) sourceOf(name string) string { return c.Session.Found[name].From }

// check runs the gateway's own check.
func (d *Doctor) check(ctx context.Context) (gatewayCheck, error) {
	result, err := call(ctx, d.cfg.Gateway, aai.BuiltinApp, "check", nil)
	if err != nil {
		return gatewayCheck{}, err
	}
	return dataOf[gatewayCheck](result)
}

// refusals returns the session variables that the gateway rejected, one per line.
func (c gatewayCheck) refusals() []string {
	var lines []string
	for _, r := range c.Session.Refused {
		lines = append(lines, "not taken: "+r.What+", from "+r.From+": "+r.Why)
	}
	return lines
}

// examinations returns all examinations, in the order of the report.
func (d *Doctor) examinations() []examination {
	all := []examination{
		{"settings", "configuration", d.settings},
		{"home", "home folder", d.home},
		{"clock", "clock", d.clock},
	}
	all = append(all, d.desktopExaminations()...)
	return append(all,
		examination{"web", "web app, with a login", d.web},
		examination{"journal", "journal", d.journal},
		examination{"keychain", "keychain", d.keychain},
		examination{"pictures", "pictures", d.pictures},
		examination{"descriptors", "descriptors", d.descriptors},
		examination{"gateways", "other gateways", d.gateways},
		examination{"stop", "stop", d.stopped},
		examination{"client", "a client's start", d.client},
	)
}
