package web

import (
	"context"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// Config connects the door to the main program.
type Config struct {
	Gateway *gateway.Gateway
	// AskAtTerminal asks questions at the terminal at which the door was opened. It returns
	// no answers if one of them may not be asked there. Nil: there is no terminal.
	AskAtTerminal func(ctx context.Context, questions []aai.Question) (map[string]aai.Answer, error)
	// WatchEvents calls tell with the event kind of each change, by any gateway of the
	// person, until ctx ends. It returns at once. Nil: pages do not update.
	WatchEvents func(ctx context.Context, tell func(kind string))
	Programs    *Programs // nil: there is no desktop
	// WatchSession calls show with the pictures of an isolated session's screen, as PNG, until ctx or the session ends or
	// show returns an error. Nil: there are no isolated sessions.
	WatchSession func(ctx context.Context, id string, show func(png []byte) error) error
	Log          *slog.Logger // nil discards the log
}

// A Door serves the pages to the person at this computer. It is safe for concurrent use.
type Door struct {
	gateway       *gateway.Gateway
	askAtTerminal func(ctx context.Context, questions []aai.Question) (map[string]aai.Answer, error)
	watchEvents   func(ctx context.Context, tell func(kind string))
	programs      *Programs
	events        eventHub
	streams       streamLimiter
	screens       streamLimiter
	watchSession  func(ctx context.Context, id string, show func(png []byte) error) error
	log           *slog.Logger
	now           func() time.Time

	pages        []page
	texts        pageTexts
	translations map[string]sentenceTranslations // by language
	templates    map[string]*template.Template
	static       static

	name         string // of this start, such as "x7….localhost"
	host         string // name and port, as browsers send them
	link         loginLink
	guessLimiter *rate.Limiter // of invalid links
	sessions     sessions
	images       imageCache

	background backgroundRuns
}

// The limits for attempts with invalid links.
const (
	guessInterval = 10 * time.Second
	maxGuesses    = 10
)

// New returns a door. It does no I/O.
func New(cfg Config) (*Door, error) {
	d := &Door{
		gateway: cfg.Gateway, askAtTerminal: cfg.AskAtTerminal, watchEvents: cfg.WatchEvents, programs: cfg.Programs, watchSession: cfg.WatchSession, log: cfg.Log, now: time.Now, pages: pages(),
		name: hostName(), link: loginLink{secret: random(32), used: make(chan struct{})}, guessLimiter: rate.NewLimiter(rate.Every(guessInterval), maxGuesses), sessions: sessions{all: make(map[string]*session)},
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	names := []string{enterName, errorName}
	for _, p := range d.pages {
		names = append(names, p.name)
	}
	var err error
	if d.texts, err = readPageTexts(append(names, layoutName)); err != nil {
		return nil, aai.Errorf(aai.Internal, "the pages: %w", err)
	}
	if d.translations, err = readTranslations(); err != nil {
		return nil, aai.Errorf(aai.Internal, "the pages: %w", err)
	}
	if d.templates, err = readTemplates(names, d.texts, d.translations); err != nil {
		return nil, aai.Errorf(aai.Internal, "the pages: %w", err)
	}
	if d.static, err = readStatic(); err != nil {
		return nil, aai.Errorf(aai.Internal, "the pages: %w", err)
	}
	return d, nil
}

// hostName makes the host name of a start. Browsers send the cookies of "localhost" or an
// address to every server of this computer, whatever the port. A unique name keeps them
// apart.
func hostName() string {
	letters := strings.NewReplacer("-", "x", "_", "y").Replace(random(15))
	return hostPrefix + strings.ToLower(letters) + hostSuffix
}

// The prefix and suffix of the host name of every start of a door; see hostName.
const (
	hostPrefix = "aai-"
	hostSuffix = ".localhost"
)

// Link returns the address that logs one browser in, once. It is valid after Listen.
func (d *Door) Link() string { return "http://" + d.host + "/enter/" + d.link.secret }

// LinkUsed returns a channel that is closed when the link has been used.
func (d *Door) LinkUsed() <-chan struct{} { return d.link.used }

// Host returns the name and port at which the door serves its pages. It is valid after Listen.
func (d *Door) Host() string { return d.host }

// Serve serves the listener from Listen until ctx ends.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	server, err := httpdoor.New(httpdoor.Config{Hosts: []string{d.name}}, httpdoor.Hooks{Log: d.log, Shutdown: d.background.stop, HandleForeignHost: d.handleStale})
	if err != nil {
		return err
	}
	d.routes(server)
	if d.watchEvents != nil {
		d.watchEvents(ctx, d.events.publish)
	}
	return server.Serve(ctx, l)
}

// routes registers the handlers.
func (d *Door) routes(server *httpdoor.Server) {
	handle := func(pattern string, h http.HandlerFunc) { server.Handle(pattern, d.checkOrigin(h)) }
	handle("GET /static/", d.static.serve)
	handle("GET /enter/{secret}", d.showLoginButton)
	handle("POST /enter/{secret}", d.login)
	handle("POST /leave", d.requireSession(func(w http.ResponseWriter, r *http.Request, _ *pageRequest) { d.logout(w, r) }))
	handle("GET /live", d.requireSession(d.streamEvents))
	handle("GET /picture/{id}", d.requireSession(d.serveImage))
	handle("GET /screen/{id}", d.requireSession(d.streamScreen))
	handle("POST /language", d.requireSession(d.chooseLanguage))
	front := http.RedirectHandler(d.pages[0].path, http.StatusSeeOther).ServeHTTP
	handle("GET /{$}", front)
	handle("GET /ui", front)
	handle("/", d.requireSession(func(w http.ResponseWriter, r *http.Request, v *pageRequest) {
		d.fail(w, v, http.StatusNotFound, aai.Errorf(aai.InvalidParams, "there is no page %s", aai.CleanLabel(r.URL.Path, 100)))
	}))
	for _, p := range d.pages {
		handle("GET "+p.path, d.requireSession(func(w http.ResponseWriter, _ *http.Request, v *pageRequest) { d.show(w, v, p, nil) }))
		for name, act := range p.acts {
			handle("POST "+p.path+"/"+name, d.requireSession(func(w http.ResponseWriter, r *http.Request, v *pageRequest) { d.runAct(w, r, v, p, act) }))
		}
	}
}

// maxForm limits the length of a form, in bytes.
const maxForm = 1 << 20

// requireSession calls next for requests with a session; a POST must have the session's CSRF token.
func (d *Door) requireSession(next func(http.ResponseWriter, *http.Request, *pageRequest)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := d.sessions.find(r, d.now())
		if s == nil {
			d.showLoginHelp(w, r)
			return
		}
		v := &pageRequest{ctx: r.Context(), door: d, session: s, request: r, lang: d.languageOf(r), query: r.URL.Query(), contentOnly: r.Method == http.MethodGet && r.Header.Get("HX-Request") != ""}
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil || !s.isToken(r.PostForm.Get("csrf")) {
				d.fail(w, v, http.StatusForbidden, aai.Errorf(aai.PermissionDenied, "the form is not of this page; go back, load the page again, and repeat it"))
				return
			}
			v.form = r.PostForm
		}
		next(w, r, v)
	}
}

