package model_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/vision"
	"github.com/gybob/aai-gateway/internal/vision/model"
)

// keyCanary is the person's key. No error may contain it.
const keyCanary = "cAnArY-k3y-0123456789"

// dialect is the published form of a service, as the servers of these tests speak it.
type dialect struct {
	path, keyHeader, keyPrefix string
	picture, question          func(body map[string]any) any
	answer                     func(text string) string
	cut                        string // an answer at the limit of tokens
	refusal                    string
}

// part returns a member of decoded JSON by names and indexes; nil if there is none.
func part(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func of(path ...any) func(map[string]any) any {
	return func(body map[string]any) any { return part(body, path...) }
}

func dialects() map[string]dialect {
	openai := dialect{
		path: "/chat/completions", keyHeader: "Authorization", keyPrefix: "Bearer ",
		picture: func(b map[string]any) any {
			address, _ := part(b, "messages", 1, "content", 1, "image_url", "url").(string)
			return strings.TrimPrefix(address, "data:image/png;base64,")
		},
		question: of("messages", 1, "content", 0, "text"),
		answer: func(text string) string {
			return fmt.Sprintf(`{"id": "c", "object": "chat.completion", "model": "m-1", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": %q, "refusal": null}}], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}`, text)
		},
		cut:     `{"model": "m-1", "choices": [{"finish_reason": "length", "message": {"content": "{"}}], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}`,
		refusal: `{"model": "m-1", "choices": [{"finish_reason": "stop", "message": {"content": null, "refusal": "I cannot"}}]}`,
	}
	return map[string]dialect{
		"openai": openai, "mlx": openai,
		"anthropic": {
			path: "/v1/messages", keyHeader: "X-Api-Key",
			picture: of("messages", 0, "content", 0, "source", "data"), question: of("messages", 0, "content", 1, "text"),
			answer: func(text string) string {
				return fmt.Sprintf(`{"id": "msg", "type": "message", "role": "assistant", "model": "m-1", "content": [{"type": "text", "text": %q}], "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 11, "output_tokens": 7}}`, text)
			},
			cut:     `{"model": "m-1", "content": [{"type": "text", "text": "{"}], "stop_reason": "max_tokens", "usage": {"input_tokens": 11, "output_tokens": 7}}`,
			refusal: `{"model": "m-1", "content": [], "stop_reason": "refusal"}`,
		},
		"gemini": {
			path: "/models/m-1:generateContent", keyHeader: "X-Goog-Api-Key",
			picture: of("contents", 0, "parts", 0, "inlineData", "data"), question: of("contents", 0, "parts", 1, "text"),
			answer: func(text string) string {
				return fmt.Sprintf(`{"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": %q}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 4, "thoughtsTokenCount": 3, "totalTokenCount": 18}, "modelVersion": "m-1"}`, text)
			},
			cut:     `{"candidates": [{"content": {"parts": [{"text": "{"}]}, "finishReason": "MAX_TOKENS"}]}`,
			refusal: `{"promptFeedback": {"blockReason": "SAFETY"}}`,
		},
		"ollama": {
			path: "/api/chat", keyHeader: "Authorization", keyPrefix: "Bearer ",
			picture: of("messages", 1, "images", 0), question: of("messages", 1, "content"),
			answer: func(text string) string {
				return fmt.Sprintf(`{"model": "m-1", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": %q}, "done": true, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7}`, text)
			},
			cut:     `{"model": "m-1", "message": {"content": "{"}, "done": true, "done_reason": "length"}`,
			refusal: "",
		},
	}
}

// keys adds the key as the person's logins do.
type keys struct{}

func (keys) Authorize(_ context.Context, r *aai.Recipe, req *http.Request) error {
	req.Header.Set(r.HTTP.Auth.Name, r.HTTP.Auth.Prefix+keyCanary)
	return nil
}

func (keys) HandleRefusal(context.Context, *aai.Recipe, *http.Response) (bool, error) {
	return false, aai.Errorf(aai.AuthExpired, "the key is not accepted")
}

// server answers requests of a service, and counts them.
type server struct {
	*httptest.Server
	requests atomic.Int32
	last     atomic.Pointer[http.Request]
	body     atomic.Pointer[map[string]any]
}

// serve starts a server over TLS, or a plain one.
func serve(t *testing.T, plain bool, handle http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		s.last.Store(r)
		text, err := io.ReadAll(r.Body)
		body := map[string]any{}
		if err == nil && json.Unmarshal(text, &body) == nil {
			s.body.Store(&body)
		}
		handle(w, r)
	})
	if plain {
		s.Server = httptest.NewServer(handler)
	} else {
		s.Server = httptest.NewTLSServer(handler)
	}
	t.Cleanup(s.Close)
	return s
}

