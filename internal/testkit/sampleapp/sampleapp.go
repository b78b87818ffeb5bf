// Package sampleapp implements a web app with its own login, which the demo shows and the doctor command
// calls. It listens on the loopback interface and keeps all data in memory.
package sampleapp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// files holds the descriptor and the pages.
//
//go:embed files
var files embed.FS

func file(name string) []byte {
	b, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err) // embedded files always exist
	}
	return b
}

// Style serves the style sheet.
func Style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css")
	_, _ = w.Write(file("style.css")) // the client may have closed the connection
}

const (
	connectionTimeout = time.Minute // of its connections
	maxRequest        = 64 << 10    // in bytes
)

// An App is a local web app as any site could run one: a descriptor at the well-known address, an API for
// a list of errands, and an authorization server (OAuth 2.1: codes, PKCE, no client secrets). The server's
// page asks whether the agent may see and change the list. The list shows the effects of an agent's calls.
type App struct {
	Address string // such as "http://127.0.0.1:8080"
	server  *http.Server

	mu           sync.Mutex
	items        []string
	authRequests map[string]url.Values // by the ticket in the page's form
	codes        map[string]url.Values // granted requests, by their code
	tokens       map[string]bool
	unauthorized int // API calls without a token
}

// Serve serves the app on the loopback interface until Close.
func Serve(ctx context.Context) (*App, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the list of errands cannot be served: %w", err)
	}
	s := &App{
		Address: "http://" + listener.Addr().String(), items: []string{"Return the library books"},
		authRequests: map[string]url.Values{}, codes: map[string]url.Values{}, tokens: map[string]bool{},
	}
	pages := http.NewServeMux()
	pages.HandleFunc("GET /.well-known/aai.json", s.descriptor)
	pages.HandleFunc("GET /.well-known/oauth-authorization-server", s.metadata)
	pages.HandleFunc("GET /style.css", Style)
	pages.HandleFunc("GET /authorize", s.authorize)
	pages.HandleFunc("POST /decide", s.decide)
	pages.HandleFunc("POST /token", s.token)
	pages.HandleFunc("GET /api/errands", s.withToken(s.list))
	pages.HandleFunc("POST /api/errands", s.withToken(s.add))
	s.server = &http.Server{Handler: pages, ReadTimeout: connectionTimeout, WriteTimeout: connectionTimeout, MaxHeaderBytes: maxRequest}
	go func() { _ = s.server.Serve(listener) }() // until Close
	return s, nil
}

// Close stops the server.
func (s *App) Close() { _ = s.server.Close() }

// List returns the items of the list.
func (s *App) List() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.items...)
}

func (s *App) descriptor(w http.ResponseWriter, _ *http.Request) {
	b := bytes.ReplaceAll(file("errands.json"), []byte("http://127.0.0.1:1"), []byte(s.Address))
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the client may have closed the connection
}

// metadata serves the metadata of RFC 8414.
func (s *App) metadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": s.Address, "authorization_endpoint": s.Address + "/authorize", "token_endpoint": s.Address + "/token",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"}, "authorization_response_iss_parameter_supported": true,
	})
}

// authorize shows the consent page. Showing it grants nothing.
func (s *App) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Scheme != "http" || back.Hostname() != "127.0.0.1" || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("state") == "" {
		http.Error(w, "this is not an authorization request that the site can answer", http.StatusBadRequest)
		return
	}
	ticket := rand.Text()
	s.mu.Lock()
	s.authRequests[ticket] = q
	s.mu.Unlock()
	asking, err := template.New("errands").Parse(string(file("errands.html")))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = asking.Execute(w, map[string]string{"Client": q.Get("client_id"), "Ticket": ticket})
}

// decide redirects the person back to the client, with a code or an error.
func (s *App) decide(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	ticket := r.PostFormValue("ticket")
	s.mu.Lock()
	q := s.authRequests[ticket]
	delete(s.authRequests, ticket)
	s.mu.Unlock()
	if q == nil {
		http.Error(w, "this page was used already", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}, "iss": {s.Address}}
	if r.PostFormValue("decision") == "allow" {
		code := rand.Text()
		s.mu.Lock()
		s.codes[code] = q
		s.mu.Unlock()
		answer.Set("code", code)
	} else {
		answer.Set("error", "access_denied")
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusSeeOther)
}

// token exchanges a code for a token, once, for the client that proves with PKCE that it made the request.
func (s *App) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	code, verifier := r.PostFormValue("code"), r.PostFormValue("code_verifier")
	challenge := sha256.Sum256([]byte(verifier))
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.codes[code]
	delete(s.codes, code)
	if q == nil || r.PostFormValue("grant_type") != "authorization_code" || r.PostFormValue("redirect_uri") != q.Get("redirect_uri") ||
		r.PostFormValue("client_id") != q.Get("client_id") || base64.RawURLEncoding.EncodeToString(challenge[:]) != q.Get("code_challenge") {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	token := rand.Text()
	s.tokens[token] = true
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(time.Hour.Seconds())})
}

func (s *App) withToken(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		known := s.tokens[token]
		if !known {
			s.unauthorized++
		}
		s.mu.Unlock()
		if !known {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "log in first"})
			return
		}
		serve(w, r)
	}
}

func (s *App) list(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"errands": s.List()})
}

func (s *App) add(w http.ResponseWriter, r *http.Request) {
	var errand struct{ What string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&errand); err != nil || errand.What == "" {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "expected {\"what\": …}"})
		return
	}
	s.mu.Lock()
	s.items = append(s.items, errand.What)
	n := len(s.items)
	s.mu.Unlock()
	writeJSON(w, http.StatusCreated, map[string]any{"number": n})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may have closed the connection
}

// PressAllow acts as a person that presses Allow on the consent page, and follows the redirect.
func (s *App) PressAllow(ctx context.Context, visit string) error {
	page, err := s.fetch(ctx, http.MethodGet, visit, nil)
	if err != nil {
		return err
	}
	ticket := regexp.MustCompile(`name="ticket" value="(\w+)"`).FindStringSubmatch(page)
	if ticket == nil {
		return aai.Errorf(aai.AutomationFailed, "the page for logging in asks nothing")
	}
	_, err = s.fetch(ctx, http.MethodPost, s.Address+"/decide", url.Values{"ticket": {ticket[1]}, "decision": {"allow"}})
	return err
}

func (s *App) fetch(ctx context.Context, method, address string, form url.Values) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{Transport: &http.Transport{}} // no proxy for the loopback interface
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(response.Body, maxRequest))
	if err == nil && response.StatusCode != http.StatusOK {
		err = aai.Errorf(aai.AutomationFailed, "%s answered %d", request.URL.Host, response.StatusCode)
	}
	return string(b), err
}
