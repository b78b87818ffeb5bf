package wayland

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// A TokenStore keeps the portal's restore token, with which the desktop needs no second question. An absent token is "".
type TokenStore interface {
	LoadToken(ctx context.Context) (string, error)
	SaveToken(ctx context.Context, token string) error
}

// The portal for remote control.
const (
	portalName      = "org.freedesktop.portal.Desktop"
	portalPath      = "/org/freedesktop/portal/desktop"
	remoteInterface = "org.freedesktop.portal.RemoteDesktop"
	clipInterface   = "org.freedesktop.portal.Clipboard"
	versionWithEI   = 2 // of remoteInterface
	appID           = "aai-gateway"
)

// The times of the question to the person.
const (
	askingPatience = time.Minute      // of one call
	askingLimit    = 10 * time.Minute // of the question
	denialTime     = 10 * time.Minute // in which the person is not asked again
	restoreTime    = time.Second      // a session that a token restores begins within it
)

// question describes for the person and the agent what the desktop shows.
const question = `the desktop asks the person: KDE shows the window "Remote Control" with the button Approve; ` +
	`GNOME shows "Remote Desktop", where the switch "Allow Remote Interaction" must be turned on before Share`

// A portal asks the person for remote control by the desktop portal. The zero value has asked nothing.
type portal struct {
	mu          sync.Mutex
	attempt     *attempt // the question is open; nil without one
	deniedUntil time.Time
	denial      string
	token       string // of a store that failed
}

// fastestAnswer is less time than a person needs to see a question and to answer it.
const fastestAnswer = 700 * time.Millisecond

// An attempt is one question.
type attempt struct {
	done   chan struct{} // closed at its end
	remote *remote
	err    error
}

// open returns a session of remote control. If the person must answer, open waits for askingPatience; the question stays
// open for later calls.
func (p *portal) open(ctx context.Context, c *Config) (*remote, error) {
	a, err := p.begin(ctx, c)
	if err != nil {
		return nil, err
	}
	soon := time.NewTimer(restoreTime)
	defer soon.Stop()
	select {
	case <-a.done:
		return p.take(a)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-soon.C:
	}
	c.progress(ctx, question)
	defer actionctx.PauseDeadline(ctx)()
	late := time.NewTimer(askingPatience)
	defer late.Stop()
	select {
	case <-a.done:
		return p.take(a)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		e := refused(aai.ConsentRequired, "the person has not answered yet whether the gateway may use pointer and keyboard: %s", question)
		e.Hint = "Ask the person to answer it once, then try again. Elements can be operated by their refs without it."
		return nil, e
	}
}

// take returns the result of an attempt to one call, and forgets it.
func (p *portal) take(a *attempt) (*remote, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.attempt == a {
		p.attempt = nil
	}
	return a.remote, a.err
}

// begin begins an attempt, or joins the open one.
func (p *portal) begin(ctx context.Context, c *Config) (*attempt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.attempt != nil {
		return p.attempt, nil
	}
	if time.Now().Before(p.deniedUntil) {
		e := refused(aai.PermissionDenied, "%s", p.denial)
		e.Hint = fmt.Sprintf("The gateway asks again after %s at the earliest. Elements can be operated by their refs meanwhile.",
			p.deniedUntil.Format(time.TimeOnly))
		return nil, e
	}
	token := p.token
	if token == "" && c.Tokens != nil {
		stored, err := c.Tokens.LoadToken(ctx)
		if err != nil {
			c.Log.Warn("the permission for remote control cannot be read; the desktop asks for it", "err", err)
		}
		token = stored
	}
	if token == "" {
		c.progress(ctx, question)
	}
	a := &attempt{done: make(chan struct{})}
	p.attempt = a
	go func() {
		defer close(a.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askingLimit)
		defer cancel()
		a.remote, a.err = p.ask(ctx, c, token)
	}()
	return a, nil
}

