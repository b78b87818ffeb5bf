package cli_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// authStatus knows an app with a login page, one that needs a key and a cookie, and one
// that sends logins to another site.
func authStatus(_ context.Context, call *aai.Call) (*aai.Result, error) {
	app, _ := call.Args["app"].(string)
	logins := []object{
		{"host": "a.example", "app": "a.example/x", "kind": "oauth2", "state": "logged in", "expires": "2027-01-02T03:04:05Z", "renews": true, "scopes": []string{"read", "write"}},
		{"host": "b.example", "kind": "apiKey", "state": "key kept"},
	}
	switch app {
	case "":
		return &aai.Result{Data: object{"logins": logins}}, nil
	case "page.example":
		return &aai.Result{Data: object{"host": app, "kind": "oauth2", "logins": []object{}}}, nil
	case "keyed.example":
		return &aai.Result{Data: object{
			"host": app, "kind": "cookie", "asks": []object{{"name": "key", "label": "API key"}, {"name": "sid", "label": "cookie sid"}},
			"obtain_url": "https://keyed.example/keys", "instructions": "Click\x1b[31m Keys", "logins": []object{},
		}}, nil
	case "mixed.example":
		return &aai.Result{Data: object{"host": app, "kind": "oauth2", "untrusted": []string{"one.other", "two.other"}, "logins": []object{}}}, nil
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", app)
}

// authLogin returns its arguments, and reports progress meanwhile. It fails if a host is
// not trusted.
func authLogin(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	trust, _ := call.Args["trust"].([]any)
	if call.Args["app"] == "mixed.example" && len(trust) < 2 {
		return nil, aai.Errorf(aai.AuthInvalid, "logins go to another site")
	}
	for i := range 3 {
		gateway.Progress(ctx, float64(i), 0, "Waiting for you at https://page.example/\x1b[2J")
	}
	given := object{}
	for _, name := range slices.Sorted(maps.Keys(call.Args)) {
		given[name] = fmt.Sprint(call.Args[name])
	}
	return &aai.Result{Data: object{"host": call.Args["app"], "given": given}}, nil
}

func authLogout(_ context.Context, call *aai.Call) (*aai.Result, error) {
	if call.Args["app"] == "nothing.example" {
		return &aai.Result{Data: object{"host": "nothing.example", "forgotten": 0, "revoked": 0}}, nil
	}
	return &aai.Result{Data: object{"host": call.Args["app"], "forgotten": 1, "revoked": 2, "warnings": []string{"it ends\x1b by itself"}}}, nil
}
