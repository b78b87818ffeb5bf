package web

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// loginsPage shows the person's logins to web apps.
func loginsPage() page {
	return page{name: "logins", path: "/logins", nav: true, live: []string{EventConsent, EventApps}, show: showLogins, acts: map[string]act{"login": logIn, "logout": logOut}}
}

// missingFieldError is the error of a form without a required value.
func missingFieldError(names string) error {
	return aai.Errorf(aai.InvalidParams, "the form has no valid value for: %s", names)
}

// loginsPageData is the answer of the tool "auth_status", for all web apps or one. It
// contains the names of keys and tokens, and no values.
type loginsPageData struct {
	answer.LoginReport

	Asked string // the app for the login
	Fault *aai.Error
}

func showLogins(v *pageRequest) (any, error) {
	shown := loginsPageData{Asked: v.query.Get("app")}
	if shown.Asked == "" {
		return shown, v.read("auth_status", nil, &shown)
	}
	if err := v.read("auth_status", map[string]any{"app": shown.Asked}, &shown); err != nil {
		shown.Fault = aai.AsError(err) // the other logins are shown all the same
		return shown, v.read("auth_status", nil, &shown)
	}
	return shown, nil
}

// logIn begins a login: a window asks, and the app's own page if it has one. Secrets in the
// form go into the keychain and are not shown again.
func logIn(v *pageRequest) (any, error) {
	args := v.formArgs("app")
	secret := make(map[string]any)
	for i, name := range v.form["name"] {
		if values := v.form["secret"]; i < len(values) && values[i] != "" {
			secret[name] = values[i]
		}
	}
	if len(secret) > 0 {
		args["secret"] = secret
	}
	if trust := v.form["trust"]; len(trust) > 0 {
		hosts := make([]any, len(trust))
		for i, host := range trust {
			hosts[i] = host
		}
		args["trust"] = hosts
	}
	if _, err := v.call("auth_login", args); err != nil {
		return nil, err
	}
	v.setNotice(v.text("logins", "in"))
	return nil, nil
}

// logOut deletes a login, at once.
func logOut(v *pageRequest) (any, error) {
	args := v.formArgs("app")
	if len(args) == 0 {
		return nil, missingFieldError("app")
	}
	if _, err := v.call("auth_logout", args); err != nil {
		return nil, err
	}
	v.setNotice(v.text("logins", "out"))
	return nil, nil
}
