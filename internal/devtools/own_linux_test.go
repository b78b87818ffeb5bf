package devtools

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A person sits at a Chromium with their own profile, which they have switched on at chrome://inspect/#remote-debugging.
type person struct {
	*linuxtest.Session
	own Endpoint
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{Session: linuxtest.Start(t)}
	profile := filepath.Join(p.Home, ".config", "chromium")
	assert.NilError(t, os.MkdirAll(profile, 0o700))
	switchedOn := `{"devtools": {"remote_debugging": {"user-enabled": true}}}`
	assert.NilError(t, os.WriteFile(filepath.Join(profile, "Local State"), []byte(switchedOn), 0o600))
	p.Launch(t, "chromium", "--no-sandbox", "--no-first-run", "--password-store=basic", "--disable-gpu", "--disable-dev-shm-usage", "about:blank")
	until(t, func() bool {
		for _, e := range Find(func(name string) string { return map[string]string{"HOME": p.Home}[name] }) {
			if e.Profile == profile {
				p.own = e
				return true
			}
		}
		return false
	})
	return p
}

// answers presses keys until the channel has an error, and returns it.
func (p *person) answers(t *testing.T, answer <-chan error, keys ...string) error {
	t.Helper()
	for {
		press := exec.CommandContext(t.Context(), "xdotool", append([]string{"key", "--delay", "100"}, keys...)...)
		press.Env = p.Env
		assert.NilError(t, press.Run())
		select {
		case err := <-answer:
			return err
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// TestOwnProfile connects to a browser with the person's own profile, which asks them each time.
func TestOwnProfile(t *testing.T) {
	p, b := newPerson(t), newBrowsers(t, "", false)
	assert.Check(t, p.own.Asks, "it is not known that the browser asks")
	connect := func(ctx context.Context) <-chan error {
		answer := make(chan error, 1)
		go func() { answer <- b.Connect(ctx, p.own) }()
		return answer
	}
	t.Run("refused", func(t *testing.T) {
		assert.Check(t, p.answers(t, connect(t.Context()), "Escape") != nil, "it is connected")
		allowed, err := b.Allowed(t.Context())
		assert.NilError(t, err)
		assert.Assert(t, is.Len(allowed, 0))
	})
	t.Run("not answered", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Check(t, (<-connect(ctx)) != nil, "it is connected")
	})
	t.Run("allowed", func(t *testing.T) {
		// A key before the question is there goes to the page, and the next one refuses.
		until(t, func() bool { return p.answers(t, connect(t.Context()), "Tab", "Return") == nil })
		all := b.Connected(t.Context())
		assert.Assert(t, is.Len(all, 1))
		assert.Assert(t, len(all[0].Tabs()) != 0, "connected are %v", all)
	})
}