// open returns the service at the server, for the backend.
func (s *server) open(t *testing.T, backend string, trusted bool) *model.Service {
	t.Helper()
	c := netguard.Config{AllowPrivate: []string{s.Listener.Addr().String()}}
	if trusted && s.Certificate() != nil {
		pool := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs //nolint:forcetypeassert // of httptest
		c.RootCAs = pool
	}
	client := netguard.New(c)
	t.Cleanup(client.Close)
	return model.New(model.Config{Backend: backend, Model: "m-1", BaseURL: s.URL, Client: client.HTTP(), Keys: keys{}, Getenv: func(string) string { return "" }, InputPrice: 3, OutputPrice: 15})
}

// TestEachService sends a picture in the published form of each service, with its key, and reads the answer.
func TestEachService(t *testing.T) {
	png, err := vision.EncodePNG(image.NewRGBA(image.Rect(0, 0, 4, 3)))
	assert.NilError(t, err)
	for backend, speaks := range dialects() {
		t.Run(backend, func(t *testing.T) {
			s := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, speaks.answer("Hello")) })
			m := s.open(t, backend, true)
			answer, err := m.Ask(t.Context(), model.Question{System: "S", Text: "What?", PNG: png, MaxTokens: 50})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(answer.Text, "Hello"), "%+v", answer)
			assert.Check(t, is.Equal(answer.Model, "m-1"), "%+v", answer)
			assert.Check(t, is.Equal(answer.InputTokens, 11), "%+v", answer)
			assert.Check(t, is.Equal(answer.OutputTokens, 7), "%+v", answer)
			cost, known := m.Cost(answer)
			assert.Assert(t, known, "it costs %v, %v", cost, known)
			assert.Equal(t, fmt.Sprintf("%.6f", cost), "0.000138", "%v %v", cost, known)
			got := s.last.Load()
			assert.Check(t, is.Equal(got.URL.Path, speaks.path))
			assert.Check(t, is.Equal(got.Header.Get(speaks.keyHeader), speaks.keyPrefix+keyCanary))
			body := *s.body.Load()
			assert.Check(t, is.Equal(speaks.picture(body), base64.StdEncoding.EncodeToString(png)))
			assert.Check(t, is.Equal(speaks.question(body), "What?"))
			again, err := m.Ask(t.Context(), model.Question{System: "S", Text: "What?", PNG: png, MaxTokens: 50})
			if err != nil || !again.IsCached || again.InputTokens != 0 || s.requests.Load() != 1 {
				t.Errorf("an equal question: %+v, %v, %d requests", again, err, s.requests.Load())
			}
			other, err := m.Ask(t.Context(), model.Question{System: "S", Text: "What else?", PNG: png, MaxTokens: 50})
			assert.NilError(t, err, "%+v", other)
			assert.Assert(t, !other.IsCached, "another question: %+v, %v", other, err)
		})
	}
}

// TestFailures lists the failures of a service, each for all backends.
func TestFailures(t *testing.T) {
	echo := fmt.Sprintf(`{"error": {"type": "x", "message": "the key %s is wrong"}}`, keyCanary)
	status := func(code int, header, value string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if header != "" {
				w.Header().Set(header, value)
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, echo)
		}
	}
	away := serve(t, false, func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		code   aai.Code
		after  time.Duration
		says   string
	}{
		"wrong key":   {status(401, "", ""), aai.AuthExpired, 0, "not accepted"},
		"forbidden":   {status(403, "", ""), aai.AuthDenied, 0, "does not allow"},
		"too many":    {status(429, "Retry-After", "17"), aai.RateLimited, 17 * time.Second, "no more requests"},
		"overloaded":  {status(529, "Retry-After", "3"), aai.AppNotRunning, 3 * time.Second, "overloaded"},
		"unavailable": {status(503, "", ""), aai.AppNotRunning, 0, "overloaded"},
		"not found":   {status(404, "", ""), aai.APIRequestFailed, 0, "answered 404: it says"},
		"redirect":    {status(307, "Location", away.URL+"/steal"), aai.APIRequestFailed, 0, "not followed"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, `{"model":`)
		}, aai.APIRequestFailed, 0, "broke off after 9 bytes"},
		"oversized": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `"`+strings.Repeat("x", 2<<20))
		}, aai.APIRequestFailed, 0, "larger than"},
		"prose": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, aai.APIRequestFailed, 0, "protocol"},
	} {
		for backend := range dialects() {
			t.Run(name+"/"+backend, func(t *testing.T) {
				s := serve(t, false, c.handle)
				_, err := s.open(t, backend, true).Ask(t.Context(), model.Question{Text: "?", MaxTokens: 1})
				e := aai.AsError(err)
				assert.Assert(t, e != nil, "%+v", e)
				assert.Equal(t, e.Code, c.code, "%+v", e)
				assert.Equal(t, e.RetryAfter, c.after, "%+v", e)
				assert.Check(t, is.Contains(e.Message, c.says), "it says %q, want %q", e.Message, c.says)
				assert.Check(t, !strings.Contains(fmt.Sprintf("%+v %v", e, e.Err), keyCanary), "it shows the key: %+v", e)
			})
		}
	}
	n := away.requests.Load()
	assert.Check(t, n == 0, "%d requests were sent to another address", n)
}

