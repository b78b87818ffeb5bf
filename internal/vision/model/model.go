// Package model asks models that see about pictures. Each service has a file with its published protocol; [Service] sends
// the request with the person's key, and [Find] turns an answer into a place in the picture, or into an error.
//
// The package asks no person for permission: the gates of the call do that before.
package model

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// Names of backends that are no service.
const (
	Auto   = "auto"   // the first service with a key in the environment, otherwise Client
	Client = "client" // the model of the calling agent's client, by sampling
	Off    = "off"
)

// Backends returns the names for the configuration.
func Backends() []string {
	return []string{Auto, "anthropic", "openai", "gemini", "ollama", "mlx", Client, Off}
}

// A Question is one message to a model.
type Question struct {
	System, Text string
	PNG          []byte // nil: no picture
	MaxTokens    int    // of the answer
}

// An Answer is the answer of a model.
type Answer struct {
	Text, Model               string
	IsRefusal, IsCut          bool
	InputTokens, OutputTokens int
	Took                      time.Duration
	IsCached                  bool // it was given to an equal question before
}

// protocol is the form of requests and answers of a service.
type protocol interface {
	// encode returns the path below the base URL, and the body as a JSON value.
	encode(model string, q Question) (path string, body any)
	decode(body []byte) (Answer, error)
}

// service describes a service.
type service struct {
	protocol
	base, model string
	env         []string // variables that may hold the key
	auth        *aai.AuthRecipe
	headers     map[string]string
	fit         Fit
}

// serviceNamed returns the service of a backend, or nil.
func serviceNamed(name string) *service {
	key := func(header, prefix, page string) *aai.AuthRecipe {
		return &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: header, Prefix: prefix, ObtainURL: page}
	}
	bearer := key("Authorization", "Bearer ", "")
	switch name {
	case "anthropic":
		return &service{
			protocol: anthropic{}, base: "https://api.anthropic.com", model: "claude-sonnet-4-5", env: []string{"ANTHROPIC_API_KEY"},
			auth: key("X-Api-Key", "", "https://console.anthropic.com/settings/keys"), headers: map[string]string{"Anthropic-Version": "2023-06-01"},
			fit: Fit{Side: 1568, Pixels: 1_150_000},
		}
	case "openai":
		return &service{
			protocol: openai{limit: "max_completion_tokens"}, base: "https://api.openai.com/v1", model: "gpt-4o", env: []string{"OPENAI_API_KEY"},
			auth: key("Authorization", "Bearer ", "https://platform.openai.com/api-keys"), fit: Fit{Side: 1568},
		}
	case "gemini":
		return &service{
			protocol: gemini{}, base: "https://generativelanguage.googleapis.com/v1beta", model: "gemini-2.5-flash", env: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
			auth: key("X-Goog-Api-Key", "", "https://aistudio.google.com/apikey"), fit: Fit{Side: 1568, InThousandths: true},
		}
	case "ollama":
		return &service{protocol: ollama{}, base: "http://127.0.0.1:11434", model: "qwen2.5vl", auth: bearer, fit: Fit{Side: 1344}}
	case "mlx":
		return &service{protocol: openai{limit: "max_tokens"}, base: "http://127.0.0.1:8080/v1", auth: bearer, fit: Fit{Side: 1344}}
	}
	return nil
}

// Config configures a Service.
type Config struct {
	Backend string // one of Backends
	Model   string // "" chooses the default of the backend
	BaseURL string // "" chooses the address of the backend
	// InputPrice and OutputPrice are in US dollars for a million tokens; 0: unknown.
	InputPrice, OutputPrice float64
	Client                  *http.Client // it must follow no redirects
	Keys                    Keys
	Getenv                  func(string) string
}

// A Service is the configured backend. It is safe for concurrent use.
type Service struct {
	cfg   Config
	name  string // never Auto
	of    *service
	base  *url.URL
	wrong *aai.Error // why the configuration is invalid
	cache cache
}

