package session

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Login is a session of the person in login1.
type Login struct {
	ID, Type, Seat, State, Class string
	Remote, Active               bool

	display, desktop, scope, path string
	locked                        bool
}

// graphical reports whether the session shows windows.
func (l *Login) graphical() bool {
	return l.Type == "x11" || l.Type == "wayland" || l.Type == "mir"
}

// String returns a one-line description of the session for people.
func (l *Login) String() string {
	words := []string{"session " + label(l.ID), orNone(l.Type, "of no known type")}
	words = append(words, orNone(l.Seat, "no seat"))
	if l.Remote {
		words = append(words, "from afar")
	}
	if l.Active {
		words = append(words, "active")
	}
	if l.display != "" {
		words = append(words, "display "+label(l.display))
	}
	return strings.Join(words, ", ")
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return label(text)
}

// UnreachedLogin returns a graphical session of the person in login1, if no screen was
// found. It returns nil if a screen was found, or login1 reports no such session.
func (r *Detector) UnreachedLogin() *Login {
	if r.Getenv(displayName) != "" || r.Getenv(waylandName) != "" {
		return nil
	}
	var report Report
	r.reportLogins(&report)
	if l := report.Session; l != nil && l.graphical() && l.State != closing {
		return l
	}
	for i := range report.Others {
		if report.Others[i].State != closing {
			return &report.Others[i]
		}
	}
	return nil
}

// UnchosenCompositors returns the names of several compositors of the person, of which none was taken as the screen.
func (r *Detector) UnchosenCompositors() []string {
	return r.screen.get(r.cfg.RetryAfter, r.lookForScreen).unchosen
}

// loginFolder is the folder of login1's sessions, on each computer that runs login1.
const loginFolder = "/run/systemd/sessions"

// Login1Problem returns the reason why login1 did not report the sessions although it
// runs. It returns "" if login1 reported them or does not run.
func (r *Detector) Login1Problem() string {
	var report Report
	r.reportLogins(&report)
	if _, err := os.Stat(loginFolder); err != nil {
		return ""
	}
	return report.Login1Problem
}

// closing is the state of a session that the person has left.
const closing = "closing"

// A Report holds the results of all lookups of a Detector.
type Report struct {
	Values         []Value
	Refusals       []RejectedValue
	Session        *Login  // the person's, by login1; nil if unknown
	Others         []Login // more sessions of the same person
	Remote         bool    // this process is in a remote session
	SkippedDisplay string  // value of DISPLAY, if another screen was chosen instead
	Login1Problem  string  // why login1 reported no sessions
}

// Report looks up all parts and returns the results.
func (r *Detector) Report() Report {
	var report Report
	for _, name := range []string{busName, displayName, folderName, localeName} {
		p, look := r.partOf(name)
		f := p.get(r.cfg.RetryAfter, look)
		report.Values = append(report.Values, f.values...)
		report.Refusals = append(report.Refusals, f.refusals...)
	}
	said, taken := r.cfg.Getenv(displayName), report.value(displayName)
	if r.cfg.Choice == "" && said != "" && taken != nil && taken.Value != said {
		report.SkippedDisplay = said
	}
	r.reportLogins(&report)
	return report
}

func (r Report) value(name string) *Value {
	if i := slices.IndexFunc(r.Values, func(v Value) bool { return v.Name == name }); i >= 0 {
		return &r.Values[i]
	}
	return nil
}

// Lines returns the report as text: the values found and their sources, and advice about
// missing ones.
func (r Report) Lines() []string {
	var lines []string
	for _, part := range []struct{ what, name, missing string }{
		{"bus", busName, "none; log in to a desktop as this user, or start the gateway with " + busName},
		{"display", displayName, "none; log in to a desktop as this user, or start the gateway with WAYLAND_DISPLAY, or with DISPLAY and XAUTHORITY"},
		{"cookie", cookieName, ""},
		{"compositor", waylandName, ""},
		{"folder", folderName, ""},
		{"type", typeName, ""},
		{"desktop", desktopName, ""},
		{"language", localeName, ""},
	} {
		if v := r.value(part.name); v != nil && v.Value != "" {
			lines = append(lines, fmt.Sprintf("%s: %s, from %s", part.what, label(v.Value), label(v.From)))
		} else if part.missing != "" && (part.name != displayName || r.value(waylandName) == nil) {
			lines = append(lines, part.what+": "+part.missing)
		}
	}
	switch {
	case r.Session != nil:
		lines = append(lines, "session: "+r.Session.String())
	case r.Login1Problem != "":
		lines = append(lines, "session: login1 does not say ("+label(r.Login1Problem)+")")
	}
	for i := range r.Others {
		lines = append(lines, "also there: "+r.Others[i].String())
	}
	for _, refused := range r.Refusals {
		lines = append(lines, fmt.Sprintf("not taken: %s, from %s: %s", refused.What, label(refused.From), refused.Why))
	}
	return append(lines, r.hints()...)
}

// hints returns advice about the results.
func (r Report) hints() []string {
	var hints []string
	if r.value(displayName) == nil && r.value(waylandName) == nil {
		hints = append(hints, "Without a display nobody can be asked in a window, and windows cannot be pictured or "+
			"typed into.")
	}
	if v := r.value(displayName); v != nil && r.SkippedDisplay != "" {
		hints = append(hints,
			fmt.Sprintf("DISPLAY says %s, which was not taken; what is operated instead is the screen %s, from %s. "+
				`If that is not meant, start the gateway with a DISPLAY that answers, or set desktop.session to it, so that no other is taken.`,
				label(r.SkippedDisplay), label(v.Value), label(v.From)))
	}
	chosen := slices.ContainsFunc(r.Refusals, func(no RejectedValue) bool { return no.From == "desktop.session" })
	if len(r.Others) > 0 || r.Remote || chosen {
		hints = append(hints, `To operate another screen, set desktop.session to the id of a session, to a display such as ":0", or to "seat".`)
	}
	return hints
}

// Data returns the report as values for JSON.
func (r Report) Data() map[string]any {
	values := map[string]any{}
	for _, v := range r.Values {
		if v.Value != "" {
			values[v.Name] = map[string]any{"value": label(v.Value), "from": label(v.From)}
		}
	}
	refused := []any{}
	for _, no := range r.Refusals {
		refused = append(refused, map[string]any{"what": no.What, "from": label(no.From), "why": no.Why})
	}
	others := []any{}
	for i := range r.Others {
		others = append(others, r.Others[i].data())
	}
	data := map[string]any{"found": values, "refused": refused, "others": others, "remote": r.Remote}
	if r.SkippedDisplay != "" {
		data["passed"] = label(r.SkippedDisplay)
	}
	if r.Session != nil {
		data["session"] = r.Session.data()
	}
	return data
}

func (l *Login) data() map[string]any {
	return map[string]any{
		"id": label(l.ID), "type": label(l.Type), "seat": label(l.Seat), "state": label(l.State),
		"remote": l.Remote, "active": l.Active,
	}
}