// TestUntrustedServer: a server with an unknown certificate gets nothing.
func TestUntrustedServer(t *testing.T) {
	s := serve(t, false, func(http.ResponseWriter, *http.Request) {})
	_, err := s.open(t, "openai", false).Ask(t.Context(), model.Question{Text: "?", MaxTokens: 1})
	if e := aai.AsError(err); e == nil || !strings.Contains(e.Message, "certificate") || s.requests.Load() != 0 {
		t.Errorf("%v, %d requests", err, s.requests.Load())
	}
}

// TestSlowServer: the deadline and the cancellation of the call end the wait.
func TestSlowServer(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		code aai.Code
	}{
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 50*time.Millisecond)
		}, aai.Timeout},
		"cancelled": {context.WithCancel, aai.AutomationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := c.end(t.Context())
			defer cancel()
			s := serve(t, false, func(_ http.ResponseWriter, r *http.Request) {
				if name == "cancelled" {
					cancel()
				}
				<-r.Context().Done()
			})
			_, err := s.open(t, "anthropic", true).Ask(ctx, model.Question{Text: "?", MaxTokens: 1})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, err)
			assert.Equal(t, e.Code, c.code, err)
		})
	}
}

// TestAddresses: which addresses get pictures, and which get a key.
func TestAddresses(t *testing.T) {
	environment := func(name string) string { return map[string]string{"OPENAI_API_KEY": keyCanary}[name] }
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer func() { _ = listener.Close() }()
	for _, c := range []struct {
		backend, model, url        string
		name, host, local, keyFrom string
		wrong                      string
	}{
		{"auto", "", "", "openai", "api.openai.com", "", "OPENAI_API_KEY", ""},
		{"anthropic", "", "", "anthropic", "api.anthropic.com", "", "", ""},
		{"auto", "m", "http://127.0.0.1:1234/v1", "openai", "127.0.0.1:1234", "127.0.0.1:1234", "", "no key"},
		{"openai", "m", "https://llm.example/v1", "openai", "llm.example", "", "", ""},
		{"openai", "m", "http://192.168.1.4:1234/v1", "openai", "192.168.1.4:1234", "", "", "expected https"},
		{"mlx", "", "", "mlx", "127.0.0.1:8080", "127.0.0.1:8080", "", "vlm.model"},
		{"ollama", "", "", "ollama", "127.0.0.1:11434", "127.0.0.1:11434", "", "no key"},
		{"client", "", "", "client", "", "", "", ""},
		{"off", "", "", "off", "", "", "", ""},
	} {
		m := model.New(model.Config{Backend: c.backend, Model: c.model, BaseURL: c.url, Getenv: environment})
		assert.Check(t, is.Equal(m.Backend(), c.name), "%+v", c)
		assert.Check(t, is.Equal(m.Host(), c.host), "%+v", c)
		assert.Check(t, is.Equal(m.LocalHost(), c.local), "%+v", c)
		assert.Check(t, is.Equal(m.KeyVariable(), c.keyFrom), "%+v", c)
		switch c.wrong {
		case "":
		case "no key":
			assert.Check(t, m.Login("vlm:"+m.Backend()) == nil, "%+v: it needs a key", c)
		default:
			_, err := m.Ask(t.Context(), model.Question{})
			assert.Check(t, is.ErrorContains(err, c.wrong), "%+v", c)
		}
	}
	r := model.New(model.Config{}).Login("vlm:anthropic")
	assert.Assert(t, r != nil, "the login is %+v", r)
	assert.Equal(t, r.HTTP.BaseURL, "https://api.anthropic.com", "%+v", r)
	assert.Assert(t, r.HTTP.Auth.ObtainURL != "", "the login is %+v", r)
	r = model.New(model.Config{}).Login("anthropic")
	assert.Check(t, r == nil, "another name gives %+v", r)
}
