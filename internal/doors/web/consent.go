package web

import (
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// consentPage shows the consents, and revokes them.
func consentPage() page {
	return page{name: "consent", path: "/consent", nav: true, live: []string{EventConsent}, searchForm: "#find", show: showConsent, acts: map[string]act{
		"revoke": revokeConsent, "sessions": endSessions, "grant": grantConsent, "takeover": takeoverConsent, "mode": setMode,
	}}
}

// A consent is one decision, from the tool "consent_list".
type consent struct {
	answer.Consent

	Icon  string
	About string // for screen readers
}

// consentPageData is the template data of consentPage.
type consentPageData struct {
	Query            string
	Rows             []consent
	All, More        int
	Mode, Configured string
	Modes            []string
	Warning          string
	Sessions         []sessionUse // consents for sessions, as far as they were used
}

func showConsent(v *pageRequest) (any, error) {
	shown := consentPageData{Query: v.search(), Modes: []string{"normal", "safe", "sandboxed"}}
	result, err := v.call("consent_list", nil)
	if err != nil {
		return nil, err
	}
	shown.Warning = result.Warning
	var all []consent
	if err := decodeData(result, &all); err != nil {
		return nil, err
	}
	shown.All = len(all)
	for _, row := range all {
		if !containsAll(strings.ToLower(strings.Join([]string{row.Caller, row.Identity, row.App, row.Tool, row.Decision, row.Source}, "\n")), shown.Query) {
			continue
		}
		if len(shown.Rows) == toolsLimit {
			shown.More++
			continue
		}
		row.About = aai.CleanLabel(row.App+", "+row.Tool+", "+row.Caller, 300)
		shown.Rows = append(shown.Rows, row)
	}
	ids := make([]string, len(shown.Rows))
	for i, row := range shown.Rows {
		ids[i] = row.App
	}
	icons := v.icons(ids)
	for i := range shown.Rows {
		shown.Rows[i].Icon = icons[shown.Rows[i].App]
	}
	var mode answer.Mode
	if err := v.read("mode", nil, &mode); err != nil {
		return nil, err
	}
	shown.Mode, shown.Configured = mode.Mode, mode.Configured
	shown.Sessions = v.sessionUses()
	return shown, nil
}

// formArgs returns the fields of a form that are not empty, as arguments of a tool.
func (v *pageRequest) formArgs(names ...string) map[string]any {
	args := make(map[string]any, len(names))
	for _, name := range names {
		if value := strings.TrimSpace(v.form.Get(name)); value != "" {
			args[name] = value
		}
	}
	return args
}

// revokeConsent revokes one decision.
func revokeConsent(v *pageRequest) (any, error) {
	args := v.formArgs("app", "tool", "caller", "identity")
	if args["app"] == nil || args["tool"] == nil || args["caller"] == nil {
		// With fewer fields the tool would revoke more than the person saw.
		return nil, missingFieldError("app, tool, caller")
	}
	var answer struct{ Revoked int }
	if err := v.read("consent_revoke", args, &answer); err != nil {
		return nil, err
	}
	v.setNotice(v.text("consent", "revoked", answer.Revoked))
	v.next = v.consentAt()
	return nil, nil
}

// consentAt returns the address of the consent page with its current filter.
func (v *pageRequest) consentAt() string {
	if query := v.query.Encode(); query != "" {
		return "/consent?" + query
	}
	return "/consent"
}

// A grantForm is a refused form for a consent, with the reason.
type grantForm struct {
	App, Tool, Identity, Caller, Expires string
	Fault                                *aai.Error
}

// maxShownInput limits the input that is shown again, in bytes.
const maxShownInput = 4000

// grantConsent requests a consent; the gateway asks for it in a window. If it is refused,
// the page shows the form again as it was filled in.
func grantConsent(v *pageRequest) (any, error) {
	if err := v.requestGrant(); err != nil {
		f := func(name string) string { return aai.CleanLabel(v.form.Get(name), maxShownInput) } // so that all of it is visible
		return &grantForm{f("app"), f("tool"), f("identity"), f("caller"), f("expires"), aai.AsError(err)}, nil
	}
	v.setNotice(v.text("consent", "granted"))
	return nil, nil
}

func (v *pageRequest) requestGrant() error {
	args := v.formArgs("app", "tool", "caller", "identity")
	if day := v.form.Get("expires"); day != "" {
		until, err := time.ParseInLocation("2006-01-02", day, time.Local)
		if err != nil {
			return missingFieldError("expires")
		}
		args["expires"] = until.AddDate(0, 0, 1).Format(time.RFC3339) // the whole day
	}
	_, err := v.call("consent_grant", args)
	return err
}

// takeoverConsent requests that a consent of a plain file becomes valid; the gateway asks
// for it in a window.
func takeoverConsent(v *pageRequest) (any, error) {
	if v.form.Get("file") == "" {
		return nil, missingFieldError("file")
	}
	if _, err := v.call("consent_takeover", map[string]any{"file": []any{v.form.Get("file")}}); err != nil {
		return nil, err
	}
	v.setNotice(v.text("consent", "granted"))
	return nil, nil
}

// setMode sets the security mode; the gateway asks in a window before it sets a less strict one.
func setMode(v *pageRequest) (any, error) {
	result, err := v.call("mode_set", v.formArgs("mode"))
	if err != nil {
		return nil, err
	}
	text := v.text("consent", "mode.set")
	if result.Warning != "" {
		text += " " + result.Warning
	}
	v.setNotice(text)
	return nil, nil
}
