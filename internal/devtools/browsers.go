package devtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/process"
)

// Config configures Browsers.
type Config struct {
	// Find returns the browsers that listen.
	Find func() []Endpoint
	// AllowFile holds the starts of browsers that the person has allowed, as a JSON list of ids that Seal has sealed.
	AllowFile string
	// Seal and Open seal the content of AllowFile, so that another program cannot write it. Nil: it is plain.
	Seal, Open func(ctx context.Context, content []byte) ([]byte, error)
	Start      StartConfig
	Log        *slog.Logger
}

// Browsers are the browsers that the person has allowed. It is safe for concurrent use.
type Browsers struct {
	config    Config
	listeners aai.Listeners

	connecting sync.Mutex // held while browsers are looked for
	looked     time.Time
	failed     map[string]time.Time // by Endpoint.ID

	mu      sync.Mutex
	open    map[string]*Browser            // by Endpoint.ID
	started map[string]*process.Subprocess // those of open that this process has started with a pipe
}

// New returns Browsers. It connects to none.
func New(c Config) *Browsers {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Browsers{config: c, open: map[string]*Browser{}, started: map[string]*process.Subprocess{}, failed: map[string]time.Time{}}
}

// Close closes the connections. The browsers stay open, but those end that Start has started with a pipe.
func (b *Browsers) Close() error {
	for _, one := range b.listed() {
		b.end(one)
	}
	return nil
}

// OnChange calls f after a change of the connected browsers or of their tabs.
func (b *Browsers) OnChange(f func()) (stop func()) { return b.listeners.Add(f) }

// Listening returns the browsers that listen, allowed or not, and those that Start has started with a pipe.
func (b *Browsers) Listening() []Endpoint { return append(b.config.Find(), b.ownEndpoints()...) }

// Connected connects to the allowed browsers that run, and returns all connected ones, the newest process first.
func (b *Browsers) Connected(ctx context.Context) []*Browser {
	b.refresh(ctx)
	return b.listed()
}

// listed returns the connected browsers.
func (b *Browsers) listed() []*Browser {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]*Browser, 0, len(b.open))
	for id, one := range b.open {
		if !one.conn.isAlive() {
			delete(b.open, id)
			continue
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(x, y *Browser) int { return y.PID - x.PID })
	return all
}

// maxAllowed limits the kept ids; the oldest ones are dropped.
const maxAllowed = 50

// Allowed returns the ids of the allowed starts of browsers.
func (b *Browsers) Allowed(ctx context.Context) (ids []string, err error) {
	for _, e := range b.ownEndpoints() {
		ids = append(ids, e.ID())
	}
	content, err := atomicfile.Read(b.config.AllowFile, allowLimits())
	if errors.Is(err, fs.ErrNotExist) {
		return ids, nil
	}
	var kept []string
	if err == nil {
		kept, err = b.decode(ctx, content)
	}
	if err != nil {
		return ids, fmt.Errorf("%s: %w", b.config.AllowFile, err)
	}
	return append(ids, kept...), nil
}

// decode opens and reads the content of AllowFile.
func (b *Browsers) decode(ctx context.Context, content []byte) (ids []string, err error) {
	if b.config.Open != nil {
		if content, err = b.config.Open(ctx, content); err != nil {
			return nil, err
		}
	}
	err = json.Unmarshal(content, &ids)
	return ids, err
}

func allowLimits() atomicfile.ReadLimits { return atomicfile.ReadLimits{Size: 1 << 14, Private: true} }

// allow keeps the id of a browser, or with undo removes it.
func (b *Browsers) allow(ctx context.Context, id string, undo bool) error {
	return atomicfile.Update(ctx, b.config.AllowFile, allowLimits(), func(old []byte) ([]byte, error) {
		var ids []string
		if len(old) > 0 { // what cannot be opened was not written by the person, and is dropped
			ids, _ = b.decode(ctx, old)
		}
		ids = slices.DeleteFunc(ids, func(one string) bool { return one == id })
		if !undo {
			ids = append(ids, id)
		}
		content, err := json.Marshal(ids[max(0, len(ids)-maxAllowed):])
		if err != nil || b.config.Seal == nil {
			return content, err
		}
		return b.config.Seal(ctx, content)
	})
}

