package web

import (
	"net"
	"net/http"
	"strings"
)

// contentSecurityPolicy lists the rights of a page in a browser; it has no others.
const contentSecurityPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types aai-page"

// setSecurityHeaders sets the headers that restrict an answer in a browser.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin") // with "no-referrer" forms of this server would have no Origin
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}

// handleStale answers a browser that requests a page of an earlier start on the same port, or posts
// its form. The answer explains how to open the current dashboard. It changes nothing and contains
// nothing of this start. handleStale returns false for other requests, without an answer.
func (d *Door) handleStale(w http.ResponseWriter, r *http.Request) bool {
	name, _, _ := net.SplitHostPort(strings.ToLower(r.Host))
	ours := strings.HasPrefix(name, hostPrefix) && strings.HasSuffix(name, hostSuffix) && name != d.name
	part, pressed := r.Header.Get("HX-Request") != "", r.Method == http.MethodPost
	if !ours || !pressed && r.Method != http.MethodGet || !part && !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	setSecurityHeaders(w.Header())
	lang := d.languageOf(r)
	shown := pageView{Title: d.texts.format(lang, errorName, "stale"), Lang: lang}
	if pressed {
		shown.Done = pressed
	}
	name = staleName
	if part {
		name = staleContentName
	}
	d.writePart(w, http.StatusForbidden, errorName, name, shown)
	return true
}

// checkOrigin calls next for requests to this start's host name that do not come from foreign pages.
func (d *Door) checkOrigin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		if why := d.refusalReason(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// refusalReason returns the reason to refuse a request; "" if it is accepted.
func (d *Door) refusalReason(r *http.Request) string {
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case !strings.EqualFold(r.Host, d.host):
		return "the name in the header Host is not of this page"
	case r.Header.Get("Authorization") != "":
		return "this page takes no tokens"
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Origin") != "http://"+d.host:
		return "only pages of this server may do that"
	case r.Method != http.MethodGet && r.Method != http.MethodHead && site != "" && site != "same-origin":
		return "only pages of this server may do that"
	}
	return ""
}
