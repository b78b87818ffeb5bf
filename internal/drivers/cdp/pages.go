package cdp

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/devtools"
)

// Pages are the pages of the connected browsers that have tools. It is safe for concurrent use.
type Pages struct {
	browsers  *devtools.Browsers
	timeout   time.Duration
	listeners aai.Listeners

	mu       sync.Mutex
	followed []*browser
}

// New returns Pages. timeout limits a call of a page's tool.
func New(browsers *devtools.Browsers, timeout time.Duration) *Pages {
	p := &Pages{browsers: browsers, timeout: timeout}
	browsers.OnChange(func() {
		p.connected(context.Background())
		p.listeners.Call()
	})
	return p
}

// attachTimeout limits the time for reading the tools of new tabs of a browser.
const attachTimeout = 2 * time.Second

// connected returns the connected browsers. It reads the tools of new tabs.
func (p *Pages) connected(ctx context.Context) []*browser {
	all := p.browsers.Connected(ctx)
	p.mu.Lock()
	p.followed = slices.DeleteFunc(p.followed, func(one *browser) bool { return !slices.Contains(all, one.Browser) })
	for _, d := range all {
		if !slices.ContainsFunc(p.followed, func(one *browser) bool { return one.Browser == d }) {
			p.followed = append(p.followed, follow(d, p.listeners.Call))
		}
	}
	followed := slices.Clone(p.followed)
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	for _, one := range followed {
		one.attach(ctx)
	}
	return followed
}