// Times of looking for browsers: between two looks, for connecting to one, and after one did not answer.
const (
	lookInterval   = time.Second
	connectTimeout = 2 * time.Second
	failurePause   = time.Minute
)

// refresh connects to the allowed browsers that run. Without an allowed one it only reads a file. It does not wait for
// another refresh, and while a browser is connected not for the look for further ones either.
func (b *Browsers) refresh(ctx context.Context) {
	if !b.connecting.TryLock() {
		return
	}
	if time.Since(b.looked) < lookInterval {
		b.connecting.Unlock()
		return
	}
	b.looked = time.Now()
	ids, err := b.Allowed(ctx)
	if err != nil {
		b.config.Log.Warn("the list of allowed browsers cannot be read", "error", err)
	}
	b.drop(ids)
	if len(ids) == 0 {
		b.connecting.Unlock()
		return
	}
	if len(b.listed()) == 0 {
		defer b.connecting.Unlock()
		b.look(ctx, ids) // no call of listeners: the caller may hold their locks, and sees the browsers itself
		return
	}
	go func() {
		isNew := b.look(context.WithoutCancel(ctx), ids)
		b.connecting.Unlock()
		if isNew {
			b.listeners.Call()
		}
	}()
}

// look connects to the running browsers with the ids, and reports whether one is new; the caller holds connecting.
func (b *Browsers) look(ctx context.Context, ids []string) (isNew bool) {
	for _, e := range b.config.Find() {
		if !slices.Contains(ids, e.ID()) || time.Since(b.failed[e.ID()]) < failurePause || b.isOpen(e) {
			continue
		}
		if e.Asks {
			b.failed[e.ID()] = time.Now().Add(time.Hour * 24 * 365) // the person is asked once by each gateway
			go b.connectLater(context.WithoutCancel(ctx), e)
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		err := b.connect(ctx, e)
		cancel()
		isNew = isNew || err == nil
		if err != nil {
			b.failed[e.ID()] = time.Now()
			b.config.Log.Warn("a browser does not answer", "browser", e.String(), "error", err)
		}
	}
	return isNew
}

// AnswerTimeout limits the time of the person for the question of a browser that asks itself.
const AnswerTimeout = 2 * time.Minute

// connectLater connects to an allowed browser that asks the person first.
func (b *Browsers) connectLater(ctx context.Context, e Endpoint) {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	if err := b.connect(ctx, e); err != nil {
		b.config.Log.Warn("a browser does not let the gateway in", "browser", e.String(), "error", err)
		return
	}
	b.listeners.Call()
}

// Connect connects to a browser and allows it. A browser that asks itself lets it wait for the person's answer.
func (b *Browsers) Connect(ctx context.Context, e Endpoint) error {
	b.connecting.Lock()
	err := b.connect(ctx, e)
	if err == nil {
		err = b.allow(ctx, e.ID(), false)
	}
	b.connecting.Unlock()
	if err == nil {
		b.listeners.Call()
	}
	return err
}

// Disconnect closes the connection to a browser, which is no longer allowed then.
func (b *Browsers) Disconnect(ctx context.Context, e Endpoint) error {
	if err := b.allow(ctx, e.ID(), true); err != nil {
		return fmt.Errorf("%s: %w", b.config.AllowFile, err)
	}
	b.mu.Lock()
	one := b.open[e.ID()]
	delete(b.open, e.ID())
	b.mu.Unlock()
	if one != nil {
		b.end(one)
	}
	b.listeners.Call()
	return nil
}

// connect connects to a browser, unless that is done.
func (b *Browsers) connect(ctx context.Context, e Endpoint) error {
	if b.isOpen(e) {
		return nil
	}
	one, err := connect(ctx, e, b.listeners.Call)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.open[e.ID()] = one
	b.mu.Unlock()
	return nil
}

// isOpen reports whether a connection to the browser is open.
func (b *Browsers) isOpen(e Endpoint) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.open[e.ID()]
	return one != nil && one.conn.isAlive()
}

// drop closes the connections to browsers that are no longer allowed, as another gateway may have written.
func (b *Browsers) drop(allowed []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, one := range b.open {
		if !slices.Contains(allowed, id) {
			delete(b.open, id)
			go one.conn.close()
		}
	}
}
