package doctor

import (
	"context"
	"slices"

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
	return slices.Concat(d.systemExaminations(), []examination{
		{"settings", "configuration", "read " + d.shortPath(d.cfg.Settings), d.settings},
		{"home", "home folder", "wrote a file in each of the gateway's folders, and deleted it", d.home},
		{"clock", "clock", "compared the clock with the times of files and of the program", d.clock},
	}, d.desktopExaminations(), []examination{
		{"web", "web app, with a login", "started a test web app on 127.0.0.1, logged in by OAuth (PKCE), called it with the token", d.web},
		{"journal", "journal", "opened your journal for writing", d.journal},
		{"keychain", "keychain", "looked up where secrets are stored, and read the consents", d.keychain},
		{"pictures", "pictures", "looked for Tesseract, and for the model in the configuration", d.pictures},
		{"descriptors", "descriptors", "read every aai.json of this computer", d.descriptors},
		{"gateways", "other gateways", "searched for other processes of this program", d.gateways},
		{"stop", "stop", "read the list of stopped callers", d.stopped},
		{"client", "a client's start", "started " + d.shortPath(d.cfg.Executable) + " with HOME and PATH alone, as some clients do", d.client},
	})
}

// systemExaminations returns the report on this system, if the program was not tried as a whole on it.
func (d *Doctor) systemExaminations() []examination {
	if d.cfg.Tried == "" {
		return nil
	}
	return []examination{{"system", "this system", "looked up the record of the tests", func(_ context.Context, f *Finding) {
		f.setNote(d.cfg.Tried, "The page docs/platforms.md names each part.")
	}}}
}

// session returns the result of the gateway's own check. Without one it reports why.
func (d *Doctor) session(f *Finding) (found gatewayCheck, ok bool) {
	found, err := d.facts.gatewayCheck()
	if err != nil {
		d.setRecordError(f, "the gateway's own check failed", err)
	}
	return found, err == nil
}

// ask returns the data of a tool of the gateway's app. Without data it reports the fault and why.
func ask[T any](ctx context.Context, d *Doctor, f *Finding, tool, fault string) (data T, ok bool) {
	result, err := call(ctx, d.cfg.Gateway, aai.BuiltinApp, tool, nil)
	if err == nil {
		data, err = dataOf[T](result)
	}
	if err != nil {
		d.setRecordError(f, fault, err)
	}
	return data, err == nil
}