// noteEnd notes the end of a session. If the person ended it, the gateway opens no other one for a while.
func (p *portal) noteEnd(r *remote) {
	select {
	case <-r.closed:
		p.deny("the person or the desktop ended the remote control of this session")
	default:
	}
}

func (p *portal) deny(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deniedUntil, p.denial = time.Now().Add(denialTime), why
}

// ask opens a session, and keeps its new token. A token that the portal refuses leads to a question without it.
func (p *portal) ask(ctx context.Context, c *Config, token string) (*remote, error) {
	begun := time.Now()
	r, fresh, err := openPortal(ctx, c, token)
	if err != nil && token != "" && !errors.Is(err, errDenied) && ctx.Err() == nil {
		r, fresh, err = openPortal(ctx, c, "")
	}
	if errors.Is(err, errDenied) && time.Since(begun) < fastestAnswer {
		p.deny("the desktop ended its question about pointer and keyboard before it could be answered")
		err = unsupported("the desktop ended its question about pointer and keyboard before it could be answered",
			"Its dialog may be missing or have crashed: look for the packages of the desktop's portal. Elements can be operated by their refs.")
	}
	if errors.Is(err, errDenied) {
		p.deny("the person denied the gateway pointer and keyboard in the desktop's question")
		e := refused(aai.PermissionDenied, "the person denied the gateway pointer and keyboard")
		e.Hint = "Do not ask for it again unless the person wants it. Elements can be operated by their refs."
		err = e
	}
	if err != nil {
		return nil, err
	}
	if fresh != "" && fresh != token {
		p.keep(ctx, c, fresh)
	}
	return r, nil
}