// show writes a page.
func (d *Door) show(w http.ResponseWriter, v *pageRequest, p page, done any) {
	v.isRefresh = v.contentOnly && len(p.live) > 0
	read := d.events.published() // it may not have seen later events
	data, err := p.show(v)
	if err != nil {
		d.fail(w, v, statusOf(aai.AsError(err)), err)
		return
	}
	shown := d.viewOf(v, p.name)
	shown.Data, shown.Done = data, done
	if about, is := data.(titled); is {
		shown.Named = about.Subject()
	}
	if v.contentOnly {
		d.writePart(w, http.StatusOK, p.name, innerName, shown)
		return
	}
	shown.Notice = v.session.takeNotice()
	if done == nil {
		shown.Live, shown.Read = eventNames(p.live), read
		if shown.Again, shown.Finds = shown.Here, p.searchForm; p.searchForm != "" {
			shown.Again = p.path
		}
	}
	d.write(w, http.StatusOK, p.name, shown)
}

// runAct performs an act, and shows its outcome.
func (d *Door) runAct(w http.ResponseWriter, r *http.Request, v *pageRequest, p page, act act) {
	// A question to the person may take any time.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	done, err := act(v)
	_ = http.NewResponseController(w).SetWriteDeadline(d.now().Add(30 * time.Second))
	file, _ := done.(*download)
	switch {
	case err != nil:
		d.fail(w, v, statusOf(aai.AsError(err)), err)
	case file != nil:
		file.write(w)
	case done != nil:
		d.show(w, v, p, done)
	default:
		to := v.next
		if to == "" {
			to = r.URL.Path[:strings.LastIndex(r.URL.Path, "/")]
		}
		http.Redirect(w, r, d.localAddress(to), http.StatusSeeOther) //nolint:gosec // localAddress returns only addresses of this server
	}
}

// fail writes the error page.
func (d *Door) fail(w http.ResponseWriter, v *pageRequest, status int, err error) {
	shown := d.viewOf(v, errorName)
	shown.Fault = aai.AsError(err)
	d.write(w, status, errorName, shown)
}

// viewOf returns the common data of the pages of a session.
func (d *Door) viewOf(v *pageRequest, name string) pageView {
	shown := pageView{
		Title: v.text(name, "title"), Lang: v.lang, Page: name, Here: v.here(),
		Csrf: template.HTML(`<input type="hidden" name="csrf" value="` + template.HTMLEscapeString(v.session.csrf) + `">`), //nolint:gosec // it is escaped
	}
	shown.Halted = name != stopPageName && d.gateway.Stops != nil && d.gateway.Stops.CheckStopped(gateway.CallScope{}) != nil
	for _, p := range d.pages {
		if p.nav {
			shown.Nav = append(shown.Nav, navItem{Path: p.path, Name: v.text(p.name, "nav"), Here: p.name == name})
		}
	}
	return shown
}

// languageOf returns the language of the answer to a request.
func (d *Door) languageOf(r *http.Request) string {
	choice := ""
	if c, err := r.Cookie(languageCookie); err == nil {
		choice = c.Value
	}
	return languageOf(choice, r.Header.Get("Accept-Language"))
}

// chooseLanguage stores the person's language in a cookie.
func (d *Door) chooseLanguage(w http.ResponseWriter, r *http.Request, v *pageRequest) {
	lang := languageOf(v.form.Get("language"), "")
	http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: lang, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 365 * 24 * 3600}) //nolint:gosec // this computer alone, without TLS
	http.Redirect(w, r, d.localAddress(v.form.Get("back")), http.StatusSeeOther)
}

// localAddress returns the address if it is on this server, or else the front page's.
func (d *Door) localAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(address, `\`) {
		return d.pages[0].path
	}
	return u.RequestURI()
}
