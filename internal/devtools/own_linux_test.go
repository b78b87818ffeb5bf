package devtools

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

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
	if err := os.MkdirAll(profile, 0o700); err != nil {
		t.Fatal(err)
	}
	switchedOn := `{"devtools": {"remote_debugging": {"user-enabled": true}}}`
	if err := os.WriteFile(filepath.Join(profile, "Local State"), []byte(switchedOn), 0o600); err != nil {
		t.Fatal(err)
	}
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
		if err := press.Run(); err != nil {
			t.Fatal(err)
		}
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
	if !p.own.Asks {
		t.Error("it is not known that the browser asks")
	}
	connect := func(ctx context.Context) <-chan error {
		answer := make(chan error, 1)
		go func() { answer <- b.Connect(ctx, p.own) }()
		return answer
	}
	t.Run("refused", func(t *testing.T) {
		if err := p.answers(t, connect(t.Context()), "Escape"); err == nil {
			t.Error("it is connected")
		}
		if allowed, err := b.Allowed(t.Context()); err != nil || len(allowed) != 0 {
			t.Errorf("allowed are %v, %v", allowed, err)
		}
	})
	t.Run("not answered", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := <-connect(ctx); err == nil {
			t.Error("it is connected")
		}
	})
	t.Run("allowed", func(t *testing.T) {
		// A key before the question is there goes to the page, and the next one refuses.
		until(t, func() bool { return p.answers(t, connect(t.Context()), "Tab", "Return") == nil })
		if all := b.Connected(t.Context()); len(all) != 1 || len(all[0].Tabs()) == 0 {
			t.Errorf("connected are %v", all)
		}
	})
}
