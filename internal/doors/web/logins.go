package web

import (
	"time"

	"github.com/gybob/aai-gateway"
)

// loginsPage says which web apps the person is known to.
func loginsPage() page {
	return page{name: "logins", path: "/logins", nav: true, live: []string{EventConsent, EventApps}, show: showLogins, acts: map[string]act{"login": logIn, "logout": logOut}}
}

// missingFieldError is the error of a form that does not say enough.
func missingFieldError(names string) error {
	return aai.Errorf(aai.InvalidParams, "the form gives no right value for: %s", names)
}

// loginsPageData is what the tool "auth_status" tells, of all web apps or of one. Of keys and
// tokens it has names and no values.
type loginsPageData struct {
	Logins []struct {
		Host    string    `json:"host"`
		App     string    `json:"app"`
		Kind    string    `json:"kind"`
		State   string    `json:"state"`
		Expires time.Time `json:"expires"`
		Renews  bool      `json:"renews"`
		Scopes  []string  `json:"scopes"`
	} `json:"logins"`
	Host string `json:"host"`
	App  string `json:"app"`
	Kind string `json:"kind"`
	Asks []struct {
		Name  string `json:"name"`
		Label string `json:"label"`
	} `json:"asks"`
	Untrusted    []string `json:"untrusted"`
	ObtainURL    string   `json:"obtain_url"`
	Instructions string   `json:"instructions"`

	Asked string // what the person wants to log in to
	Fault *aai.Error
}

func showLogins(v *pageRequest) (any, error) {
	shown := loginsPageData{Asked: v.query.Get("app")}
	if shown.Asked == "" {
		return shown, v.read("auth_status", nil, &shown)
	}
	if err := v.read("auth_status", map[string]any{"app": shown.Asked}, &shown); err != nil {
		shown.Fault = aai.AsError(err) // the others are shown all the same
		return shown, v.read("auth_status", nil, &shown)
	}
	return shown, nil
}

// logIn begins a login: a window asks, and the app's own page where it has one. What a form
// gives with it goes into the keychain and is not shown again.
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

// logOut forgets a login, at once.
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
