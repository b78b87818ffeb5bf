package sampleapp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/catalog"
)

// TestTheSiteLetsNobodyInWithoutTheirProof checks that a code is valid once, and only for its requester.
func TestTheSiteLetsNobodyInWithoutTheirProof(t *testing.T) {
	s, err := Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const verifier, back = "a-verifier-of-at-least-forty-three-characters-in-all", "http://127.0.0.1:9/callback"
	sum := sha256.Sum256([]byte(verifier))
	ask := url.Values{"response_type": {"code"}, "client_id": {"tester"}, "redirect_uri": {back}, "state": {"s1"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
	code := func(decision string) url.Values {
		t.Helper()
		_, body := get(t, http.MethodGet, s.Address+"/authorize?"+ask.Encode(), nil)
		ticket := regexp.MustCompile(`name="ticket" value="(\w+)"`).FindStringSubmatch(body)
		if ticket == nil || !strings.Contains(body, "<b>tester</b>") {
			t.Fatalf("the page: %s", body)
		}
		to := location(t, s.Address+"/decide", url.Values{"ticket": {ticket[1]}, "decision": {decision}})
		if !strings.HasPrefix(to.String(), back+"?") || to.Query().Get("state") != "s1" || to.Query().Get("iss") != s.Address {
			t.Fatalf("it leads to %s", to)
		}
		return to.Query()
	}
	form := func(code string) url.Values {
		return url.Values{"grant_type": {"authorization_code"}, "client_id": {"tester"}, "code": {code}, "redirect_uri": {back}, "code_verifier": {verifier}}
	}
	redeem := func(form url.Values) (int, string) { return get(t, http.MethodPost, s.Address+"/token", form) }
	if q := code("deny"); q.Get("error") != "access_denied" || q.Get("code") != "" {
		t.Errorf("denied: %v", q)
	}
	for name := range form("") {
		wrong := form(code("allow").Get("code"))
		if wrong.Set(name, wrong.Get(name)+"x"); name == "grant_type" {
			wrong.Set(name, "refresh_token")
		}
		if status, _ := redeem(wrong); status != http.StatusBadRequest {
			t.Errorf("a wrong %s: %d", name, status)
		}
	}
	good := form(code("allow").Get("code"))
	status, body := redeem(good)
	var token struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &token); err != nil || status != http.StatusOK || token.Token == "" {
		t.Fatalf("%d %s %v", status, body, err)
	}
	if status, _ := redeem(good); status != http.StatusBadRequest {
		t.Errorf("a code used twice: %d", status)
	}
	if status, _ := get(t, http.MethodGet, s.Address+"/api/errands", nil); status != http.StatusUnauthorized || s.unauthorized != 1 {
		t.Errorf("without a token: %d, %d refused", status, s.unauthorized)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Address+"/api/errands", strings.NewReader(`{"what":"Buy <bread>"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusCreated || !slices.Contains(s.List(), "Buy <bread>") {
		t.Errorf("%d, the list is %q", response.StatusCode, s.List())
	}
}

// TestTheSitesDescriptor checks that the gateway reads the descriptor without warnings.
func TestTheSitesDescriptor(t *testing.T) {
	s, err := Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, body := get(t, http.MethodGet, s.Address+"/.well-known/aai.json", nil)
	d, err := catalog.Parse([]byte(body), catalog.Options{Origin: s.Address})
	if err != nil || len(d.Warnings) > 0 {
		t.Fatalf("%v, warnings %v", err, d)
	}
	if auth := d.App.Site.Auth; auth == nil || auth.TokenEndpoint != s.Address+"/token" || d.App.Site.BaseURL != s.Address+"/api" {
		t.Errorf("%+v at %s", auth, d.App.Site.BaseURL)
	}
}

// location posts a form and returns the target of the redirect without following it.
func location(t *testing.T, address string, form url.Values) *url.URL {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	stays := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := stays.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	to, err := response.Location()
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func get(t *testing.T, method, address string, form url.Values) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(b)
}
