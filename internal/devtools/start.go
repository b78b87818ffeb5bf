package devtools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/process"
)

// errTooLong means that a message of the browser exceeds maxMessage.
var errTooLong = errors.New("a message of the browser is too long")

// StartConfig configures the browsers that [Browsers.Start] starts.
type StartConfig struct {
	// Profiles is the folder of their profiles. They are no one else's, and keep logins and settings.
	Profiles string
	// Environ returns the environment of programs in the person's session.
	Environ func() []string
	// Find returns the path of a Chromium.
	Find func() (string, error)
	// OutlivesGateway is set if this process ends with the call: the browser then listens on a port, so that other
	// gateways can use it. Otherwise it ends with the gateway and only this process can use it.
	OutlivesGateway bool
}

// startTimeout limits the start of a browser.
const startTimeout = 30 * time.Second

// maxProfiles limits the browsers that run at the same time, of all gateways: each needs a profile of its own.
const maxProfiles = 8

// Start starts a browser with a profile of its own, opens the page in it, and connects to it. Without a screen it has no
// window.
func (b *Browsers) Start(ctx context.Context, page string) (*Browser, error) {
	c := b.config.Start
	program, err := c.Find()
	if err != nil {
		return nil, err
	}
	profile, err := c.freeProfile()
	if err != nil {
		return nil, err
	}
	environ := c.Environ()
	args := append(switches(profile, hasScreen(environ)), page)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if c.OutlivesGateway {
		return b.startWithPort(ctx, program, environ, profile, args)
	}
	return b.startWithPipe(ctx, program, environ, profile, args)
}

// switches are those of a started browser: tools of pages, the tree of pages for accessibility, and pages that go on
// while their window is covered.
func switches(profile string, hasScreen bool) []string {
	args := []string{
		"--user-data-dir=" + profile, "--no-first-run", "--no-default-browser-check",
		"--enable-features=WebMCPTesting,DevToolsWebMCPSupport", "--force-renderer-accessibility",
		"--disable-backgrounding-occluded-windows", "--disable-features=CalculateNativeWinOcclusion",
	}
	if !hasScreen {
		args = append(args, "--headless=new")
	}
	return args
}

// hasScreen reports whether the environment names a screen.
func hasScreen(environ []string) bool {
	for _, name := range []string{"DISPLAY=", "WAYLAND_DISPLAY="} {
		for _, variable := range environ {
			if len(variable) > len(name) && variable[:len(name)] == name {
				return true
			}
		}
	}
	return false
}

// freeProfile returns the folder of the first profile that no running browser has.
func (c *StartConfig) freeProfile() (string, error) {
	for n := range maxProfiles {
		profile := filepath.Join(c.Profiles, strconv.Itoa(n+1))
		if err := os.MkdirAll(profile, 0o700); err != nil {
			return "", err
		}
		if !isInUse(profile) {
			return profile, nil
		}
	}
	e := aai.Errorf(aai.AutomationFailed, "%d browsers of agents run already", maxProfiles)
	e.Delivery, e.Hint = aai.NotDelivered, "Use one of them, or close one."
	return "", e
}

// keep adds a browser that Start has started.
func (b *Browsers) keep(one *Browser, child *process.Subprocess) {
	b.mu.Lock()
	b.open[one.ID()], b.started[one.ID()] = one, child
	b.mu.Unlock()
	b.listeners.Call()
	go func() {
		<-child.Exited()
		b.mu.Lock()
		delete(b.started, one.ID())
		b.mu.Unlock()
		one.conn.close()
	}()
}

// end closes the connection to a browser, and ends one that this process has started with a pipe.
func (b *Browsers) end(one *Browser) {
	b.mu.Lock()
	child := b.started[one.ID()]
	b.mu.Unlock()
	if child == nil {
		one.conn.close()
		return
	}
	_ = one.Request(context.Background(), "Browser.close", map[string]any{}, nil) // it saves its profile
	child.Stop(true)
	one.conn.close()
}

// ownEndpoints returns the browsers that this process has started with a pipe.
func (b *Browsers) ownEndpoints() (own []Endpoint) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.started {
		if one := b.open[id]; one != nil {
			own = append(own, one.Endpoint)
		}
	}
	return own
}
