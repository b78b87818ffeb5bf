package oauth

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// attempt holds the expected values for the answer to a login.
type attempt struct {
	state, verifier string
	issuer          string // from metadata; empty: the server has none
	saysIssuer      bool   // the server's answers have iss
	host            string // of the realm, for display
}

// callback listens on the loopback interface for the answer to one attempt.
type callback struct {
	attempt  *attempt
	path     string
	host     string // expected Host header
	redirect string // the whole address

	server *http.Server
	served sync.WaitGroup

	mu       sync.Mutex
	answered bool
	codes    chan callbackAnswer
	ended    chan struct{} // closed at the end of the login
	outcome  error
}

type callbackAnswer struct {
	code string
	err  error
}

// listen starts the server for the redirect of an attempt, before the browser opens. The path
// is a fixed one if path is empty or the user configured the redirect address.
func (l *Authorizer) listen(site SiteSettings, path string, a *attempt) (*callback, error) {
	exact := site.RedirectHost != "" || site.RedirectPort != 0
	if path == "" || exact {
		path = "/callback" // the path for servers that compare exactly
	}
	name := strings.Trim(site.RedirectHost, "[]")
	ips := []string{"127.0.0.1", "::1"} // the second if the first does not exist
	switch {
	case name == "::1":
		ips = ips[1:]
	case exact:
		ips = ips[:1]
	}
	var listener net.Listener
	var err error
	for _, ip := range ips {
		if listener, err = (&net.ListenConfig{}).Listen(l.lifetime, "tcp",
			net.JoinHostPort(ip, strconv.Itoa(site.RedirectPort))); err == nil {
			break
		}
	}
	if listener == nil {
		e := aai.Errorf(aai.AuthRequired, "a login needs the port %d of this computer, which is in use", site.RedirectPort)
		e.Hint = "Free the port, or set another in the configuration, and make the same call again."
		e.Err = err
		return nil, e
	}
	address, _ := listener.Addr().(*net.TCPAddr)
	if name == "" {
		name = address.IP.String()
	}
	c := &callback{
		attempt: a, path: path, host: net.JoinHostPort(name, strconv.Itoa(address.Port)),
		codes: make(chan callbackAnswer, 1), ended: make(chan struct{}),
	}
	c.redirect = "http://" + c.host + path
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		MaxHeaderBytes: 16 << 10}
	c.served.Go(func() { _ = c.server.Serve(listener) }) // it returns when the server is closed
	return c, nil
}

// wait returns the code of the answer.
func (c *callback) wait(ctx context.Context) (string, error) {
	select {
	case a := <-c.codes:
		return a.code, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// finish gives the page the result of the login.
func (c *callback) finish(err error) {
	c.outcome = err
	close(c.ended)
}

// close waits up to a second for the last page, and frees the port.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
	c.served.Wait()
}

// ServeHTTP accepts the one valid answer. It ignores invalid ones, because any local program and
// any page in the browser can send requests.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Host != c.host {
		showPage(w, http.StatusBadRequest, strayPage())
		return
	}
	if r.URL.Path != c.path {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "expected GET", http.StatusMethodNotAllowed)
		return
	}
	query, ok := parseSingleParams(r.URL.RawQuery)
	if !ok || subtle.ConstantTimeCompare([]byte(query["state"]), []byte(c.attempt.state)) != 1 {
		showPage(w, http.StatusBadRequest, strayPage())
		return
	}
	if !c.claimAnswer() {
		showPage(w, http.StatusBadRequest, usedPage())
		return
	}
	code, err := c.attempt.validate(query)
	c.codes <- callbackAnswer{code, err}
	select {
	case <-c.ended:
	case <-r.Context().Done():
		return
	}
	showPage(w, http.StatusOK, endPage(c.attempt.host, c.outcome))
}

// claimAnswer reports whether this is the first answer with the right state. A state is valid
// once.
func (c *callback) claimAnswer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.answered
	c.answered = true
	return !before
}

// parseSingleParams parses a query. It rejects duplicate parameters.
func parseSingleParams(raw string) (map[string]string, bool) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, false
	}
	query := make(map[string]string, len(values))
	for name, list := range values {
		if len(list) != 1 {
			return nil, false
		}
		query[name] = list[0]
	}
	return query, true
}

// validate returns the code of an answer with the right state if the right server sent it (RFC
// 9207, section 2.4). It does not repeat the text of a wrong server.
func (a *attempt) validate(query map[string]string) (string, error) {
	issuer, named := query["iss"]
	switch {
	case a.issuer != "" && named && issuer != a.issuer:
		e := aai.Errorf(aai.AuthInvalid, "the answer to the login to %s came from another authorization server than %s",
			a.host, a.issuer)
		e.Hint = "Somebody may have tried to mix up two logins. Nothing was sent to either."
		return "", e
	case a.saysIssuer && !named:
		return "",
			aai.Errorf(aai.AuthInvalid, "the answer to the login to %s does not name its authorization server; %s declares "+
				"that it always does", a.host, a.issuer)
	}
	if code, failed := query["error"]; failed {
		return "",
			&serverError{Host: a.host, Code: errorCode(code), Description: aai.CleanLabel(query["error_description"], 200),
				Status: http.StatusBadRequest}
	}
	if query["code"] == "" {
		return "", aai.Errorf(aai.AuthInvalid, "the answer to the login to %s has neither a code nor an error", a.host)
	}
	return query["code"], nil
}