// keep stores a token, or keeps it for this process alone.
func (p *portal) keep(ctx context.Context, c *Config, token string) {
	if c.Tokens != nil {
		err := c.Tokens.SaveToken(ctx, token)
		if err == nil {
			return
		}
		c.Log.Warn("the permission for remote control cannot be stored; the next gateway asks again", "err", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = token
}

// errDenied means that the person denied a request of the portal.
var errDenied = errors.New("the person denied it")

// portalVersion returns the version of an interface of the portal; 0 if it is absent.
func portalVersion(ctx context.Context, conn *wire.Conn, iface string) uint32 {
	e := wire.Encoder{}
	e.Str(iface)
	e.Str("version")
	reply, err := call(ctx, conn, &wire.Message{
		Destination: portalName, Path: portalPath, Interface: "org.freedesktop.DBus.Properties", Member: "Get", Signature: "ss", Body: e.Bytes(),
	})
	if err != nil || reply.Signature != "v" {
		return 0
	}
	d := reply.Decoder()
	if d.Variant() != "u" {
		return 0
	}
	return d.U32()
}

// A portalClient makes requests to the portal.
type portalClient struct {
	remote    *remote
	iface     string // of the requests
	owner     string
	responses chan *wire.Message
}

// openPortal connects to the bus and opens a session.
func openPortal(ctx context.Context, c *Config, token string) (r *remote, fresh string, err error) {
	if r, err = dialRemote(ctx, c.Getenv); err != nil {
		return nil, "", err
	}
	if fresh, err = r.openPortal(ctx, token); err != nil {
		r.close()
		return nil, "", err
	}
	return r, fresh, nil
}

// openPortal opens a session, with the token of an earlier one, and returns the token for the next.
func (r *remote) openPortal(ctx context.Context, token string) (fresh string, err error) {
	if portalVersion(ctx, r.bus, remoteInterface) < versionWithEI { // starts the portal
		return "", unsupported("the desktop portal offers no remote control with EI",
			"Install xdg-desktop-portal 1.18 or later with the desktop's part, such as xdg-desktop-portal-gnome or -kde. Elements can be operated by their refs.")
	}
	unique, _, err := owner(ctx, r.bus, portalName)
	if err != nil || unique == "" {
		return "", errors.Join(errors.New("the desktop portal is gone"), err)
	}
	p := &portalClient{remote: r, iface: remoteInterface, owner: unique, responses: make(chan *wire.Message, 16)}
	r.clip.mu.Lock()
	r.clip.others = p.onSignal
	r.clip.mu.Unlock()
	for _, iface := range []string{"org.freedesktop.portal.Request", "org.freedesktop.portal.Session", clipInterface} {
		if _, err := r.bus.CallBus(ctx, "AddMatch", "type='signal',sender='"+unique+"',interface='"+iface+"'"); err != nil {
			return "", err
		}
	}
	// The desktop shows the name of a registered program. It works only where our desktop file is installed.
	_, _ = p.call(ctx, "org.freedesktop.host.portal.Registry", "Register", "sa{sv}", appID, []option{})
	results, err := p.request(ctx, "CreateSession", "a{sv}", []option{{"session_handle_token", rand.Text()}})
	if err != nil {
		return "", err
	}
	path, _ := results["session_handle"].(string)
	if !wire.ValidPath(path) {
		return "", errors.New("the portal gave no session")
	}
	r.clip.begin(remoteTarget{owner: unique, path: portalPath, iface: clipInterface, session: path, isPortal: true})
	const untilRevoked = 2
	options := []option{{"types", uint32(pointerAndKeys)}, {"persist_mode", uint32(untilRevoked)}}
	if token != "" {
		options = append(options, option{"restore_token", token})
	}
	if _, err = p.request(ctx, "SelectDevices", "oa{sv}", path, options); err != nil {
		return "", err
	}
	_, clipErr := p.call(ctx, clipInterface, "RequestClipboard", "oa{sv}", path, []option{})
	results, err = p.request(ctx, "Start", "osa{sv}", path, "", []option{})
	if err != nil {
		return "", err
	}
	enabled, told := results["clipboard_enabled"].(bool)
	r.clip.enable(clipErr == nil && (enabled || !told))
	fresh, _ = results["restore_token"].(string)
	reply, err := p.call(ctx, remoteInterface, "ConnectToEIS", "oa{sv}", path, []option{})
	if err != nil {
		return "", err
	}
	return fresh, r.connectEI(reply)
}

// onSignal passes the answers of requests.
func (p *portalClient) onSignal(m *wire.Message) {
	if m.Sender == p.owner && m.Member == "Response" && m.Interface == "org.freedesktop.portal.Request" {
		select {
		case p.responses <- m:
		default: // answers that no request awaits
		}
	}
}

// call calls a method of the portal. Arguments are texts and options.
func (p *portalClient) call(ctx context.Context, iface, member, signature string, args ...any) (*wire.Message, error) {
	e := wire.Encoder{}
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			e.Str(v)
		case []option:
			writeOptions(&e, v)
		}
	}
	return call(ctx, p.remote.bus, &wire.Message{
		Destination: p.owner, Path: portalPath, Interface: iface, Member: member, Signature: signature, Body: e.Bytes(),
	})
}

// request makes a request, whose last argument is its options, and returns the results.
func (p *portalClient) request(ctx context.Context, member, signature string, args ...any) (map[string]any, error) {
	token := rand.Text()
	last := len(args) - 1
	options, _ := args[last].([]option)
	args[last] = append(options, option{"handle_token", token})
	reply, err := p.call(ctx, p.iface, member, signature, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", member, err)
	}
	path := reply.Decoder().Str()
	for {
		select {
		case m := <-p.responses:
			if m.Path != path && !strings.HasSuffix(m.Path, "/"+token) {
				continue
			}
			d := m.Decoder()
			code := d.U32()
			results := readOptions(d)
			const cancelled = 1
			switch {
			case d.Err() != nil:
				return nil, d.Err()
			case code == cancelled:
				return nil, errDenied
			case code != 0:
				return nil, fmt.Errorf("the desktop ended %s with code %d", member, code)
			}
			return results, nil
		case <-p.remote.bus.Done():
			return nil, wire.ErrConnectionLost
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
