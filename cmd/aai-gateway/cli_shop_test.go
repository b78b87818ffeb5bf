package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gybob/aai-gateway/bench/shop"
)

// scriptSmallShop starts the small shop.
func scriptSmallShop(ts *testscript.TestScript, _ bool, _ []string) {
	server := httptest.NewServer(shop.NewShop())
	ts.Defer(server.Close)
	ts.Setenv("API", server.URL)
}

// openPage is the scripts' program open-page: a browser with an agreeing user, redirected at once.
func openPage() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// opensPages makes open-page the browser of this script only: the demo has a real one.
func opensPages(ts *testscript.TestScript) {
	folder := ts.MkAbs("bin")
	ts.Check(os.MkdirAll(folder, 0o700))
	ts.Check(os.WriteFile(filepath.Join(folder, "xdg-open"), []byte("#!/bin/sh\nexec open-page \"$@\"\n"), 0o700))
	ts.Setenv("PATH", folder+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// scriptShop starts a site with its own authorization server, and writes its descriptor. The
// script's browser agrees to everything.
func scriptShop(ts *testscript.TestScript, _ bool, args []string) {
	opensPages(ts)
	mux := http.NewServeMux()
	shop := httptest.NewServer(mux)
	ts.Defer(shop.Close)
	ts.Setenv("SHOP", shop.URL)
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": shop.URL, "authorization_endpoint": shop.URL + "/authorize", "token_endpoint": shop.URL + "/token",
			"revocation_endpoint": shop.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		back := r.URL.Query()
		http.Redirect(w, r, back.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {back.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"access_token": "canary-token", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "canary-refresh"})
	})
	mux.HandleFunc("POST /revoke", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/orders", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer canary-token" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		answer(w, map[string]any{"orders": []string{"one"}})
	})
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	descriptor, err := json.Marshal(map[string]any{
		"schema_version": "1.0", "version": "1.0.0", "platform": "web",
		"app":       map[string]any{"id": "org.example.shop", "name": "Shop", "description": "A shop."},
		"execution": map[string]any{"type": "http", "base_url": shop.URL + "/v1"},
		"auth": map[string]any{"type": "oauth2", "oauth2": map[string]any{
			"authorization_endpoint": shop.URL + "/authorize", "token_endpoint": shop.URL + "/token", "scopes": []string{"orders"}, "pkce": map[string]any{"method": "S256"},
		}},
		"tools": []any{map[string]any{"name": "orders", "description": "Lists orders.", "path": "/orders", "method": "GET"}},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(file, descriptor, 0o600))
}
