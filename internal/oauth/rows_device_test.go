package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestRow20Device: without a browser, the user types the code elsewhere, and the repeated call
// finds the token.
func TestRow20Device(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{}, withoutBrowser)
	w.logins.SetSleep(func(ctx context.Context, d time.Duration) error { return wait(ctx, d/100) })
	e := w.fails(t.Context(), aai.AuthRequired)
	code := e.Message[strings.LastIndex(e.Message, " ")+1:]
	assert.Assert(t, strings.HasPrefix(e.LoginURL, w.as.Issuer+"/device"), "%v; visit %s; %s", e.Message, e.LoginURL, e.Hint)
	assert.Assert(t, len(code) >= 8, "%v; visit %s; %s", e.Message, e.LoginURL, e.Hint)
	assert.Assert(t, is.Contains(e.Hint, code), "%v %s", e.Message, e.LoginURL)
	again := w.fails(t.Context(), aai.AuthRequired) // the same login continues
	assert.Check(t, is.Equal(again.LoginURL, e.LoginURL), "the second call is sent to %s", again.LoginURL)
	p := testkit.NewBrowserUser()
	defer p.Client.CloseIdleConnections()
	p.Code = code
	_, _, err := p.Visit(t.Context(), w.as.Issuer+"/device")
	assert.NilError(t, err)
	err = w.logins.Login(t.Context(), w.recipe)
	assert.Assert(t, err == nil || aai.AsError(err).Code == "", err)
	w.works()
	n := w.windows.Load()
	assert.Check(t, n == 0, "%d windows were opened", n)
	w.clock.pass(beyondTokenLife)
	w.works() // refreshed
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// deviceStage returns a fake server with device codes, which sends the given responses in order,
// and the waits between the polls.
func deviceStage(t *testing.T, more map[string]any, answers ...string) (*fakeServerWorld, func() []time.Duration) {
	var mu sync.Mutex
	var waits []time.Duration
	asked := 0
	s := newStage(t, func(f *fake) {
		f.metadata["device_authorization_endpoint"] = f.URL + "/device"
		good := f.handle["/token"]
		f.handle["/device"] = func(w http.ResponseWriter, _ *http.Request) {
			answer := map[string]any{"device_code": "a-device-code", "user_code": "WDJB-MJHT", "verification_uri": f.URL + "/go", "expires_in": 600}
			for k, v := range more {
				answer[k] = v
			}
			writeJSON(w, 200, answer)
		}
		f.handle["/token"] = func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			answer := ""
			if asked < len(answers) {
				answer = answers[asked]
			}
			asked++
			mu.Unlock()
			switch answer {
			case "":
				good(w, r)
			case "503":
				http.Error(w, "later", http.StatusServiceUnavailable)
			default:
				writeJSON(w, 400, map[string]string{"error": answer})
			}
		}
	})
	s.logins = s.open(withoutBrowser)
	s.logins.SetSleep(func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, d)
		return ctx.Err()
	})
	return s, func() []time.Duration { mu.Lock(); defer mu.Unlock(); return waits }
}

func TestRow20Answers(t *testing.T) {
	for _, c := range []struct {
		name    string
		more    map[string]any
		answers []string
		waits   string
		code    aai.Code
	}{
		{"five seconds where none are said", nil, []string{"authorization_pending"}, "[5s 5s]", ""},
		{"the server's interval", map[string]any{"interval": 2}, []string{"authorization_pending"}, "[2s 2s]", ""},
		{"slower, and slower", map[string]any{"interval": 1}, []string{"slow_down", "authorization_pending", "slow_down"}, "[1s 6s 6s 11s]", ""},
		{"an outage", map[string]any{"interval": 5}, []string{"503", "503"}, "[5s 10s 20s]", ""},
		{"too late, says the server", nil, []string{"expired_token"}, "[5s]", aai.AuthRequired},
		{"too late, says the clock", map[string]any{"expires_in": 12}, []string{"authorization_pending", "authorization_pending", "authorization_pending", "authorization_pending"}, "[5s 5s 5s]", aai.AuthRequired},
		{"the person says no", nil, []string{"access_denied"}, "[5s]", aai.AuthDenied},
		{"no such grant", nil, []string{"unauthorized_client"}, "[5s]", aai.AuthInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, waits := deviceStage(t, c.more, c.answers...)
			err := s.logins.Login(t.Context(), s.recipe)
			assert.Assert(t, c.code != "" || err == nil, err)
			if c.code != "" {
				e := aai.AsError(err)
				assert.Assert(t, e != nil, "it ended with %v; expected %s", err, c.code)
				assert.Equal(t, e.Code, c.code, err)
			}
			got := fmt.Sprint(waits())
			assert.Check(t, is.Equal(got, c.waits), "the waits were %s, expected %s", got, c.waits)
			forms := s.fake.asked("/token")
			assert.Check(t, is.Equal(forms[0].Get("device_code"), "a-device-code"), forms[0])
			assert.Check(t, is.Equal(forms[0].Get("client_id"), "aai-gateway"), forms[0])
			assert.Check(t, is.Equal(forms[0].Get("grant_type"), "urn:ietf:params:oauth:grant-type:device_code"), forms[0])
		})
	}
}

// TestRow20Shown: the code and the page are shown; a page of another site is not.
func TestRow20Shown(t *testing.T) {
	for _, c := range []struct {
		name string
		more map[string]any
		want string // the page; empty: it is rejected
	}{
		{"as it is", nil, "/go"},
		{"with the code in it", map[string]any{"verification_uri_complete": "SELF/go?c=1"}, "/go?c=1"},
		{"with the code in it, elsewhere", map[string]any{"verification_uri_complete": "https://evil.example/go?c=1"}, "/go"},
		{"of another site", map[string]any{"verification_uri": "https://evil.example/go"}, ""},
		{"that is a script", map[string]any{"verification_uri": "javascript:alert(1)"}, ""},
		{"without a code", map[string]any{"user_code": ""}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			more := make(map[string]any)
			s, _ := deviceStage(t, more, slicesOf("authorization_pending", 1000)...)
			for k, v := range c.more {
				more[k] = strings.Replace(v.(string), "SELF", s.fake.URL, 1)
			}
			hold := make(chan struct{})
			s.logins.SetSleep(func(ctx context.Context, _ time.Duration) error {
				select {
				case <-hold:
				case <-ctx.Done():
				}
				return context.Canceled
			})
			err := s.authorize(contextWithNearDeadline(t))
			close(hold)
			if c.want == "" {
				ends(t, err, aai.AuthInvalid)
				return
			}
			e := ends(t, err, aai.AuthRequired)
			assert.Check(t, is.Equal(e.LoginURL, s.fake.URL+c.want))
			assert.Check(t, is.Contains(e.Message, "WDJB-MJHT"))
		})
	}
}

func slicesOf(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

var _ = oauth.ForeignHosts