// New returns the service of the configuration. It sends nothing.
func New(c Config) *Service {
	s := &Service{cfg: c, name: cmp.Or(c.Backend, Auto)}
	if s.name == Auto {
		s.name = s.choose()
	}
	if s.of = serviceNamed(s.name); s.of == nil {
		return s
	}
	standard := s.of.base
	if c.BaseURL != "" {
		s.of.base = strings.TrimSuffix(c.BaseURL, "/")
		if s.of.base != standard {
			s.of.env, s.of.model = nil, "" // the key of the environment is for the service's own address
			if _, is := s.of.protocol.(openai); is {
				s.of.protocol = openai{limit: "max_tokens"}
			}
		}
	}
	s.of.model = cmp.Or(c.Model, s.of.model)
	u, err := url.Parse(s.of.base)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "":
		s.wrong = aai.Errorf(aai.AuthInvalid, "vlm.base_url: expected an address such as http://127.0.0.1:1234/v1")
		u = &url.URL{}
	case u.Scheme != "https" && !s.isLocal(u):
		s.wrong = aai.Errorf(aai.AuthInvalid, "vlm.base_url: expected https, since %s is not on this computer", aai.CleanLabel(u.Host, 100))
	case s.of.model == "":
		s.wrong = aai.Errorf(aai.AuthInvalid, "vlm.model: expected the name of a model at %s", aai.CleanLabel(u.Host, 100))
	}
	s.base = u
	return s
}

// choose returns the backend for Auto.
func (s *Service) choose() string {
	if s.cfg.BaseURL != "" {
		return "openai"
	}
	for _, name := range Backends() {
		if of := serviceNamed(name); of != nil && s.variable(of) != "" {
			return name
		}
	}
	return Client
}

// variable returns the name of the variable that holds the key, or "".
func (s *Service) variable(of *service) string {
	for _, name := range of.env {
		if s.cfg.Getenv != nil && strings.TrimSpace(s.cfg.Getenv(name)) != "" {
			return name
		}
	}
	return ""
}

// isLocal reports whether the address is on this computer and not encrypted.
func (s *Service) isLocal(u *url.URL) bool {
	return u.Scheme == "http" && netguard.IsLoopback(u.Hostname())
}

// Backend returns the name of the backend in use: a service, Client or Off.
func (s *Service) Backend() string { return s.name }

// String describes the backend for people.
func (s *Service) String() string {
	switch {
	case s.name == Client:
		return "that of the agent's client"
	case s.of == nil:
		return "none (vlm.backend is off)"
	case s.wrong != nil:
		return s.name + ", and cannot be asked: " + s.wrong.Message
	}
	return s.name + ", " + s.of.model + ", at " + s.base.Host
}

// Host returns the host, with its port, that pictures are sent to; "" if the backend is no service.
func (s *Service) Host() string {
	if s.of == nil {
		return ""
	}
	return s.base.Host
}

// LocalHost returns Host if it is on this computer and not encrypted, otherwise "".
func (s *Service) LocalHost() string {
	if s.of == nil || !s.isLocal(s.base) {
		return ""
	}
	return s.base.Host
}

// Fit returns the form of pictures for the model.
func (s *Service) Fit() Fit {
	if s.of == nil {
		return Fit{Side: 1568, Pixels: 1_150_000}
	}
	return s.of.fit
}

// Cost returns the price of an answer in US dollars; false if it is unknown.
func (s *Service) Cost(a Answer) (float64, bool) {
	const million = 1e6
	if s.cfg.InputPrice == 0 && s.cfg.OutputPrice == 0 {
		return 0, false
	}
	return (float64(a.InputTokens)*s.cfg.InputPrice + float64(a.OutputTokens)*s.cfg.OutputPrice) / million, true
}

// loginPrefix begins the names of services for logins.
const loginPrefix = "vlm:"

// Login returns the recipe by which the person's key for a backend is kept, such as "vlm:anthropic"; nil if the name is
// of no service, or the service needs no key.
func (s *Service) Login(name string) *aai.Recipe {
	backend, is := strings.CutPrefix(name, loginPrefix)
	of := serviceNamed(backend)
	if !is || of == nil {
		return nil
	}
	if backend == s.name {
		of = s.of
	}
	if u, err := url.Parse(of.base); err != nil || s.isLocal(u) {
		return nil // no key goes to a server on this computer over http
	}
	return &aai.Recipe{App: name, Platform: "web", HTTP: &aai.HTTPRecipe{BaseURL: of.base, Auth: of.auth}}
}

// KeyVariable returns the variable of the environment with the key in use, or "".
func (s *Service) KeyVariable() string {
	if s.of == nil {
		return ""
	}
	return s.variable(s.of)
}
