package osascript

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A responsible program is the one that macOS asks about and grants to: the app that started the gateway, such as a terminal or an
// agent's client, and not osascript.
type responsible struct{ name, bundle string }

// responsibleFor returns the program for a call, as far as the environment and the caller's verified program tell it.
func (d *Driver) responsibleFor(call *aai.Call) responsible {
	r := responsible{bundle: d.getenv("__CFBundleIdentifier")}
	identity := ""
	if call != nil {
		identity = call.Caller.Identity
	}
	if before, _, found := strings.Cut(identity, ".app/"); found {
		r.name = path.Base(before)
	}
	terminal := d.getenv("TERM_PROGRAM")
	r.name = aai.CleanLabel(cmp.Or(r.name, map[string]string{"Apple_Terminal": "Terminal", "iTerm.app": "iTerm", "vscode": "Visual Studio Code"}[terminal], r.bundle), 80)
	if strings.Trim(r.bundle, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != "" {
		r.bundle = ""
	}
	return r
}

// String describes the program for the person.
func (r responsible) String() string {
	if r.name == "" {
		return "the program that started the gateway (a terminal or the agent's client)"
	}
	return r.name
}

// reset returns the command that makes macOS forget its decision about the program.
func (r responsible) reset(service string) string {
	if r.bundle == "" {
		return fmt.Sprintf("tccutil reset %s BUNDLE-ID (of %s)", service, r)
	}
	return "tccutil reset " + service + " " + r.bundle
}

// settingsPath returns the place of a switch in System Settings.
func (d *Driver) settingsPath(pane string, call *aai.Call) string {
	return fmt.Sprintf("System Settings > Privacy & Security > %s > %s.", pane, d.responsibleFor(call))
}

// explainDenial adds the program, the switch and the known reason to an error of macOS's permissions.
func (d *Driver) explainDenial(err *aai.Error, f *failure, call *aai.Call, app string) {
	r := d.responsibleFor(call)
	pane, service, right := "Automation", "AppleEvents", "control the app"
	if f.needsAccessibility() {
		pane, service, right = "Accessibility", "Accessibility", "operate windows"
	}
	_, worked := d.allowed.Load(app)
	reason := "The person switches it on there."
	switch {
	case f.number == wouldAsk:
		reason = "macOS has not asked the person yet, and could not ask now, as with a locked screen. The person repeats the call at the Mac and answers."
	case worked && pane == "Automation":
		reason = "A script of this app was allowed earlier in this run, so the person has withdrawn it, or an update has replaced " + r.String() + "."
	}
	err.Message += fmt.Sprintf("; macOS does not let %s %s", r, right)
	err.Hint = fmt.Sprintf("%s %s If it is on there and still denied, the program has changed since, as an update with an ad-hoc signature does: "+
		"%s, then repeat the call, and macOS asks again.", d.settingsPath(pane, call), reason, r.reset(service))
}
