package web

import (
	"crypto/subtle"
	"net/http"
	"sync"
)

// A loginLink is valid for one login. Opening its page does not use it up, because programs
// open links in advance; a person presses a button there.
type loginLink struct {
	mu     sync.Mutex
	secret string
	used   chan struct{} // closed when the link has been used
}

// use reports whether the secret is the link's, and invalidates the link.
func (l *loginLink) use(secret string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.secret == "" || subtle.ConstantTimeCompare([]byte(l.secret), []byte(secret)) != 1 {
		return false
	}
	l.secret = ""
	close(l.used)
	return true
}

// showLoginButton shows the page of a link with its login button, whether or not the link is valid,
// so that guessing reveals nothing. It redirects a browser with a session to the front page, and
// the link stays valid.
func (d *Door) showLoginButton(w http.ResponseWriter, r *http.Request) {
	if d.sessions.find(r, d.now()) != nil {
		http.Redirect(w, r, d.pages[0].path, http.StatusSeeOther)
		return
	}
	lang := d.languageOf(r)
	d.write(w, http.StatusOK, enterName, pageView{
		Title: d.texts.format(lang, enterName, "title"), Lang: lang, Page: enterName, Here: r.URL.Path,
	})
}

// login exchanges a link for a session.
func (d *Door) login(w http.ResponseWriter, r *http.Request) {
	if !d.link.use(r.PathValue("secret")) {
		if !d.guessLimiter.Allow() {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many links were tried", http.StatusTooManyRequests)
			return
		}
		d.writeLoginHelp(w, r, true)
		return
	}
	_, cookie := d.sessions.begin(d.now())
	http.SetCookie(w, cookie)
	http.Redirect(w, r, d.pages[0].path, http.StatusSeeOther)
}

// logout ends a session.
func (d *Door) logout(w http.ResponseWriter, r *http.Request) {
	d.sessions.end(r)
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // this computer alone, without TLS
	d.showLoginHelp(w, r)
}

// showLoginHelp explains how to log in.
func (d *Door) showLoginHelp(w http.ResponseWriter, r *http.Request) { d.writeLoginHelp(w, r, nil) }

// writeLoginHelp is showLoginHelp; a non-nil link means that an invalid link was tried.
func (d *Door) writeLoginHelp(w http.ResponseWriter, r *http.Request, link any) {
	lang := d.languageOf(r)
	d.write(w, http.StatusForbidden, errorName, pageView{
		Title: d.texts.format(lang, errorName, "title"), Lang: lang, Page: errorName, Here: "/", Done: link,
	})
}
